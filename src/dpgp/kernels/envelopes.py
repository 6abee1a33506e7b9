r"""What a kernel can do on a box: its range, and a concave quadratic above it.

Everything is vectorised over cells (boxes ``low[c] <= x <= high[c]``) and points ``Z[j]``.
Proofs: docs/proofs/norm_bounds.md.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dpgp.types import Array

ROUNDING = 1e-14
"""Relative error allowed for a dot product of moderate length."""


@dataclass(frozen=True)
class BoxCells:
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

    def column(self, n: int) -> "BoxCells":
        """The cells and points seen along column ``n`` alone."""
        return BoxCells(self.low[:, [n]], self.high[:, [n]], self.points[:, [n]])


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


def bound_sum(terms: Envelope, cells: BoxCells) -> tuple[Array, Array]:
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


def constant_envelope(value: float, cells: BoxCells) -> Envelope:
    """Return the envelope of a kernel with one value everywhere."""
    values = np.full((len(cells.low), len(cells.points)), value)
    return Envelope.flat(values, values, cells.points.shape[1])
