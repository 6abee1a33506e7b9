r"""What a kernel can do on a box: its range, and a concave quadratic above it.

Everything is vectorised over cells (boxes ``low[c] <= x <= high[c]``) and points ``Z[j]``.
Proofs: docs/proofs/norm_bounds.md.
"""

from dataclasses import dataclass
from functools import reduce, singledispatch
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk

from dpgp.features.kernels import ProductKernel, variance_bound

Array = NDArray[np.float64]

ROUNDING = 1e-14
"""Relative error allowed for a dot product of moderate length."""


@dataclass(frozen=True)
class Cells:
    """Boxes and points, with the differences between them per column, shape (c, m, D)."""

    low: Array
    high: Array
    points: Array

    @property
    def nearest(self) -> Array:
        """Smallest ``|x_n - z_jn|`` on the cell."""
        low, high = self.low[:, None, :], self.high[:, None, :]
        return np.maximum(np.maximum(low - self.points, self.points - high), 0.0)

    @property
    def farthest(self) -> Array:
        """Largest ``|x_n - z_jn|`` on the cell."""
        low, high = self.low[:, None, :], self.high[:, None, :]
        return np.maximum(np.abs(low - self.points), np.abs(high - self.points))

    def column(self, n: int) -> "Cells":
        """The cells and points seen along column ``n`` alone."""
        return Cells(self.low[:, [n]], self.high[:, [n]], self.points[:, [n]])


@dataclass(frozen=True)
class Envelope:
    r"""Range and concave majorant of :math:`k(z_j, \cdot)` on every cell.

    ``low <= k <= high`` and, with :math:`f_n` the farthest distance of column n,
    :math:`k(z_j, x) \le \text{corner} + \sum_n \text{slope}_n((x_n - z_{jn})^2 - f_n^2)`,
    ``slope <= 0``. Shapes (c, m), and (c, m, D) for ``slope``.
    """

    low: Array
    high: Array
    corner: Array
    slope: Array

    @classmethod
    def flat(cls, low: Array, high: Array, n_columns: int) -> Self:
        """The envelope whose majorant is the constant ``high``."""
        return cls(low, high, high, np.zeros((*high.shape, n_columns)))

    def along(self, n: int, n_columns: int) -> "Envelope":
        """The envelope of one column as that of column ``n`` among ``n_columns``."""
        slope = self.slope * np.eye(n_columns)[n]
        return Envelope(self.low, self.high, self.corner, slope)

    def __add__(self, other: "Envelope") -> "Envelope":
        return Envelope(
            self.low + other.low,
            self.high + other.high,
            self.corner + other.corner,
            self.slope + other.slope,
        )

    def __mul__(self, other: "Envelope") -> "Envelope":
        corners = np.stack([a * b for a in (self.low, self.high) for b in (other.low, other.high)])
        low, high = corners.min(axis=0), corners.max(axis=0)
        # u, v >= 0:  u v <= u_low v + v_high u - u_low v_high  (McCormick)
        corner = self.low * other.corner + other.high * (self.corner - self.low)
        slope = self.low[..., None] * other.slope + other.high[..., None] * self.slope
        positive = (self.low >= 0.0) & (other.low >= 0.0)
        return Envelope(low, high, *_where(positive, corner, slope, high))

    def __pow__(self, exponent: float) -> "Envelope":
        if not (exponent > 0.0 and (float(exponent).is_integer() or np.all(self.low >= 0.0))):
            raise ValueError(f"`kernel`: cannot bound a power of {exponent} of a signed kernel.")
        ends = np.stack([self.low, self.high]) ** exponent
        straddles = (self.low < 0.0) & (self.high > 0.0) & (exponent % 2.0 == 0.0)
        low, high = np.where(straddles, 0.0, ends.min(axis=0)), ends.max(axis=0)
        # u >= 0, p >= 1:  u^p <= low^p + (high^p - low^p)/(high - low) (u - low)
        width = self.high - self.low
        tangent = exponent * np.abs(self.high) ** (exponent - 1.0)
        chord = np.divide(ends[1] - ends[0], width, out=tangent, where=width > 0.0)
        corner = ends[0] + chord * (self.corner - self.low)
        convex = (self.low >= 0.0) & (exponent >= 1.0)
        return Envelope(low, high, *_where(convex, corner, chord[..., None] * self.slope, high))


def bound_sum(terms: Envelope, cells: Cells) -> tuple[Array, Array]:
    """Upper bound on every cell of the sum of ``terms`` over the points, and where it points to."""
    low, high, slope = cells.low, cells.high, terms.slope
    # q(x) = Σ_j corner_j + Σ_jn slope_jn ((x_n - z_jn)² - f_jn²) is concave; x maximises it
    curvature = slope.sum(axis=1)
    pull = np.einsum("cmn,mn->cn", slope, cells.points)
    x = np.divide(pull, curvature, out=(low + high) / 2.0, where=curvature < 0.0)
    x = np.clip(x, low, high)
    offset = x[:, None, :] - cells.points
    q = terms.corner.sum(axis=1) + np.sum(slope * (offset**2 - cells.farthest**2), axis=(1, 2))
    # q lies below its tangent at x, wherever rounding has put x
    tangent = 2.0 * np.sum(slope * offset, axis=1)
    q += np.maximum(tangent * (low - x), tangent * (high - x)).sum(axis=1)
    return np.minimum(q, terms.high.sum(axis=1)), x


def _where(valid: NDArray[np.bool_], corner: Array, slope: Array, high: Array) -> tuple[Any, Any]:
    """The quadratic majorant where it is valid, the constant ``high`` elsewhere."""
    return np.where(valid, corner, high), np.where(valid[..., None], slope, 0.0)


@singledispatch
def envelope(kernel: Any, cells: Cells) -> Envelope:
    """Range and majorant of ``kernel(z_j, x)`` for ``x`` in each cell, ``z_j`` each point.

    Of an unknown kernel only :math:`k(z, x)^2 \\le k(z, z)\\sup_x k(x, x)` is known.
    """
    largest = np.sqrt(variance_bound(kernel) * kernel.diag(cells.points))
    high = np.tile(largest, (len(cells.low), 1))
    return Envelope.flat(-high, high, cells.points.shape[1])


@envelope.register
def _(kernel: sk.Sum, cells: Cells) -> Envelope:
    return envelope(kernel.k1, cells) + envelope(kernel.k2, cells)


@envelope.register
def _(kernel: sk.Product, cells: Cells) -> Envelope:
    return envelope(kernel.k1, cells) * envelope(kernel.k2, cells)


@envelope.register
def _(kernel: sk.Exponentiation, cells: Cells) -> Envelope:
    return envelope(kernel.kernel, cells) ** float(kernel.exponent)


@envelope.register
def _(kernel: ProductKernel, cells: Cells) -> Envelope:
    n_columns = cells.points.shape[1]
    factors = (
        envelope(factor, cells.column(n)).along(n, n_columns)
        for n, factor in enumerate(kernel.kernels)
    )
    return reduce(lambda first, second: first * second, factors)


@envelope.register
def _(kernel: sk.ConstantKernel, cells: Cells) -> Envelope:
    return _constant(kernel.constant_value, cells)


@envelope.register
def _(kernel: sk.WhiteKernel, cells: Cells) -> Envelope:
    # cov(ε(x), ε(z)) = 0 between different draws, also at x = z
    return _constant(0.0, cells)


def _constant(value: float, cells: Cells) -> Envelope:
    values = np.full((len(cells.low), len(cells.points)), float(value))
    return Envelope.flat(values, values, cells.points.shape[1])


@envelope.register(sk.RBF)  # and Matern, its subclass
@envelope.register(sk.RationalQuadratic)
def _(kernel: Any, cells: Cells) -> Envelope:
    scale = np.broadcast_to(kernel.length_scale, cells.points.shape[1:])
    # s = Σ_n (x_n - z_n)²/ℓ_n²;  g convex and decreasing, so g(s) lies below its chord
    near = np.sum((cells.nearest / scale) ** 2, axis=-1)
    far = np.sum((cells.farthest / scale) ** 2, axis=-1)
    low, high = correlation(kernel, np.sqrt(far)), correlation(kernel, np.sqrt(near))
    chord = np.divide(low - high, far - near, out=np.zeros_like(low), where=far > near)
    return Envelope(low, high, low, np.minimum(chord, 0.0)[..., None] / scale**2)


@envelope.register
def _(kernel: sk.ExpSineSquared, cells: Cells) -> Envelope:
    turns = [
        np.linalg.norm(d, axis=-1) / kernel.periodicity for d in (cells.nearest, cells.farthest)
    ]
    ends = np.sin(np.pi * np.stack(turns)) ** 2
    # sin²(πt) is 0 at every integer t and 1 half-way between
    bottom = np.where(np.ceil(turns[0]) <= turns[1], 0.0, ends.min(axis=0))
    top = np.where(np.ceil(turns[0] - 0.5) <= turns[1] - 0.5, 1.0, ends.max(axis=0))
    low, high = (np.exp(-2.0 * s / kernel.length_scale**2) for s in (top, bottom))
    return Envelope.flat(low, high, cells.points.shape[1])


@envelope.register
def _(kernel: sk.DotProduct, cells: Cells) -> Envelope:
    ends = np.stack([x[:, None, :] * cells.points for x in (cells.low, cells.high)])
    offset = kernel.sigma_0**2
    error = ROUNDING * (offset + np.abs(ends).max(axis=0).sum(axis=-1))
    low = offset + ends.min(axis=0).sum(axis=-1) - error
    high = offset + ends.max(axis=0).sum(axis=-1) + error
    return Envelope.flat(low, high, cells.points.shape[1])


def correlation(kernel: Any, r: Array) -> Array:
    """The radial kernel :math:`k_r(r)` at distance ``r`` divided by the length scale."""
    unit = clone(kernel).set_params(length_scale=1.0)
    values = unit(r.reshape(-1, 1), np.zeros((1, 1))).reshape(r.shape)
    return np.where(r > 0.0, values, 1.0)


@singledispatch
def is_gaussian_mixture(kernel: Any) -> bool:
    r"""Whether :math:`k(x, z) = \int \exp(-\sum_n t_n (x_n - z_n)^2)\,d\nu(t)`, with ν ≥ 0.

    So are RBF, Matern, RationalQuadratic, constants, and their sums, products and natural powers.
    Such a kernel is positive and decreases with every :math:`|x_n - z_n|`.
    """
    return isinstance(kernel, sk.RBF | sk.RationalQuadratic | sk.WhiteKernel)


@is_gaussian_mixture.register
def _(kernel: sk.KernelOperator) -> bool:
    return is_gaussian_mixture(kernel.k1) and is_gaussian_mixture(kernel.k2)


@is_gaussian_mixture.register
def _(kernel: sk.Exponentiation) -> bool:
    natural = kernel.exponent >= 1 and float(kernel.exponent).is_integer()
    return natural and is_gaussian_mixture(kernel.kernel)


@is_gaussian_mixture.register
def _(kernel: ProductKernel) -> bool:
    return all(is_gaussian_mixture(factor) for factor in kernel.kernels)


@is_gaussian_mixture.register
def _(kernel: sk.ConstantKernel) -> bool:
    return bool(kernel.constant_value >= 0.0)


@singledispatch
def inverse_scales(kernel: Any, n_columns: int) -> Array:
    """The weights 1/ℓ of every column, one row per kernel that depends on the inputs.

    A kernel of one column alone has an infinite length scale, weight 0, along the others.
    """
    weights = 1.0 / np.asarray(getattr(kernel, "length_scale", 1.0))
    return np.broadcast_to(weights, (1, n_columns))


@inverse_scales.register(sk.ConstantKernel)
@inverse_scales.register(sk.WhiteKernel)
def _(kernel: Any, n_columns: int) -> Array:
    return np.empty((0, n_columns))


@inverse_scales.register
def _(kernel: sk.KernelOperator, n_columns: int) -> Array:
    return np.vstack([inverse_scales(k, n_columns) for k in (kernel.k1, kernel.k2)])


@inverse_scales.register
def _(kernel: sk.Exponentiation, n_columns: int) -> Array:
    return inverse_scales(kernel.kernel, n_columns)


@inverse_scales.register
def _(kernel: ProductKernel, n_columns: int) -> Array:
    columns = np.eye(n_columns)
    return np.vstack(
        [inverse_scales(k, 1) * column for k, column in zip(kernel.kernels, columns, strict=True)]
    )
