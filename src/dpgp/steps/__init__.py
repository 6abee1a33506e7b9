"""The steps of a fit, one file each: what may be released, at which price, and what for.

To add a step, write its file and add its class to the kinds of fits that take it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpgp.options import Options
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
from dpgp.steps.residual_law import ResidualHistograms
from dpgp.steps.scale import MeasureScale
from dpgp.steps.target_histograms import TargetHistograms

__all__ = [
    "FIXED_KINDS",
    "METRIC_KINDS",
    "STAGES",
    "Calibrate",
    "CellCounts",
    "Count",
    "GramStage",
    "Guard",
    "InputHistograms",
    "LinearStage",
    "MarginalHistograms",
    "MeasureScale",
    "MetricGuard",
    "MetricStage",
    "Purse",
    "ResidualHistograms",
    "Step",
    "TargetHistograms",
    "kinds_of",
    "planned_steps",
]

FIXED_KINDS: tuple[type[Step], ...] = (
    Count,
    InputHistograms,
    GramStage,
    ResidualHistograms,
    Guard,
    MeasureScale,
    Calibrate,
)
"""Kinds of steps where features are fixed, in the order in which a fit takes them."""

METRIC_KINDS: tuple[type[Step], ...] = (
    Count,
    TargetHistograms,
    MarginalHistograms,
    LinearStage,
    CellCounts,
    MetricStage,
    ResidualHistograms,
    MetricGuard,
    MeasureScale,
    Calibrate,
)
"""The same where stages learn a metric."""

STAGES = (GramStage, MetricStage)
"""Kinds of steps that take what the others leave of the budget."""


BETWEEN_STAGES = (ResidualHistograms,)
"""Kinds of steps that come after the first stages, whatever their place among the kinds."""

FIRST_STAGES = 2
"""After how many of them, or before the last one. By hand: early, since later stages go by it."""


def kinds_of(options: Options) -> tuple[type[Step], ...]:
    """Return the kinds of steps of a fit, in their order."""
    return METRIC_KINDS if options.learns_metric else FIXED_KINDS


def planned_steps(purse: Purse, kinds: Sequence[type[Step]] | None = None) -> tuple[Step, ...]:
    """Return the steps of a fit: each kind takes its share, the stages what is left."""
    kinds = kinds_of(purse.options) if kinds is None else kinds
    fixed = [step for kind in kinds if kind not in STAGES for step in kind.planned(purse)]
    left = replace(purse, left=1.0 - math.fsum(step.share for step in fixed))
    return _in_order([step for kind in kinds for step in kind.planned(left)])


def _in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Put what comes between stages behind the first of them."""
    between = [step for step in steps if isinstance(step, BETWEEN_STAGES)]
    others = [step for step in steps if not isinstance(step, BETWEEN_STAGES)]
    stages = [place for place, step in enumerate(others) if isinstance(step, STAGES)]
    if not between:
        return tuple(others)
    cut = stages[min(FIRST_STAGES, len(stages) - 1) - 1] + 1
    return (*others[:cut], *between, *others[cut:])
