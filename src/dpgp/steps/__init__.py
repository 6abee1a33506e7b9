"""The steps of a fit, one file each: what may be released, at which price, and what for.

To add a step, write its file and add its class to the kinds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from dpgp.inference.many.plan import Deal, number_of_parts
from dpgp.options import Options
from dpgp.privacy.parts import RowPart
from dpgp.steps.base import Purpose, Purse, Step
from dpgp.steps.calibration import Calibrate
from dpgp.steps.count import Count
from dpgp.steps.guard import Guard
from dpgp.steps.input_model import CellCounts, InputHistograms
from dpgp.steps.linear_stage import LinearStage
from dpgp.steps.reliability import YES_AND_NO, LabelsByPrediction
from dpgp.steps.residual_law import ResidualHistograms
from dpgp.steps.scale import MeasureScale, MeasureScaleAgain
from dpgp.steps.stage import Stage
from dpgp.steps.target_histograms import TargetHistograms

__all__ = [
    "HISTOGRAMS_OF_INPUTS",
    "KINDS",
    "LABELS_BY_PREDICTION",
    "LAW_OF_RESIDUALS",
    "Calibrate",
    "CellCounts",
    "Count",
    "Guard",
    "InputHistograms",
    "LabelsByPrediction",
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
    LabelsByPrediction,
)
"""All kinds of steps, in the order in which a fit takes them."""

LAW_OF_RESIDUALS = Calibrate.label
"""Name of the release that says how far observations are from predictions."""

HISTOGRAMS_OF_INPUTS = InputHistograms.label
"""Name of the release that says where every input lies."""

LABELS_BY_PREDICTION = LabelsByPrediction.label
"""Name of the release that says which labels had which predictions."""

OF_MANY_INPUTS: tuple[type[Step], ...] = (TargetHistograms, LinearStage, CellCounts)
"""Kinds that only a fit with synthetic rows takes."""

TOLD_BEFORE: tuple[type[Step], ...] = (TargetHistograms, InputHistograms, LinearStage)
"""Kinds that a fit does not take where an earlier model tells where inputs and targets lie."""

BETWEEN_STAGES: tuple[type[Step], ...] = (ResidualHistograms,)
"""Kinds of steps that come after the first stages, whatever their place among the kinds."""

OF_PARTS = (ResidualHistograms, MeasureScale, Calibrate)
"""Kinds that ask a part of the rows where early stages do: few numbers tell laws and scales."""

FIRST_STAGES = 2
"""After how many of them, or before the last one. By hand: early, since later stages go by it."""


def kinds_of(options: Options) -> tuple[type[Step], ...]:
    """Return the kinds of steps of a fit, in their order."""
    of_inputs = () if options.learns_metric else OF_MANY_INPUTS
    of_labels = () if len(options.outcome.labels) == YES_AND_NO else (LabelsByPrediction,)
    told = () if options.prior_model is None else TOLD_BEFORE
    return tuple(kind for kind in KINDS if kind not in (*of_inputs, *of_labels, *told))


def planned_steps(purse: Purse, kinds: Sequence[type[Step]] | None = None) -> tuple[Step, ...]:
    """Return the steps of a fit: each kind takes its share, the stages what is left."""
    kinds = kinds_of(purse.options) if kinds is None else kinds
    planned = {kind: kind.planned(purse) for kind in kinds if kind is not Stage}
    priced, deal = chain.from_iterable(planned.values()), purse.deal
    common = [step for step in priced if deal is None or not isinstance(step, OF_PARTS)]
    left = 1.0 - math.fsum(step.share for step in common)
    planned[Stage] = Stage.planned(replace(purse, left=left))
    steps = _in_order([step for kind in kinds for step in planned[kind]])
    return steps if deal is None else _dealt(steps, deal, left, purse.signal)


def _dealt(steps: Sequence[Step], deal: Deal, left: float, signal: float) -> tuple[Step, ...]:
    """Let some steps ask a part of the rows each, for the share of them all; stages have ``left``.

    A row is in one part, so it pays for one of these steps, and for what asks all rows.
    """
    stages = [step for step in steps if isinstance(step, Stage)]
    last = stages[-deal.last :]
    asking = [step for step in steps if isinstance(step, OF_PARTS) or step in stages[: -deal.last]]
    of = number_of_parts(signal, len(asking))
    parts = {step.label: RowPart(number, of) for number, step in enumerate(asking, start=1)}
    each = (1.0 - deal.share) * left / math.fsum(stage.share for stage in last)

    def dealt(step: Step) -> Step:
        if isinstance(step, (Stage, *OF_PARTS)) and step.label in parts:
            return replace(step, share=deal.share * left, part=parts[step.label])
        return replace(step, share=each * step.share) if isinstance(step, Stage) else step

    return tuple(map(dealt, steps))


def _in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Put what comes between stages behind the first of them."""
    between = [step for step in steps if isinstance(step, BETWEEN_STAGES)]
    others = [step for step in steps if not isinstance(step, BETWEEN_STAGES)]
    stages = [place for place, step in enumerate(others) if isinstance(step, Stage)]
    if not between:
        return tuple(others)
    cut = stages[min(FIRST_STAGES, len(stages) - 1) - 1] + 1
    return (*others[:cut], *between, *others[cut:])
