"""A question to the forecast, and the answer: the design a fit would choose, and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.design import ADDITIVE_LENGTH, Design, Shares, choose_design, choose_shares, joint_length
from dpgp.domain import Box
from dpgp.forecast import Errors, Setting, forecast_errors, prospect_of
from dpgp.options import row_count_is_public
from dpgp.plausible import Functions
from dpgp.privacy.ledger import mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours

Array = NDArray[np.float64]

WIDTH_95 = 2 * 1.959964


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
        low, rmse, high = (half_width * np.quantile(errors.rmse, (0.1, 0.5, 0.9))).tolist()
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
    """What a plan starts from."""

    box: Box
    target_box: Box
    functions: Functions
    kernel: Any
    delta: float
    neighbours: Neighbours
    stages: Sequence[float]
    family: tuple[str, ...] | None
    points: Array | int | None
    warp: bool
    calibrate: bool
    missing: str = "error"
    units: bool = False
    rows_per_unit: int = 1

    @property
    def row_count_is_public(self) -> bool:
        """Whether neighbours have the same number of rows that count."""
        return row_count_is_public(self.neighbours, self.missing, self.units)

    @property
    def columns(self) -> int:
        """Number of inputs."""
        return len(self.box.low)

    @property
    def half_width(self) -> float:
        """Half the range of the target."""
        return float(self.target_box.half_width[0])

    def answer(self, n: float, epsilon: float) -> Answer:
        """Choose a design as a fit would, and forecast its errors."""
        mu = mu_of_guarantee(epsilon, self.delta)
        setting = Setting(n, self.columns, mu, self.neighbours, self.rows_per_unit)
        shares = choose_shares(
            n if self.row_count_is_public else None,
            self.columns,
            mu,
            stages=self.stages,
            warp=self.warp,
            calibrate=self.calibrate,
        )
        design = choose_design(
            setting,
            shares.stages,
            kernel=self.kernel,
            family=self.family,
            inducing_points=self.points,
        )
        return Answer(setting, shares, design, self.errors(setting, shares.stages, design))

    def errors(self, setting: Setting, stages: Sequence[float], design: Design) -> Errors:
        """Forecast the errors of a design."""
        prospect = prospect_of(setting, design.features, self.functions)
        return forecast_errors(setting, prospect, stages, design.kappa, design.target_weight)


@dataclass(frozen=True)
class Answer:
    """A design and its errors."""

    setting: Setting
    shares: Shares
    design: Design
    errors: Errors


def planned_design(answer: Answer, box: Box) -> PlannedDesign:
    """Describe a design in public numbers; inducing points in the units of the inputs."""
    features, layout, shares = answer.design.features, answer.design.layout, answer.shares
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
        stages=shares.stages,
        count_share=shares.count,
        warp_share=shares.warp,
        guard_share=shares.guard,
        calibration_share=shares.calibration,
    )
