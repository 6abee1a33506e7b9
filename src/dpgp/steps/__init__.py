"""The steps of a fit, one file each: what may be released, at which price, and what for.

To add a step, write its file and add its class to the kinds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpgp.options import Options
from dpgp.steps.base import Purpose, Purse, Step
from dpgp.steps.calibration import Calibrate
from dpgp.steps.count import Count
from dpgp.steps.guard import Guard
from dpgp.steps.input_model import CellCounts, InputHistograms
from dpgp.steps.linear_stage import LinearStage
from dpgp.steps.residual_law import ResidualHistograms
from dpgp.steps.scale import MeasureScale, MeasureScaleAgain
from dpgp.steps.stage import Stage
from dpgp.steps.target_histograms import TargetHistograms

__all__ = [
    "KINDS",
    "Calibrate",
    "CellCounts",
    "Count",
    "Guard",
    "InputHistograms",
    "LinearStage",
    "MeasureScale",
    "MeasureScaleAgain",
    "Purpose",
    "Purse",
    "ResidualHistograms",
    "Stage",
    "Step",
    "TargetHistograms",
    "kinds_of",
    "planned_steps",
]

KINDS: tuple[type[Step], ...] = (
    Count,
    TargetHistograms,
    InputHistograms,
    LinearStage,
    CellCounts,
    Stage,
    ResidualHistograms,
    Guard,
    MeasureScale,
    MeasureScaleAgain,
    Calibrate,
)
"""All kinds of steps, in the order in which a fit takes them."""

OF_MANY_INPUTS: tuple[type[Step], ...] = (TargetHistograms, LinearStage, CellCounts)
"""Kinds that only a fit with synthetic rows takes."""

BETWEEN_STAGES: tuple[type[Step], ...] = (ResidualHistograms,)
"""Kinds of steps that come after the first stages, whatever their place among the kinds."""

FIRST_STAGES = 2
"""After how many of them, or before the last one. By hand: early, since later stages go by it."""


def kinds_of(options: Options) -> tuple[type[Step], ...]:
    """Return the kinds of steps of a fit, in their order."""
    left_out = () if options.learns_metric else OF_MANY_INPUTS
    return tuple(kind for kind in KINDS if kind not in left_out)


def planned_steps(purse: Purse, kinds: Sequence[type[Step]] | None = None) -> tuple[Step, ...]:
    """Return the steps of a fit: each kind takes its share, the stages what is left."""
    kinds = kinds_of(purse.options) if kinds is None else kinds
    priced = [step for kind in kinds if kind is not Stage for step in kind.planned(purse)]
    left = replace(purse, left=1.0 - math.fsum(step.share for step in priced))
    return _in_order([step for kind in kinds for step in kind.planned(left)])


def _in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Put what comes between stages behind the first of them."""
    between = [step for step in steps if isinstance(step, BETWEEN_STAGES)]
    others = [step for step in steps if not isinstance(step, BETWEEN_STAGES)]
    stages = [place for place, step in enumerate(others) if isinstance(step, Stage)]
    if not between:
        return tuple(others)
    cut = stages[min(FIRST_STAGES, len(stages) - 1) - 1] + 1
    return (*others[:cut], *between, *others[cut:])
