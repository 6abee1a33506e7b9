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
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.features.base import WrittenMap
from dpgp.features.combined import ConcatenatedFeatures, GridFeatures, additive_features
from dpgp.features.inducing import InducingFeatures
from dpgp.features.linear import LinearFeatures
from dpgp.inference import clipping
from dpgp.inference.clip_choice import DIRECTIONS
from dpgp.inference.hyperparameters import default_kernel
from dpgp.kernels.parameters import MEDIAN_LENGTH, median_length
from dpgp.kernels.stationary import RBF
from dpgp.options import Options
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.planning.forecast import Errors, Outlook, Prospect, after_steps
from dpgp.planning.prior_functions import Functions, plausible_functions
from dpgp.planning.setting import Assumption, Setting
from dpgp.point_sets import low_discrepancy_points, regular_grid
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.steps.base import Step


QUICKER_GAIN, SLOWER_GAIN = 0.05, 0.2
"""How much less error a layout of fewer, or of more features must promise than the first. By hand:
forecasts err by more than a twentieth, and more features take more time."""

EQUAL = 1e-6
"""Difference of mean log errors that counts as none: rounding shall not choose."""


JOINT_POINTS = 40
"""Joint points where their number is not said. By hand: interactions seen against noise."""


@dataclass(frozen=True)
class Layout:
    """Families of features, and how many points they have.

    ``points`` and ``length`` are those of an axis of a grid, or of the joint points.
    """

    families: tuple[str, ...]
    points: int = JOINT_POINTS
    length: float | None = None

    def features(self, columns: int) -> WrittenMap:
        """Return the features, with equal shares of the norm."""
        maps = [self._family(name, columns) for name in self.families]
        return maps[0] if len(maps) == 1 else ConcatenatedFeatures(maps, [1.0] * len(maps))

    def _family(self, name: str, columns: int) -> WrittenMap:
        low, high = [-1.0] * columns, [1.0] * columns
        kernel = RBF(self.length or joint_length(columns))
        if name == "grid":
            return GridFeatures.of([kernel] * columns, regular_grid(low, high, self.points))
        if name == "linear":
            return LinearFeatures(columns)
        if name == "additive":
            return additive_features([RBF(ADDITIVE_LENGTH)] * columns, ADDITIVE_POINTS)
        anchors = low_discrepancy_points(low, high, self.points)
        return InducingFeatures(kernel, anchors)


ADDITIVE_LENGTH, ADDITIVE_POINTS = (
    MEDIAN_LENGTH,
    5,
)  # points half a width apart
# Points an axis and reference length, shorter than the one expected; the first was set by hand on
# simulated functions and surveys, the others are finer and coarser, for a forecast to choose from
_GRIDS = {
    1: ((20, 0.15), (30, 0.1), (12, 0.25), (8, 0.4)),
    2: ((7, 0.35), (5, 0.5), (4, 0.7)),
}
DETAIL_FROM = 5000.0
"""Rows over the noise of a count from which on a finer grid is compared too, which takes time. By
hand: a fifth to a third less error of functions with detail, for twice the time."""

_DETAILED: dict[int, tuple[Layout, ...]] = {2: (Layout(("grid",), 9, 0.28),)}


def layouts(columns: int) -> tuple[Layout, ...]:
    """Return the layouts a plan chooses from, the rule of thumb first."""
    return tuple(Layout(("grid",), points, length) for points, length in _GRIDS[columns])


def affordable(setting: Setting) -> tuple[Layout, ...]:
    """Return the layouts with at most as many features as rows, or else the smallest.

    Detail joins them where so many rows stand out of the noise that it can be seen.
    """
    columns = setting.columns
    options = layouts(columns) + (
        _DETAILED.get(columns, ()) if setting.signal > DETAIL_FROM else ()
    )
    sizes = [layout.features(columns).dimension for layout in options]
    limit = max(setting.n, min(sizes))
    return tuple(layout for layout, d in zip(options, sizes, strict=True) if d <= limit)


def joint_length(columns: int) -> float:
    """Return the reference length of joint points: what is expected of a length."""
    return median_length(columns)


def asked_layout(columns: int, family: Sequence[str] | None, points: int | None) -> Layout | None:
    """Return the layout that the user's wishes leave, or None where nothing was asked for."""
    if family is None and points is None:
        return None
    families = ("grid",) if family is None else tuple(family)
    on_grid = "grid" in families
    count, length = _grid_of(columns) if on_grid else (JOINT_POINTS, None)
    return Layout(families, count if points is None else points, length)


def _grid_of(columns: int) -> tuple[int, float]:
    """Return points an axis and length: the rule of thumb, or about 64 points in all."""
    return _GRIDS[columns][0] if columns in _GRIDS else (max(round(64 ** (1 / columns)), 2), 1.0)


def asked_features(options: Options) -> WrittenMap | None:
    """Return the features that were asked for of many inputs; None where they are learned."""
    points = options.inducing_points
    if options.families is None or isinstance(points, np.ndarray):
        return None
    layout = asked_layout(options.columns, options.families, points)
    return None if layout is None else layout.features(options.columns)


@dataclass(frozen=True)
class Design:
    """The features, and where in the cube [−1, 1]^D a density of the inputs is looked for."""

    features: WrittenMap
    positions: Array
    kappa: float
    layout: Layout | None = None


_ATOMS = {1: 121, 2: 21}  # an axis: finer than a grid's features

SKEW_WEIGHT = 0.25
"""Of the squared bias of exponential noise beside variances in the choice of κ: Gaussian noise
shall not pay all of the price of a skewed one. By hand; `dpgp reproduce successor` shows both."""

KAPPAS = np.linspace(1.0, 6.0, 101)
"""Clips to choose from: below 1 little is gained, beyond 6 nothing is clipped."""


def choose_design(
    setting: Setting,
    steps: Sequence[Step],
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
        layout = best_layout(setting, steps, kappa, kernel)
    return Design(layout.features(columns), positions, kappa, layout)


def planned_kappa(setting: Setting) -> float:
    """Return where stages clip, in residual sds."""
    if not setting.outcome.is_clipped:
        return math.inf
    return choose_kappa(setting.n, setting.mu, DIRECTIONS[setting.columns])


def density_positions(columns: int) -> Array:
    """Return where a density of the inputs has its atoms: on a grid."""
    return regular_grid([-1.0] * columns, [1.0] * columns, _ATOMS[columns]).points


def best_layout(
    setting: Setting, steps: Sequence[Step], kappa: float, kernel: Any = None
) -> Layout:
    """Return the layout of the least forecast error; a fit without noise takes all detail."""
    if math.isinf(setting.mu):
        return (_DETAILED.get(setting.columns) or layouts(setting.columns))[0]
    if kernel is None:
        return _best_by_default(setting, tuple(steps), kappa)
    functions = plausible_functions(kernel, setting.columns, usual_assumption(setting.outcome))
    return _best(setting, steps, kappa, functions)


@lru_cache(maxsize=256)
def _best_by_default(setting: Setting, steps: tuple[Step, ...], kappa: float) -> Layout:
    return _best(setting, steps, kappa, default_functions(setting.columns, setting.outcome))


@lru_cache(maxsize=16)
def default_functions(columns: int, outcome: OutcomeKind = NUMBER) -> Functions:
    """Return plausible functions of the default kernel."""
    return plausible_functions(default_kernel(columns), columns, usual_assumption(outcome))


def usual_assumption(outcome: OutcomeKind) -> Assumption:
    """Return what a design takes for granted: nothing that a user may have guessed."""
    return Assumption(1.0, outcome)


def _best(setting: Setting, steps: Sequence[Step], kappa: float, functions: Functions) -> Layout:
    options = affordable(setting)
    errors = compare(setting, steps, kappa, functions, options)
    return choose(options, errors, setting.columns)


def compare(
    setting: Setting,
    steps: Sequence[Step],
    kappa: float,
    functions: Functions,
    options: Sequence[Layout],
) -> list[Errors]:
    """Forecast the errors of every layout."""

    def errors(layout: Layout) -> Errors:
        prospect = Prospect(layout.features(setting.columns), functions)
        outlook = Outlook.before(setting, prospect, kappa)
        return after_steps(outlook, steps).errors()

    return [errors(layout) for layout in options]


def choose(options: Sequence[Layout], errors: Sequence[Errors], columns: int) -> Layout:
    """Return the layout of the least mean log error, the first one if it is nearly as good.

    Errors that agree to a millionth count as equal, and the earlier layout is taken.
    """
    sizes = [layout.features(columns).dimension for layout in options]
    scores = np.array([float(np.mean(np.log(error.rmse))) for error in errors])
    scores[1:] += np.where(np.array(sizes[1:]) > sizes[0], SLOWER_GAIN, QUICKER_GAIN)
    return options[int(np.argmax(scores <= scores.min() + EQUAL))]


def choose_kappa(n: float, mu: float, directions: float) -> float:
    r"""Return where to clip, in residual sds: the least of sampling, privacy noise and skewness.

    Minimises :math:`\frac dn\frac{m_2}{g^2} + (\frac{2d\kappa}{g\mu n})^2 + w\,b(\kappa)^2`, in
    noise variances, with the rough bias b of exponential noise.
    """
    if math.isinf(mu):
        return math.inf
    unit = np.ones_like(KAPPAS)
    g, m2 = clipping.slope(KAPPAS, unit), clipping.second_moment(KAPPAS, unit)
    bias = np.array([clipping.huber_bias(float(kappa)) for kappa in KAPPAS])
    sampling = directions / n * m2 / g**2
    privacy = (2 * directions * KAPPAS / (g * mu * n)) ** 2
    return float(KAPPAS[np.argmin(sampling + privacy + SKEW_WEIGHT * bias**2)])
