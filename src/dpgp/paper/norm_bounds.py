r"""Bounds :math:`R_k` on the norm of the kernel vector :math:`k_Z(x) = (k(z_j, x))_j`.

HM21 eqs. 4, 7, 8 and 9, and a certified global maximum. Distances are divided by the length scales.
Proofs: docs/proofs/norm_bounds.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from dpgp.kernels.base import takes_vectors
from dpgp.kernels.bounds import (
    envelope,
    inverse_scales,
    is_gaussian_mixture,
    product_factors,
    variance_bound,
)
from dpgp.kernels.envelopes import BoxCells, bound_sum
from dpgp.point_sets import Grid, as_grid
from dpgp.types import Array

ROUNDING_PER_POINT = 1e-12
"""Relative margin for floating-point error that a certified bound adds per inducing point:
thousands of units in the last place."""

SAME = 1e-12
"""Relative difference of positions or scales that counts as rounding."""

CELL_LIMIT = 100_000
"""Cells after which a search stops and reports the gap that is left."""

BATCH = 256
"""Cells split at a time: enough to be fast, few enough to prune early."""


@dataclass(frozen=True)
class CertifiedBound:
    """A proof that ``attained <= sup ‖k_Z(x)‖ <= upper``, the first reached at ``argmax``."""

    upper: float
    attained: float
    argmax: Array
    cells: int
    method: str

    @property
    def gap(self) -> float:
        """How far ``upper`` can be from the supremum, relative to ``attained``."""
        if self.upper == self.attained:
            return 0.0
        return self.upper / self.attained - 1.0 if self.attained > 0.0 else math.inf


def norm_bound(
    kernel: Any,
    Z: Any,
    rule: str | float = "certified",
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> float:
    """Return the bound on ‖k_Z(x)‖ that ``rule`` names, or ``rule`` itself if it is a number."""
    if not isinstance(rule, str):
        if not 0.0 < rule < math.inf:
            raise ValueError(f"`norm_bound` must be positive and finite, got {rule}.")
        return float(rule)
    if rule == "trivial":
        return trivial_bound(kernel, Z, low, high)
    if rule == "certified":
        vectors = takes_vectors(kernel)
        return (
            certified_bound(kernel, Z, low, high).upper if vectors else eigenvalue_bound(kernel, Z)
        )
    if rule in GLOBAL_RULES:
        return GLOBAL_RULES[rule](kernel, Z)
    names = ", ".join(repr(name) for name in ("trivial", *GLOBAL_RULES, "certified"))
    raise ValueError(f"`norm_bound` must be one of {names} or a positive number, got {rule!r}.")


def trivial_bound(
    kernel: Any, Z: Any, low: ArrayLike | None = None, high: ArrayLike | None = None
) -> float:
    r"""Cauchy–Schwarz, :math:`\|k_Z(x)\|^2 \le \sup_x k(x, x)\sum_j k(z_j, z_j)`.

    HM21 eq. 4, :math:`\sqrt{|Z|}\,\sigma_f^2`, where the variance is constant. Kernels of unbounded
    variance need the box [low, high].
    """
    points = Z.points if isinstance(Z, Grid) else Z
    box = None if low is None and high is None else _box(_points(Z).shape[1], low, high)
    return math.sqrt(variance_bound(kernel, box) * float(np.sum(kernel.diag(points))))


def eigenvalue_bound(kernel: Any, Z: Any) -> float:
    r"""Return :math:`(\sup_x k(x, x)\,\lambda_{\max}(K_{ZZ}))^{1/2}`, without distances or a box.

    Never above Cauchy–Schwarz, which has the trace of :math:`K_{ZZ}` in the place of its largest
    eigenvalue; what "certified" means for kernels on strings and graphs.
    Proof: docs/proofs/norm_bounds.md.
    """
    largest = float(np.linalg.eigvalsh(np.asarray(kernel(Z)))[-1])
    if largest <= 0.0:
        raise ValueError("`inducing_points` must not all have variance 0 under `kernel`.")
    return math.sqrt(variance_bound(kernel) * largest) * (1.0 + ROUNDING_PER_POINT * len(Z))


def one_dimensional_bound(kernel: Any, Z: Any) -> float:
    r"""The bound for one input whose inducing points are at least :math:`d_z` apart, HM21 eq. 7.

    With :math:`h = \lfloor|Z|/2\rfloor`, :math:`c = \lceil|Z|/2\rceil`:
    :math:`\sigma_f^4 (\sum_{j=0}^{h} 2 k_r(j d_z)^2 + (c - h) k_r(c\,d_z)^2)`, as printed. It holds
    with two terms to spare, so that for one or two points it exceeds eq. 4.
    """
    points = _points(Z)
    if points.shape[1] != 1:
        raise ValueError(
            f"`Z` must have one column for the one-dimensional bound, got {points.shape[1]}; "
            "use 'separated' or 'certified'."
        )
    radial, spacing = _radial(kernel, points, "one-dimensional")
    floor, ceil = len(points) // 2, (len(points) + 1) // 2
    pairs = radial(spacing * np.arange(floor + 1.0)) ** 2
    rest = radial(np.array([spacing * ceil])) ** 2
    return math.sqrt(2.0 * pairs.sum() + (ceil - floor) * rest[0])


def separated_bound(kernel: Any, Z: Any) -> float:
    r"""The bound for points at least :math:`d_z` apart, HM21 eq. 8.

    :math:`\sigma_f^4 (1 + (|Z| - 1) k_r(d_z/2)^2)`: at most one point is nearer than half of
    :math:`d_z`.
    """
    points = _points(Z)
    radial, spacing = _radial(kernel, points, "separated")
    nearest, others = radial(np.array([0.0, spacing / 2.0])) ** 2
    return math.sqrt(nearest + (len(points) - 1) * others)


def grid_centre_bound(kernel: Any, grid: Any) -> float:
    r"""The norm at the centre of a regular grid with an odd number of points a side, HM21 eq. 9.

    Differs from HM21: that the centre is the global maximum is proved, and for every mixture of
    Gaussians rather than the exponentiated quadratic alone.
    """
    points = _points(grid)
    axes = _grid_axes(points)
    if axes is None or not all(_is_odd_and_regular(axis) for axis in axes):
        raise ValueError(
            "`Z` must be a regular grid with an odd number of points along every column for the "
            "grid-centre bound: on other grids the centre need not be the maximum; use 'certified'."
        )
    if not is_gaussian_mixture(kernel):
        raise _unsuitable("grid-centre")
    centre = np.array([[(axis[0] + axis[-1]) / 2.0 for axis in axes]])
    return float(np.linalg.norm(kernel(points, centre)))


GLOBAL_RULES: dict[str, Callable[[Any, Any], float]] = {
    "one-dimensional": one_dimensional_bound,
    "separated": separated_bound,
    "grid-centre": grid_centre_bound,
}


def certified_bound(
    kernel: Any,
    Z: Any,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    relative_gap: float = 1e-7,
) -> CertifiedBound:
    r"""Enclose :math:`\sup_x \|k_Z(x)\|` over the box [low, high], or over all x if none is given.

    On a grid the norm of a product kernel is :math:`\prod_n (\sum_i k_n(x_n, z_{ni})^2)^{1/2}`, and
    each column is searched alone. The search stops at ``relative_gap``, or after CELL_LIMIT cells
    with a bound that is still valid. Kernels that do not decrease with distance need the box.
    """
    if not (takes_vectors(kernel) or is_gaussian_mixture(kernel)):
        raise ValueError("`kernel` must take rows of numbers to be certified; use 'trivial'.")
    points = _points(Z)
    region = _region(kernel, points, low, high)
    factors, axes = product_factors(kernel, points.shape[1]), _grid_axes(points)
    if points.shape[1] == 1 or factors is None or axes is None:
        return _search(kernel, points, region, relative_gap)
    columns = [
        _search(factor, axis[:, None], region[:, [n]], relative_gap / len(axes))
        for n, (factor, axis) in enumerate(zip(factors, axes, strict=True))
    ]
    argmax = np.concatenate([column.argmax for column in columns])
    attained = float(np.linalg.norm(kernel(argmax[None], points)))
    upper = max(math.prod(column.upper for column in columns), attained)
    return CertifiedBound(upper, attained, argmax, sum(c.cells for c in columns), "product grid")


def _search(kernel: Any, points: Array, region: Array, relative_gap: float) -> CertifiedBound:
    """Best-first branch and bound on ‖k_Z(x)‖² over the box ``region = (low, high)``."""
    margin = 1.0 + ROUNDING_PER_POINT * len(points)
    weights = inverse_scales(kernel, points.shape[1]).max(axis=0, initial=0.0)
    low, high, ceiling = region[:1], region[1:], np.array([math.inf])
    pruned, best, argmax, cells = 0.0, -1.0, region[0], 0
    open_cells = (low[:0], high[:0], ceiling[:0])
    while len(low):
        upper, candidates, values = _bound_cells(kernel, points, low, high)
        cells += len(low)
        if values.max() > best:
            best, argmax = float(values.max()), candidates[values.argmax()]
        children = (low, high, np.minimum(upper, ceiling))
        low, high, ceiling = map(np.concatenate, zip(open_cells, children, strict=True))
        # discard every cell that cannot beat the best value by more than the gap
        active = ceiling > best * ((1.0 + relative_gap) / margin) ** 2
        pruned = max(pruned, ceiling[~active].max(initial=0.0))
        order = np.flatnonzero(active)[np.argsort(-ceiling[active])]
        low, high, ceiling = low[order], high[order], ceiling[order]
        if cells >= CELL_LIMIT:
            break
        open_cells = (low[BATCH:], high[BATCH:], ceiling[BATCH:])
        low, high = _halves(low[:BATCH], high[:BATCH], weights)
        ceiling = np.tile(ceiling[:BATCH], 2)
    largest = max(pruned, best, ceiling.max(initial=0.0))
    upper_norm = math.sqrt(largest) * margin
    return CertifiedBound(upper_norm, math.sqrt(best), argmax, cells, "branch and bound")


def _bound_cells(kernel: Any, Z: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Upper bounds of ‖k_Z(x)‖² on cells, the points that suggest them, and its values there."""
    cells = BoxCells(low, high, Z)
    upper, x = bound_sum(envelope(kernel, cells) ** 2, cells)
    values = np.sum(kernel(x, Z) ** 2, axis=1)
    if not np.all(np.isfinite(upper + values)):
        raise ValueError("`kernel` must have finite values on the box; change its parameters.")
    return upper, x, values


def _halves(low: Array, high: Array, weights: Array) -> tuple[Array, Array]:
    """Both halves of every cell, cut across its widest side in length scales."""
    cut = np.argmax((high - low) * weights, axis=1)[:, None] == np.arange(low.shape[1])
    middle = (low + high) / 2.0
    upper_low, lower_high = np.where(cut, middle, low), np.where(cut, middle, high)
    return np.concatenate([low, upper_low]), np.concatenate([lower_high, high])


def _region(kernel: Any, points: Array, low: ArrayLike | None, high: ArrayLike | None) -> Array:
    """The box (low, high) in which ‖k_Z(x)‖ is as large as anywhere in the public box."""
    box = None if low is None and high is None else _box(points.shape[1], low, high)
    if not is_gaussian_mixture(kernel):
        if box is None or not np.all(np.isfinite(box)):
            raise ValueError(
                "`bounds` of the inputs must be given: this kernel need not decrease with "
                "distance, so its norm can be bounded on a public box only."
            )
        return np.array(box)
    # a step towards the bounding box of Z brings x nearer to every point, in every column
    hull = np.array([points.min(axis=0), points.max(axis=0)])
    return hull if box is None else np.clip(hull, *box)


def _box(n_columns: int, low: ArrayLike | None, high: ArrayLike | None) -> tuple[Array, Array]:
    if low is None or high is None:
        raise ValueError("`low` and `high` must be given together.")
    lows, highs = (np.broadcast_to(np.asarray(e, np.float64), n_columns) for e in (low, high))
    if not np.all(lows <= highs):
        raise ValueError(f"`low` must not exceed `high`, got {lows} and {highs}.")
    return lows, highs


def _points(Z: Any) -> Array:
    points = np.asarray(Z.points if isinstance(Z, Grid) else Z, dtype=np.float64)
    if points.ndim != 2 or points.size == 0 or not np.all(np.isfinite(points)):
        raise ValueError(
            f"`Z` must be a finite matrix with one inducing point a row, got shape {points.shape}."
        )
    return points


def _grid_axes(points: Array) -> tuple[Array, ...] | None:
    """The axes of the grid that the points form in whatever order, or None."""
    grid = as_grid(np.unique(points, axis=0))
    return grid.axes if grid is not None and len(grid) == len(points) else None


def _is_odd_and_regular(axis: Array) -> bool:
    regular = np.linspace(axis[0], axis[-1], len(axis))
    rounding = SAME * (np.ptp(axis) + np.abs(axis).max())
    return len(axis) % 2 == 1 and bool(np.all(np.abs(axis - regular) <= rounding))


def _radial(kernel: Any, points: Array, rule: str) -> tuple[Callable[[Array], Array], float]:
    r"""The kernel as a decreasing function of scaled distance, and the smallest such distance."""
    n_columns = points.shape[1]
    scales = inverse_scales(kernel, n_columns)
    weights = scales[0] if len(scales) else np.ones(n_columns)
    column = int(np.argmax(weights))
    parallel = np.allclose(scales * weights[column], scales[:, [column]] * weights, SAME, 0.0)
    if not (is_gaussian_mixture(kernel) and parallel):
        raise _unsuitable(rule)

    def radial(r: Array) -> Array:
        x = np.zeros((len(r), n_columns))
        x[:, column] = r / weights[column]
        return np.asarray(kernel(x, np.zeros((1, n_columns))))[:, 0]

    spacing = pdist(points * weights).min() if len(points) > 1 else 0.0
    return radial, float(spacing)


def _unsuitable(rule: str) -> ValueError:
    return ValueError(
        f"`kernel` must be a decreasing function of one scaled distance for the {rule} bound "
        "(RBF, Matern, RationalQuadratic, times constants); use 'trivial' or 'certified'."
    )
