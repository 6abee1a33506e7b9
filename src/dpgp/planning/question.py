"""A question to the forecast, and the answer: the design a fit would choose, and its errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.plan import clip_kappa, inducing_points
from dpgp.options import Options
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.planning.assumption import Assumption
from dpgp.planning.design import ADDITIVE_LENGTH, Design, choose_design, joint_length
from dpgp.planning.forecast import PLAUSIBLE, Errors, Outlook, after_steps, prospect_of
from dpgp.planning.many import ManyFunctions, ManyOutlook
from dpgp.planning.prior_functions import Functions
from dpgp.planning.setting import Setting
from dpgp.privacy.accounting import mu_of_guarantee
from dpgp.steps import (
    STAGES,
    Calibrate,
    CellCounts,
    Count,
    Guard,
    InputHistograms,
    LinearStage,
    MarginalHistograms,
    MeasureScale,
    MetricGuard,
    Purse,
    ResidualHistograms,
    Step,
    TargetHistograms,
    planned_steps,
)
from dpgp.types import Array

ALL_STAGES = (LinearStage, *STAGES)

WIDTH_95 = 2 * 1.959964  # of a 95 % interval of a normal law, in standard deviations


@dataclass(frozen=True)
class Forecast:
    """Expected error of the mean in units of the target: the median over plausible functions.

    One in ten of them has an error below ``low``, one in ten above ``high``; ``interval_width`` is
    that of a 95 % interval for a new observation, or for the probability of the second of two
    classes, ``relative`` the share of the target's range.
    """

    rmse: float
    low: float
    high: float
    interval_width: float
    relative: float

    @classmethod
    def of(cls, errors: Errors, half_width: float, outcome: OutcomeKind = NUMBER) -> Forecast:
        """Summarise errors under every θ."""
        low, high = (half_width * np.quantile(errors.rmse, PLAUSIBLE)).tolist()
        rmse = half_width * float(np.median(errors.rmse))
        # f, as a probability, has no noise of its own
        noise = errors.noise if outcome.shows_observations else np.zeros_like(errors.noise)
        width = float(np.median(WIDTH_95 * np.hypot(errors.rmse, noise)))
        return cls(rmse, low, high, half_width * width, rmse / (2 * half_width))


@dataclass(frozen=True)
class PlannedDesign:
    """How the budget would be spent, in public numbers. Shares are of μ²."""

    features: tuple[str, ...]
    feature_shares: tuple[float, ...]
    n_features: int
    inducing_points: Array
    length_scales: tuple[float | None, ...]
    target_weight: float
    kappa: float
    stages: tuple[float, ...]
    count_share: float
    warp_share: float
    law_share: float
    guard_share: float
    scale_share: float
    calibration_share: float

    @property
    def warp(self) -> bool:
        """Whether inputs are warped by private histograms."""
        return self.warp_share > 0.0


@dataclass(frozen=True)
class Question:
    """What a plan starts from: the options of a fit, and the functions it is to expect."""

    options: Options
    functions: Functions | ManyFunctions
    assumption: Assumption

    @property
    def half_width(self) -> float:
        """Half the range of the target, of several the first."""
        return float(self.options.target_box.half_width[0])

    def forecasts(self, errors: Errors) -> tuple[Forecast, ...]:
        """Return the forecast of every target, each in its units."""
        sizes = self.options.target_box.half_width.tolist()
        return tuple(Forecast.of(errors, size, self.options.outcome) for size in sizes)

    def answer(self, n: float, epsilon: float) -> Answer:
        """Choose steps and a design as a fit would, and forecast its errors."""
        options = self.options
        mu = mu_of_guarantee(epsilon, options.delta)
        setting = Setting.of(options, n, mu)
        steps = planned_steps(Purse(options, mu, n if options.row_count_is_public else None))
        if isinstance(self.functions, ManyFunctions):
            return Answer(setting, steps, None, _forecast_many(setting, steps, self.functions))
        design = choose_design(
            setting,
            steps,
            kernel=options.own_kernel,
            family=options.families,
            inducing_points=options.inducing_points,
        )
        return Answer(setting, steps, design, forecast(setting, steps, design, self.functions))


def forecast(
    setting: Setting, steps: Sequence[Step], design: Design, functions: Functions
) -> Errors:
    """Forecast the errors of a design."""
    prospect = prospect_of(setting, design.features, functions)
    outlook = Outlook.before(setting, prospect, design.kappa, design.target_weight)
    return after_steps(outlook, steps).errors()


def _forecast_many(setting: Setting, steps: Sequence[Step], functions: ManyFunctions) -> Errors:
    """Forecast the errors of features that are learned."""
    share = math.fsum(step.share for step in steps if isinstance(step, ALL_STAGES))
    return after_steps(ManyOutlook.before(setting, functions, share), steps).errors()


@dataclass(frozen=True)
class Answer:
    """The steps of a fit, its design and its errors; features that are learned have no design."""

    setting: Setting
    steps: tuple[Step, ...]
    design: Design | None
    errors: Errors

    @property
    def stages(self) -> tuple[Step, ...]:
        """The Gram stages among the steps."""
        return tuple(step for step in self.steps if isinstance(step, ALL_STAGES))

    def share_of(self, *kinds: type[Step]) -> float:
        """Return the part of μ² that steps of these kinds take."""
        return math.fsum(step.share for step in self.steps if isinstance(step, kinds))


def planned_design(answer: Answer, box: Box) -> PlannedDesign:
    """Describe a design in public numbers; inducing points in the units of the inputs."""
    chosen = _learned(answer, box) if answer.design is None else _chosen(answer.design, box)
    return PlannedDesign(
        **chosen,
        stages=tuple(stage.share for stage in answer.stages),
        count_share=answer.share_of(Count),
        warp_share=answer.share_of(
            InputHistograms, MarginalHistograms, CellCounts, TargetHistograms
        ),
        law_share=answer.share_of(ResidualHistograms),
        guard_share=answer.share_of(Guard, MetricGuard),
        scale_share=answer.share_of(MeasureScale),
        calibration_share=answer.share_of(Calibrate),
    )


def _chosen(design: Design, box: Box) -> dict[str, Any]:
    """Describe features that are fixed before the fit."""
    features, layout = design.features, design.layout
    names = ("given",) if layout is None else layout.families
    lengths = {
        "grid": None if layout is None else layout.length,
        "additive": ADDITIVE_LENGTH,
        "joint": joint_length(len(box.low)),
        "given": joint_length(len(box.low)),
    }
    return {
        "features": names,
        "feature_shares": (1.0 / len(names),) * len(names),
        "n_features": features.dimension,
        "inducing_points": np.asarray(box.centre + features.anchors * box.half_width),
        "length_scales": tuple(lengths.get(name) for name in names),
        "target_weight": design.target_weight,
        "kappa": design.kappa,
    }


def _learned(answer: Answer, box: Box) -> dict[str, Any]:
    """Describe features that are learned: their points are drawn from what is released."""
    signal, columns = answer.setting.signal, answer.setting.columns
    return {
        "features": ("learned",),
        "feature_shares": (1.0,),
        "n_features": inducing_points(signal, UnitInputs(box).dimension),
        "inducing_points": np.empty((0, columns)),
        "length_scales": (None,),
        "target_weight": 1.0,
        "kappa": clip_kappa(signal),
    }
