"""A question to the forecast, and the answer: the design a fit would choose, and its errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgp.domain import Box
from dpgp.options import Options
from dpgp.planning.design import ADDITIVE_LENGTH, Design, choose_design, joint_length
from dpgp.planning.forecast import PLAUSIBLE, Errors, Outlook, forecast_errors, prospect_of
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
    MetricGuard,
    Purse,
    Step,
    TargetHistograms,
    planned_steps,
)

Array = NDArray[np.float64]

WIDTH_95 = 2 * 1.959964  # of a 95 % interval of a normal law, in standard deviations


@dataclass(frozen=True)
class Forecast:
    """Expected error of the mean in units of the target: the median over plausible functions.

    One in ten of them has an error below ``low``, one in ten above ``high``; ``interval_width`` is
    that of a 95 % interval for a new observation, ``relative`` the share of the target's range.
    """

    rmse: float
    low: float
    high: float
    interval_width: float
    relative: float

    @classmethod
    def of(cls, errors: Errors, half_width: float) -> Forecast:
        """Summarise errors under every θ."""
        low, high = (half_width * np.quantile(errors.rmse, PLAUSIBLE)).tolist()
        rmse = half_width * float(np.median(errors.rmse))
        width = float(np.median(WIDTH_95 * np.hypot(errors.rmse, errors.noise)))
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
    guard_share: float
    calibration_share: float

    @property
    def warp(self) -> bool:
        """Whether inputs are warped by private histograms."""
        return self.warp_share > 0.0


@dataclass(frozen=True)
class Question:
    """What a plan starts from: the options of a fit, and the functions it is to expect."""

    options: Options
    functions: Functions

    @property
    def half_width(self) -> float:
        """Half the range of the target."""
        return float(self.options.target_box.half_width[0])

    def answer(self, n: float, epsilon: float) -> Answer:
        """Choose steps and a design as a fit would, and forecast its errors."""
        options = self.options
        mu = mu_of_guarantee(epsilon, options.delta)
        setting = Setting.of(options, n, mu)
        steps = planned_steps(Purse(options, mu, n if options.row_count_is_public else None))
        design = choose_design(
            setting,
            steps,
            kernel=options.own_kernel,
            family=options.families,
            inducing_points=options.inducing_points,
        )
        return Answer(setting, steps, design, self.errors(setting, steps, design))

    def errors(self, setting: Setting, steps: Sequence[Step], design: Design) -> Errors:
        """Forecast the errors of a design."""
        prospect = prospect_of(setting, design.features, self.functions)
        outlook = Outlook.before(setting, prospect, design.kappa, design.target_weight)
        return forecast_errors(outlook, steps)


@dataclass(frozen=True)
class Answer:
    """The steps of a fit, its design and its errors."""

    setting: Setting
    steps: tuple[Step, ...]
    design: Design
    errors: Errors

    @property
    def stages(self) -> tuple[Step, ...]:
        """The Gram stages among the steps."""
        kinds = (LinearStage, *STAGES)
        return tuple(step for step in self.steps if isinstance(step, kinds))

    def share_of(self, *kinds: type[Step]) -> float:
        """Return the part of μ² that steps of these kinds take."""
        return math.fsum(step.share for step in self.steps if isinstance(step, kinds))


def planned_design(answer: Answer, box: Box) -> PlannedDesign:
    """Describe a design in public numbers; inducing points in the units of the inputs."""
    features, layout = answer.design.features, answer.design.layout
    names = ("given",) if layout is None else layout.families
    lengths = {
        "grid": None if layout is None else layout.length,
        "additive": ADDITIVE_LENGTH,
        "joint": joint_length(len(box.low)),
        "given": joint_length(len(box.low)),
    }
    return PlannedDesign(
        features=names,
        feature_shares=(1.0 / len(names),) * len(names),
        n_features=features.dimension,
        inducing_points=np.asarray(box.centre + features.anchors * box.half_width),
        length_scales=tuple(lengths.get(name) for name in names),
        target_weight=answer.design.target_weight,
        kappa=answer.design.kappa,
        stages=tuple(stage.share for stage in answer.stages),
        count_share=answer.share_of(Count),
        warp_share=answer.share_of(
            InputHistograms, MarginalHistograms, CellCounts, TargetHistograms
        ),
        guard_share=answer.share_of(Guard, MetricGuard),
        calibration_share=answer.share_of(Calibrate),
    )
