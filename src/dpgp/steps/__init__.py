"""The steps of a fit, one file each: what may be released, at which price, and what for.

To add a step, write its file and add its class to ``KINDS``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpgp.steps.base import Step
from dpgp.steps.calibration import Calibrate
from dpgp.steps.count import Count
from dpgp.steps.gram_stage import GramStage
from dpgp.steps.guard import Guard
from dpgp.steps.input_histograms import InputHistograms
from dpgp.steps.purse import Purse

__all__ = [
    "KINDS",
    "Calibrate",
    "Count",
    "GramStage",
    "Guard",
    "InputHistograms",
    "Purse",
    "Step",
    "planned_steps",
]

KINDS: tuple[type[Step], ...] = (Count, InputHistograms, GramStage, Guard, Calibrate)
"""All kinds of steps, in the order in which a fit takes them."""


def planned_steps(purse: Purse, kinds: Sequence[type[Step]] | None = None) -> tuple[Step, ...]:
    """Return the steps of a fit: each kind takes its share, the stages what is left."""
    kinds = KINDS if kinds is None else kinds
    fixed = [step for kind in kinds if kind is not GramStage for step in kind.planned(purse)]
    left = replace(purse, left=1.0 - math.fsum(step.share for step in fixed))
    return tuple(step for kind in kinds for step in kind.planned(left))
