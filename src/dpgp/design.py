"""The design of a fit, from public numbers alone: rows, inputs, budget and bounds.

No rule looks at a row. Shares of the budget are fixed before the first release; where the number of
rows is itself private they do not depend on it. Features are chosen by their forecast among a few
layouts, the first of which is kept unless another promises clearly less error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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
from dpgp.forecast import Errors, Setting, forecast_errors, prospect_of
from dpgp.inference import clipping
from dpgp.inference.conformal import calibration_share
from dpgp.inference.priors import default_kernel
from dpgp.inference.warp import warp_share
from dpgp.plausible import Functions, plausible_functions

Array = NDArray[np.float64]

COUNT_SHARE = 0.02
GUARD_SHARE = 0.05
TYPICAL_ROWS = 2000  # stands in for a number of rows that is private
STAGES = (1.0, 1.0, 2.0, 3.0, 4.0, 6.0)
FAMILIES = ("grid", "linear", "additive", "joint")
QUICKER_GAIN, SLOWER_GAIN = 0.05, 0.2
"""How much less error a layout of fewer, or of more features must promise than the first."""
EQUAL = 1e-6


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
class Layout:
    """Families of features, how many points they have, and the weight s of the target beside them.

    ``points`` and ``length`` are those of an axis of a grid, or of the joint points.
    """

    families: tuple[str, ...]
    points: int = 40
    length: float | None = None
    target_weight: float = 1.0

    def features(self, columns: int) -> WhitenedMap:
        """Return the features, with equal shares of the norm."""
        maps = [self._family(name, columns) for name in self.families]
        return maps[0] if len(maps) == 1 else ConcatenatedFeatures(maps, [1.0] * len(maps))

    def _family(self, name: str, columns: int) -> WhitenedMap:
        low, high = [-1.0] * columns, [1.0] * columns
        if name == "grid":
            grid = regular_grid(low, high, self.points)
            return GridFeatures.of([RBF(self.length)] * columns, grid)
        if name == "linear":
            return LinearFeatures(columns)
        if name == "additive":
            return additive_features([RBF(ADDITIVE_LENGTH)] * columns, ADDITIVE_POINTS)
        anchors = low_discrepancy_points(low, high, self.points)
        return InducingFeatures(RBF(self.length or joint_length(columns)), anchors)


ADDITIVE_LENGTH, ADDITIVE_POINTS = 0.5, 5
_GRIDS = {  # points an axis and reference length
    1: ((20, 0.15), (30, 0.1), (12, 0.25), (8, 0.4)),
    2: ((7, 0.35), (5, 0.5), (4, 0.7)),
    3: ((4, 0.7), (3, 1.0)),
}
_MIXTURES = (
    Layout(("linear", "additive", "joint"), target_weight=0.5),
    Layout(("linear", "additive", "joint")),
    Layout(("linear", "additive"), target_weight=0.5),
    Layout(("linear",), target_weight=0.5),
)


def layouts(columns: int) -> tuple[Layout, ...]:
    """Return the layouts a plan chooses from, the rule of thumb first."""
    if columns not in _GRIDS:
        return _MIXTURES
    return tuple(Layout(("grid",), points, length) for points, length in _GRIDS[columns])


def affordable(setting: Setting) -> tuple[Layout, ...]:
    """Return the layouts with at most as many features as rows, or else the smallest."""
    options, columns = layouts(setting.columns), setting.columns
    sizes = [layout.features(columns).dimension for layout in options]
    limit = max(setting.n, min(sizes))
    return tuple(layout for layout, d in zip(options, sizes, strict=True) if d <= limit)


def joint_length(columns: int) -> float:
    """Return the reference length of joint points."""
    return 0.5 * math.sqrt(columns)


def asked_layout(columns: int, family: Sequence[str] | None, points: int | None) -> Layout | None:
    """Return the layout that the user's wishes leave, or None where nothing was asked for."""
    if family is None and points is None:
        return None
    thumb = layouts(columns)[0]
    families = thumb.families if family is None else tuple(family)
    on_grid = "grid" in families
    count, length = _GRIDS.get(columns, ((2, 1.0),))[0] if on_grid else (40, None)
    count = count if points is None else points
    return Layout(families, count, length, thumb.target_weight)


@dataclass(frozen=True)
class Design:
    """The features, and where in the cube [−1, 1]^D a density of the inputs is looked for."""

    features: WhitenedMap
    positions: Array | None
    kappa: float
    target_weight: float = 1.0
    layout: Layout | None = None


_ATOMS = {1: 121, 2: 21, 3: 9}
SCATTERED_ATOMS, MOST_SCATTERED = 800, 8
"""Beyond three inputs atoms are scattered, and beyond eight they are too few to be of use."""

_DIRECTIONS = {1: 8.0, 2: 15.0, 3: 20.0}  # how many directions of the weights a fit learns, about


def choose_design(
    setting: Setting,
    stages: tuple[float, ...],
    *,
    kernel: Any = None,
    family: Sequence[str] | None = None,
    inducing_points: Array | int | None = None,
) -> Design:
    """Choose features by forecast, and clipping; ``family`` and ``inducing_points`` override."""
    columns = setting.columns
    kappa = planned_kappa(setting)
    positions = density_positions(columns)
    if isinstance(inducing_points, np.ndarray):
        given = InducingFeatures(RBF(joint_length(columns)), inducing_points)
        return Design(given, positions, kappa)
    layout = asked_layout(columns, family, inducing_points)
    if layout is None:
        layout = best_layout(setting, stages, kappa, kernel)
    return Design(layout.features(columns), positions, kappa, layout.target_weight, layout)


def planned_kappa(setting: Setting) -> float:
    """Return where stages clip, in residual sds."""
    return choose_kappa(setting.n, setting.mu, _DIRECTIONS.get(setting.columns, 30.0))


def density_positions(columns: int) -> Array | None:
    """Return where a density of the inputs has its atoms: a grid, scattered points, or nowhere."""
    low, high = [-1.0] * columns, [1.0] * columns
    if columns in _ATOMS:
        return regular_grid(low, high, _ATOMS[columns]).points
    if columns <= MOST_SCATTERED:
        return low_discrepancy_points(low, high, SCATTERED_ATOMS)
    return None


def best_layout(
    setting: Setting, stages: tuple[float, ...], kappa: float, kernel: Any = None
) -> Layout:
    """Return the layout of the least forecast error; a fit without noise keeps the first."""
    if math.isinf(setting.mu):
        return layouts(setting.columns)[0]
    if kernel is None:
        return _best_by_default(setting, stages, kappa)
    return _best(setting, stages, kappa, plausible_functions(kernel, setting.columns))


@lru_cache(maxsize=256)
def _best_by_default(setting: Setting, stages: tuple[float, ...], kappa: float) -> Layout:
    return _best(setting, stages, kappa, default_functions(setting.columns))


@lru_cache(maxsize=16)
def default_functions(columns: int) -> Functions:
    """Return plausible functions of the default kernel."""
    return plausible_functions(default_kernel(columns), columns)


def _best(
    setting: Setting, stages: tuple[float, ...], kappa: float, functions: Functions
) -> Layout:
    options = affordable(setting)
    errors = compare(setting, stages, kappa, functions, options)
    return choose(options, errors, setting.columns)


def compare(
    setting: Setting,
    stages: Sequence[float],
    kappa: float,
    functions: Functions,
    options: Sequence[Layout],
) -> list[Errors]:
    """Forecast the errors of every layout."""
    return [
        forecast_errors(
            setting,
            prospect_of(setting, layout.features(setting.columns), functions),
            stages,
            kappa,
            layout.target_weight,
        )
        for layout in options
    ]


def choose(options: Sequence[Layout], errors: Sequence[Errors], columns: int) -> Layout:
    """Return the layout of the least mean log error, the first one if it is nearly as good.

    Errors that agree to a millionth count as equal, and the earlier layout is taken.
    """
    sizes = [layout.features(columns).dimension for layout in options]
    scores = np.array([float(np.mean(np.log(error.rmse))) for error in errors])
    scores[1:] += np.where(np.array(sizes[1:]) > sizes[0], SLOWER_GAIN, QUICKER_GAIN)
    return options[int(np.argmax(scores <= scores.min() + EQUAL))]


def choose_kappa(n: float, mu: float, directions: float, skew_weight: float = 0.25) -> float:
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
