"""Whether a fit can afford a function of the scale, how fine, and at which price: public numbers.

Every layout is a constant and parts: one function of every input, and one of both where there are
two numbers. Its forecast is the error of log c(x) that is left for a plausible scale and inputs
that fill their box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpgp.features.inducing import InducingFeatures, ProjectedFeatures
from dpgp.inference.local_scale import LEVEL_SD, slope_of_distance, variance_of_distance
from dpgp.kernels.linear import AdditiveRBF, constant, straight
from dpgp.kernels.stationary import RBF
from dpgp.point_sets import low_discrepancy_points, regular_grid
from dpgp.types import Array

TYPICAL = 0.3
"""Sd of a part that a forecast takes for granted: a factor of 1.35 across an input. By hand."""

_GRIDS = {1: (7, 0.45), 2: (5, 0.7)}
"""Points an axis and reference length by the number of inputs; by hand: few points, and a length of
their distance or more."""

KNOTS = np.linspace(-1.0, 1.0, 5)[:, None]
"""Where the function of a number is pinned down, beside a line of the same size."""

JOINT_LENGTH = 1.0
"""Length of the function of two numbers, in half-widths; by hand."""

CONSTANT_PART = 0.1
"""Share of the squared norm of φ for the constant: its sum is one over all rows, and the law of the
residuals corrects it once more. With a half, parts would have three quarters of their signal."""

SMALLEST_SHARE, LARGEST_SHARE = 0.02, 0.04  # of μ²; by hand, as the error that is paid for
SUM_ERROR = 0.0135
"""Noise of a sum of φq, as a share of all rows, that is paid for within these shares of μ². By
hand: noise in the widths of intervals against noise in the mean."""

WORTH = 0.7
"""Share of the typical sd of log c that a forecast may leave unknown for the step to be taken.
By hand: what is found shall be worth its share."""

POINTS = 256  # of the box, for the average of a forecast: a power of two suits low discrepancy


@dataclass(frozen=True)
class ScaleLayout:
    """Features of log c, and the functions of its parts as weights on them.

    ``indicators`` has the number of coordinates of every input that is a category, 0 of a number.
    """

    indicators: tuple[int, ...]
    on_grid: bool

    @property
    def columns(self) -> int:
        """Number of coordinates."""
        return sum(max(count, 1) for count in self.indicators)

    @property
    def sweeps(self) -> int:
        """Two where several inputs share the norm: the second asks most of those that matter."""
        return min(len(self.indicators), 2)

    @cached_property
    def features(self) -> InducingFeatures:
        """Those that a model file has: of a constant, and lines and smooth functions."""
        return InducingFeatures(constant(0.5) + self._reference(), self._anchors())

    def _reference(self) -> Any:
        if self.on_grid:
            return constant(0.5) * RBF(_GRIDS[self.columns][1])
        return constant(0.25 / self.columns) * straight() + constant(0.25) * AdditiveRBF(1.0, 4)

    def _anchors(self) -> Array:
        D = self.columns
        if self.on_grid:
            return regular_grid([-1.0] * D, [1.0] * D, _GRIDS[D][0]).points
        along = np.vstack([size * np.eye(D) for size in (-1.0, -0.5, 0.5, 1.0)])
        return np.vstack([np.zeros(D), along])

    @cached_property
    def parts(self) -> tuple[Array, ...]:
        """Weights of the functions of every part, the constant first; of unit variance each."""
        Z = self.features.anchors
        functions = [np.ones((1, len(Z))), *self._functions(Z)]
        # f(Z) = K^½ w for f = φᵀw
        return tuple(self.features.projection @ values.T for values in functions)

    def _functions(self, U: Array) -> list[Array]:
        """Return the functions of every part but the constant at the rows of ``U``."""
        ends = np.cumsum([max(count, 1) for count in self.indicators])
        pairs = zip(np.split(U, ends[:-1], axis=1), self.indicators, strict=True)
        alone = [_of_category(V) if count else _of_number(V) for V, count in pairs]
        joint = self.on_grid and self.columns == 2
        return [*alone, InducingFeatures(RBF(JOINT_LENGTH), U).evaluate(U)] if joint else alone

    def asked(self, variances: Array | None = None) -> ProjectedFeatures:
        r"""Return the features of a sweep, :math:`\|\varphi\|^2 = \sum_j w_j\|g_j\|^2 \le 1`.

        The squared norm is shared evenly among parts, or as what is expected of their variances.
        """
        sizes = np.ones(len(self.parts) - 1) if variances is None else variances
        weights = np.append(CONSTANT_PART, (1.0 - CONSTANT_PART) * sizes / sizes.sum())
        eigenvalues, Q = np.linalg.eigh(_weighted(self.parts, weights))
        P = (Q * np.sqrt(np.maximum(eigenvalues, 0.0))) @ Q.T
        return ProjectedFeatures(self.features, P, 1.0)

    def plausible_parts(self) -> list[Array]:
        """Return the functions of every part at points that fill the box."""
        return self._functions(self._plausible_inputs())

    def _plausible_inputs(self) -> Array:
        """Return points that fill the box, with levels that are equally frequent."""
        inputs = len(self.indicators)
        X = low_discrepancy_points([-1.0] * inputs, [1.0] * inputs, POINTS)
        return np.hstack([_as_coordinates(x, k) for x, k in zip(X.T, self.indicators, strict=True)])


@lru_cache(maxsize=64)
def forecast_error(layout: ScaleLayout, n: float, noise_std: float) -> float:
    """Return the forecast error of log c, apart from its level, over the typical sd.

    One part has the typical sd, all others none: the average over parts. The second sweep is
    about it as far as the first has told it. ``noise_std`` is that of a sum in every sweep.
    """
    parts, left = layout.plausible_parts(), []
    for values in parts:
        shares, unknown = [1.0 / len(parts)], 1.0
        for _ in range(layout.sweeps):
            unknown = _left_of_part(values, shares, n, noise_std)
            shares.append(1.0 - unknown + unknown / len(parts))
        left.append(unknown)
    return float(np.sqrt(np.mean(left)))


def _of_number(u: Array) -> Array:
    """A line and a smooth function, as whitened features at knots."""
    kernel = constant(0.5) * straight() + constant(0.5) * RBF(1.0)
    return InducingFeatures(kernel, KNOTS).evaluate(u)


def _of_category(u: Array) -> Array:
    """One function a level, (1 + u_k)/2; of two levels the one indicator."""
    return np.asarray(u.T if u.shape[1] == 1 else (1.0 + u.T) / 2.0)


def _as_coordinates(x: Array, indicators: int) -> Array:
    """Return indicators of as many equally frequent levels, of two for one; a number as it is."""
    if not indicators:
        return x[:, None]
    levels = max(indicators, 2)
    level = np.minimum((levels * (x + 1.0) / 2.0).astype(int), levels - 1)
    return np.asarray(2.0 * (level[:, None] == np.arange(indicators)) - 1.0)


def _weighted(parts: tuple[Array, ...], weights: Array) -> Array:
    """Σ_j w_j L_jL_jᵀ."""
    return np.asarray(sum(w * L @ L.T for w, L in zip(weights, parts, strict=True)))


def _left_of_part(values: Array, shares: Sequence[float], n: float, noise_std: float) -> float:
    r"""Return the part of a part's variance that sweeps with such shares of the norm leave unknown.

    With functions g of the constant and the part, :math:`B = nE[gg^\top]`, and weights W of their
    squared norms, a sweep tells :math:`J^\top S^{-1}J`, :math:`J = G'W^{1/2}B`,
    :math:`S = vW^{1/2}BW^{1/2} + \sigma^2I`.
    """
    g = np.vstack([np.ones((1, values.shape[1])), values])
    B, prior = n * g @ g.T / g.shape[1], np.append(LEVEL_SD, np.full(len(values), TYPICAL)) ** 2
    slope, v = slope_of_distance(np.zeros(1))[0], variance_of_distance(np.zeros(1))[0]
    precision = np.diag(1.0 / prior)
    for share in shares:
        weight = (1.0 - CONSTANT_PART) * share
        root = np.sqrt(np.append(CONSTANT_PART, np.full(len(values), weight)))[:, None]
        J, S = slope * root * B, v * root * B * root.T + noise_std**2 * np.eye(len(g))
        precision += J.T @ np.linalg.solve(S, J)
    V = np.asarray(np.linalg.inv(precision), dtype=np.float64)
    return _varying(g, V) / _varying(g, np.diag(prior))


def _varying(g: Array, V: Array) -> float:
    """Return the mean variance of gᵀξ about its average over the points."""
    centred = g - g.mean(axis=1, keepdims=True)
    return float(np.sum((V @ centred) * centred) / g.shape[1])


def scale_share(n: float, sum_noise: float, sweeps: int = 1) -> float:
    r"""Share :math:`w` of :math:`\mu^2` for the sums of all sweeps, from public numbers alone.

    What makes the noise of a sweep, ``sum_noise`` for all of μ and :math:`\sqrt{k/w}` times it for
    one of k sweeps, 1.35 % of the rows, but at least a fiftieth and at most a twenty-fifth.
    """
    wanted = sweeps * (sum_noise / (SUM_ERROR * n)) ** 2
    return float(np.clip(wanted, SMALLEST_SHARE, LARGEST_SHARE))


@lru_cache(maxsize=64)
def scale_layout(indicators: tuple[int, ...], on_grid: bool) -> ScaleLayout:
    """Return the layout for such inputs; a grid is for two numbers at most."""
    return ScaleLayout(indicators, on_grid and len(indicators) in _GRIDS)
