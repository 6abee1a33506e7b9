"""Public rules that choose the design of a fit from the number of rows, of inputs, and the budget.

No rule looks at a row. Shares of the budget are fixed before the first release; where the number of
rows is itself private they do not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF

from dpgp.features.placement import low_discrepancy_points, regular_grid
from dpgp.features.whitened import (
    ConcatenatedFeatures,
    GridFeatures,
    InducingFeatures,
    LinearFeatures,
    WhitenedMap,
    additive_features,
)
from dpgp.inference import clipping
from dpgp.inference.conformal import calibration_share
from dpgp.inference.warp import warp_share

Array = NDArray[np.float64]

COUNT_SHARE = 0.02
GUARD_SHARE = 0.05
TYPICAL_ROWS = 2000  # stands in for a number of rows that is private
STAGES = (1.0, 1.0, 2.0, 3.0, 4.0, 6.0)
FAMILIES = ("grid", "linear", "additive", "joint")


@dataclass(frozen=True)
class Shares:
    """How μ² is split between the releases of a fit."""

    count: float
    warp: float
    calibration: float
    guard: float
    stages: tuple[float, ...]


def choose_shares(
    n: float | None,
    columns: int,
    mu: float,
    *,
    stages: Sequence[float] = STAGES,
    warp: bool = True,
    calibrate: bool = True,
) -> Shares:
    """Split the budget; ``n`` is None where the number of rows is private."""
    if math.isinf(mu):
        return Shares(1.0, 0.0, float(calibrate), 0.0, (1.0,))  # nothing has a price
    rows = TYPICAL_ROWS if n is None else n
    count = COUNT_SHARE if n is None else 0.0
    warping = warp_share(rows, columns, mu) if warp else 0.0
    calibration = calibration_share(rows, mu) if calibrate else 0.0
    left = 1.0 - count - warping - calibration - GUARD_SHARE
    weights = np.array(stages, dtype=np.float64) / math.fsum(stages)
    return Shares(count, warping, calibration, GUARD_SHARE, tuple((left * weights).tolist()))


@dataclass(frozen=True)
class Design:
    """The features, and where in the cube [−1, 1]^D a density of the inputs is looked for."""

    features: WhitenedMap
    positions: Array | None
    kappa: float
    target_weight: float = 1.0


_GRIDS = {1: (20, 0.15, 121), 2: (7, 0.35, 21), 3: (4, 0.7, 9)}  # points, length scale, positions
_DIRECTIONS = {1: 8.0, 2: 15.0, 3: 20.0}  # how many directions of the weights a fit learns, about


def choose_design(
    n: float,
    columns: int,
    mu: float,
    *,
    family: Sequence[str] | None = None,
    inducing_points: Array | int | None = None,
) -> Design:
    """Choose features and clipping; ``family`` and ``inducing_points`` override the rule."""
    features = choose_features(columns, family, inducing_points)
    atoms = _GRIDS[columns][2] if columns in _GRIDS else None
    positions = (
        None if atoms is None else regular_grid([-1.0] * columns, [1.0] * columns, atoms).points
    )
    return Design(features, positions, choose_kappa(n, mu, _DIRECTIONS.get(columns, 30.0)))


def choose_kappa(n: float, mu: float, directions: float, skew_weight: float = 0.1) -> float:
    r"""Return where to clip, in residual sds: the least of sampling, privacy noise and skewness.

    Minimises :math:`\frac dn\frac{m_2}{g^2} + (\frac{2d\kappa}{g\mu n})^2 + w\,b(\kappa)^2`, in
    noise variances, with the rough bias b of exponential noise.
    """
    if math.isinf(mu):
        return math.inf
    kappas = np.linspace(1.0, 6.0, 101)
    unit = np.ones_like(kappas)
    g, m2 = clipping.slope(kappas, unit), clipping.second_moment(kappas, unit)
    bias = np.array([clipping.huber_bias(float(kappa)) for kappa in kappas])
    sampling = directions / n * m2 / g**2
    privacy = (2 * directions * kappas / (g * mu * n)) ** 2
    return float(kappas[np.argmin(sampling + privacy + skew_weight * bias**2)])


def choose_features(
    columns: int, family: Sequence[str] | None, inducing_points: Array | int | None
) -> WhitenedMap:
    """Return the features of a family, or of the rule: a grid, or beyond three inputs a mixture."""
    if isinstance(inducing_points, np.ndarray):
        return InducingFeatures(RBF(_joint_length(columns)), inducing_points)
    if family is None:
        family = ("grid",) if columns in _GRIDS else ("linear", "additive", "joint")
    maps = [_family_map(name, columns, inducing_points) for name in family]
    return maps[0] if len(maps) == 1 else ConcatenatedFeatures(maps, [1.0] * len(maps))


def _family_map(name: str, columns: int, count: int | None) -> WhitenedMap:
    low, high = [-1.0] * columns, [1.0] * columns
    if name == "grid":
        points, length, _ = _GRIDS.get(columns, (2, 1.0, 0))
        grid = regular_grid(low, high, points if count is None else count)
        return GridFeatures.of([RBF(length)] * columns, grid)
    if name == "linear":
        return LinearFeatures(columns)
    if name == "additive":
        return additive_features([RBF(0.5)] * columns, 5)
    if name == "joint":
        anchors = low_discrepancy_points(low, high, 40 if count is None else count)
        return InducingFeatures(RBF(_joint_length(columns)), anchors)
    raise ValueError(f"`features` must be among {FAMILIES}, got {name!r}.")


def _joint_length(columns: int) -> float:
    return 0.5 * math.sqrt(columns)
