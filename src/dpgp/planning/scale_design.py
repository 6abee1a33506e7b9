"""Whether a fit can afford a function of the scale, how fine, and at which price: public numbers.

Every layout is a constant and something smooth on few points. Its forecast is the error of log c(x)
that is left for plausible scales and inputs that fill their box.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np

from dpgp.features.inducing import InducingFeatures
from dpgp.features.placement import low_discrepancy_points, regular_grid
from dpgp.inference.evidence import prior_covariances
from dpgp.inference.local_scale import slope_of_distance, variance_of_distance
from dpgp.kernels.linear import AdditiveRBF, constant, straight
from dpgp.kernels.stationary import RBF
from dpgp.types import Array

LEVEL_SD = 0.3
"""Prior sd of the constant part of log c: the model's own sd is right to a factor 1.35."""

SMOOTH_SDS = (0.02, 0.1, 0.2, 0.4, 0.8)
"""Prior sds of the smooth part, equally likely: no change over the box, up to a factor 2.2."""

LENGTHS = (0.5, 1.0, 2.0)
"""Its lengths on a grid, in half-widths; by hand."""

TYPICAL = (0.3, 1.0)
"""Sd and length that a forecast takes for granted: a factor of 1.35 across the box. By hand."""

_GRIDS = {1: (7, 0.45), 2: (5, 0.7)}
"""Points an axis and reference length by the number of inputs; by hand: few points, and a length of
their distance or more."""

CONSTANT_PART = 0.5
"""Share of the squared norm of φ for the constant; by hand."""

SMALLEST_SHARE, LARGEST_SHARE = 0.02, 0.04  # of μ²; by hand, as the error that is paid for
SUM_ERROR = 0.0135
"""Noise of a sum of φq, as a share of all rows, that is paid for within these shares of μ². By
hand: noise in the widths of intervals against noise in the mean."""

WORTH = 0.85
"""Share of the typical sd of log c that a forecast may leave unknown for the step to be taken.
By hand: what is found shall be worth its share."""

POINTS = 256  # of the box, for the average of a forecast: a power of two suits low discrepancy


@dataclass(frozen=True)
class ScaleLayout:
    """Features of log c: on a grid of ``columns`` coordinates, or a line and functions of one."""

    columns: int
    on_grid: bool

    @cached_property
    def features(self) -> InducingFeatures:
        """A constant and something smooth, each with its part of the norm."""
        smooth = self._kernel(1.0 - CONSTANT_PART, _GRIDS.get(self.columns, (0, 1.0))[1])
        return InducingFeatures(constant(CONSTANT_PART) + smooth, self._anchors())

    def priors(self) -> list[Array]:
        """Return equally likely prior covariances of the weights."""
        lengths = LENGTHS if self.on_grid else LENGTHS[1:2]
        return [self.prior(sd, length) for sd, length in product(SMOOTH_SDS, lengths)]

    def prior(self, sd: float, length: float) -> Array:
        """Return the prior covariance of the weights for one sd and length of the smooth part."""
        kernel = constant(LEVEL_SD**2) + self._kernel(sd**2, length)
        d = self.features.dimension
        covariances = prior_covariances(self.features, kernel, kernel.theta[None], np.eye(d))
        return np.asarray(covariances[0])

    def _kernel(self, variance: float, length: float) -> Any:
        if self.on_grid:
            return constant(variance) * RBF(length)
        half = variance / 2
        line = constant(half / self.columns) * straight()
        return line + constant(half) * AdditiveRBF(length, 4)

    def _anchors(self) -> Array:
        D = self.columns
        if self.on_grid:
            return regular_grid([-1.0] * D, [1.0] * D, _GRIDS[D][0]).points
        along = np.vstack([size * np.eye(D) for size in (-1.0, -0.5, 0.5, 1.0)])
        return np.vstack([np.zeros(D), along])

    def error(self, n: float, noise_std: float) -> float:
        """Return the forecast error of log c, apart from its level, over the typical sd."""
        U = low_discrepancy_points([-1.0] * self.columns, [1.0] * self.columns, POINTS)
        phi, C = self.features.evaluate(U), self.prior(*TYPICAL)
        B = n * phi @ phi.T / POINTS
        g, v = slope_of_distance(np.zeros(1))[0], variance_of_distance(np.zeros(1))[0]
        K = g * g * B @ C @ B + v * B + noise_std**2 * np.eye(len(C))
        V = C - g * g * C @ B @ np.linalg.solve(K, B @ C)
        return float(np.sqrt(_varying(phi, V) / _varying(phi, C)))


def _varying(phi: Array, V: Array) -> float:
    """Return the mean variance of φᵀw about its average over the points."""
    centred = phi - phi.mean(axis=1, keepdims=True)
    return float(np.sum((V @ centred) * centred) / phi.shape[1])


def scale_share(n: float, sum_noise: float) -> float:
    r"""Share :math:`w` of :math:`\mu^2` for the sums, from public numbers alone.

    What makes their noise, ``sum_noise`` for all of μ and :math:`1/\sqrt w` times it for a share,
    1.35 % of the rows, but at least a fiftieth and at most a twenty-fifth.
    """
    return float(np.clip((sum_noise / (SUM_ERROR * n)) ** 2, SMALLEST_SHARE, LARGEST_SHARE))


@lru_cache(maxsize=64)
def scale_layout(columns: int, on_grid: bool) -> ScaleLayout:
    """Return the layout for so many coordinates; a grid is for two at most."""
    return ScaleLayout(columns, on_grid and columns in _GRIDS)
