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
from dpgp.steps.input_model import CellCounts, MarginalHistograms
from dpgp.steps.linear_stage import LinearStage
from dpgp.steps.metric_guard import MetricGuard
from dpgp.steps.metric_stage import MetricStage
from dpgp.steps.purse import Purse
from dpgp.steps.target_histograms import TargetHistograms

__all__ = [
    "KINDS",
    "Calibrate",
    "CellCounts",
    "Count",
    "GramStage",
    "Guard",
    "InputHistograms",
    "LinearStage",
    "MarginalHistograms",
    "MetricGuard",
    "MetricStage",
    "Purse",
    "Step",
    "TargetHistograms",
    "planned_steps",
]

KINDS: tuple[type[Step], ...] = (
    Count,
    TargetHistograms,
    InputHistograms,
    MarginalHistograms,
    LinearStage,
    CellCounts,
    GramStage,
    MetricStage,
    Guard,
    MetricGuard,
    Calibrate,
)
"""All kinds of steps, in the order in which a fit takes them; each plans itself, or not."""

STAGES = (GramStage, MetricStage)
"""Kinds of steps that take what the others leave of the budget."""


def planned_steps(purse: Purse, kinds: Sequence[type[Step]] | None = None) -> tuple[Step, ...]:
    """Return the steps of a fit: each kind takes its share, the stages what is left."""
    kinds = KINDS if kinds is None else kinds
    fixed = [step for kind in kinds if kind not in STAGES for step in kind.planned(purse)]
    left = replace(purse, left=1.0 - math.fsum(step.share for step in fixed))
    return tuple(step for kind in kinds for step in kind.planned(left))
