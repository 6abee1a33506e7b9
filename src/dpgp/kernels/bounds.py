"""What privacy needs to know of a kernel: bounds of its values, and whether it is a product.

Any object that is called like a scikit-learn kernel works: ``kernel(X, Y)`` returns the matrix of
covariances, ``kernel.diag(X)`` the variances. A kernel on strings or graphs says so with
``requires_vector_input = False``; one whose variance is bounded says so with ``variance_bound``.

The bounds of Honkela & Melkas (2021) are sharper where more is known of a kernel: its factors, its
envelope, whether it is a mixture of Gaussians. Proofs: docs/proofs/norm_bounds.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from dpgp.kernels.base import Box, Kernel
from dpgp.kernels.combined import Exponentiation, Pair, PerColumn, Product, Sum
from dpgp.kernels.envelopes import ROUNDING, BoxCells, Envelope, constant_envelope
from dpgp.kernels.formula import batch_diag, batch_gram
from dpgp.kernels.known import Own, as_kernel
from dpgp.kernels.linear import AdditiveRBF, ConstantKernel, DotProduct, WhiteKernel
from dpgp.kernels.stationary import RBF, ExpSineSquared, MetricRBF, Radial
from dpgp.types import Array

POINTS = 24
"""Public points at which a kernel is tried out: enough to show one that is no covariance."""

VARIANCE_ROUNDING, EIGENVALUE_ROUNDING = 1e-9, 1e-8
"""Relative errors of a variance and of the smallest eigenvalue that a sound kernel may show."""


def variance_bound(kernel: Any, box: Box | None = None) -> float:
    """Return an upper bound of k(x, x) over the public ``box`` (over everything if None).

    Raises a ValueError where there is none.
    """
    return as_kernel(kernel).variance_bound(box)


def check_kernel(kernel: Any, columns: int) -> None:
    """Refuse a kernel that a fit on [−1, 1]^columns could not use, before anything is released."""
    with np.errstate(divide="ignore", invalid="ignore"):
        is_proper = bool(np.isfinite(kernel.theta).all())  # θ are logarithms
    if not is_proper:
        raise ValueError("`kernel` must have positive, finite hyperparameters.")
    bound = variance_bound(kernel, (np.full(columns, -1.0), np.ones(columns)))
    medians = [mean for mean, _ in as_kernel(kernel).log_priors(columns)]
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (POINTS, columns))
    thetas = np.stack([kernel.theta, medians])
    variances = batch_diag(kernel, thetas[:1], points)
    if not variances.max() <= bound * (1.0 + VARIANCE_ROUNDING):
        raise ValueError(
            f"`kernel`: the variance of {kernel} exceeds its `variance_bound` {bound:g}; give the "
            "largest variance that it has on inputs scaled to [-1, 1]."
        )
    shape = (len(thetas), POINTS, POINTS)
    if not _are_covariances(np.broadcast_to(batch_gram(kernel, thetas, points, points), shape)):
        raise ValueError(
            f"`kernel` must be positive definite and finite on inputs scaled to [-1, 1]; {kernel} "
            "is not. Give another kernel."
        )


def _are_covariances(K: Array) -> bool:
    if not np.isfinite(K).all():
        return False
    symmetric = np.allclose(K, np.swapaxes(K, 1, 2))
    eigenvalues = np.linalg.eigvalsh(K)
    return symmetric and bool(
        (eigenvalues[:, 0] >= -EIGENVALUE_ROUNDING * eigenvalues[:, -1]).all()
    )


def product_factors(kernel: Any, n_columns: int) -> list[Any] | None:
    """Return one-dimensional kernels, one per column, whose product is ``kernel``; None if none."""
    return [kernel] if n_columns == 1 else _factors(as_kernel(kernel), n_columns)


def _factors(kernel: Kernel, columns: int) -> list[Any] | None:
    match kernel:
        case RBF():
            return [RBF(float(n)) for n in np.broadcast_to(kernel.length_scale, columns)]
        case ConstantKernel():
            return [kernel] + [ConstantKernel(1.0)] * (columns - 1)
        case Product(k1=k1, k2=k2):
            first, second = _factors(k1, columns), _factors(k2, columns)
            if first is None or second is None:
                return None
            return [*map(Product, first, second)]
        case Exponentiation():
            factors = _factors(kernel.kernel, columns)
            return factors and [Exponentiation(factor, kernel.exponent) for factor in factors]
        case PerColumn():
            return list(kernel.kernels) if len(kernel.kernels) == columns else None
    return None


def is_gaussian_mixture(kernel: Any) -> bool:
    r"""Whether :math:`k(x, z) = \int \exp(-\sum_n t_n (x_n - z_n)^2)\,d\nu(t)`, with ν ≥ 0.

    Such a kernel is positive and decreases with every :math:`|x_n - z_n|`. So are RBF, Matern and
    RationalQuadratic, by Schoenberg's theorem: g is completely monotone in s; constants, Gaussians
    of infinite length; white noise, one of no weight; and their sums, products and natural powers.
    """
    match as_kernel(kernel):
        case Radial() | WhiteKernel():
            return True
        case ConstantKernel(constant_value=value):
            return bool(value >= 0.0)
        case Pair(k1=first, k2=second):
            return is_gaussian_mixture(first) and is_gaussian_mixture(second)
        case Exponentiation(kernel=inner, exponent=p):
            return bool(p >= 1) and float(p).is_integer() and is_gaussian_mixture(inner)
        case PerColumn(kernels=kernels):
            return all(map(is_gaussian_mixture, kernels))
    return False


def inverse_scales(kernel: Any, n_columns: int) -> Array:
    """Return the weights 1/ℓ of every column, one row per kernel that depends on the inputs.

    A kernel of one column alone has an infinite length scale, weight 0, along the others; one in a
    metric changes along an input as fast as √(LLᵀ)_nn/ℓ.
    """
    ours = as_kernel(kernel)
    match ours:
        case ConstantKernel() | WhiteKernel():
            return np.empty((0, n_columns))
        case Pair():
            return np.vstack([inverse_scales(part, n_columns) for part in (ours.k1, ours.k2)])
        case Exponentiation():
            return inverse_scales(ours.kernel, n_columns)
        case PerColumn():
            pairs = zip(ours.kernels, np.eye(n_columns), strict=True)
            return np.vstack([inverse_scales(k, 1) * column for k, column in pairs])
        case MetricRBF():
            norms = np.linalg.norm(np.asarray(ours.root, dtype=np.float64), axis=1)
            return np.asarray(norms[None, :] / ours.length_scale)
        case AdditiveRBF():
            return np.asarray(np.eye(n_columns) / ours.length_scale)
    given = ours.kernel if isinstance(ours, Own) else ours
    weights = 1.0 / np.asarray(getattr(given, "length_scale", 1.0))
    return np.broadcast_to(weights, (1, n_columns))


def envelope(kernel: Any, cells: BoxCells) -> Envelope:
    """Return range and majorant of ``kernel(z_j, x)``, ``x`` in each cell, ``z_j`` each point."""
    ours = as_kernel(kernel)
    match ours:
        case Radial():
            return _radial_envelope(ours, cells)
        case ExpSineSquared():
            return _periodic_envelope(ours, cells)
        case DotProduct():
            return _linear_envelope(ours, cells)
        case ConstantKernel():
            return constant_envelope(float(ours.constant_value), cells)
        case WhiteKernel():  # cov(ε(x), ε(z)) = 0 between different draws, also at x = z
            return constant_envelope(0.0, cells)
        case Sum():
            return envelope(ours.k1, cells) + envelope(ours.k2, cells)
        case Product():
            return envelope(ours.k1, cells) * envelope(ours.k2, cells)
        case Exponentiation():
            return envelope(ours.kernel, cells) ** float(ours.exponent)
        case PerColumn():
            count = len(ours.kernels)
            each = enumerate(ours.kernels)
            return reduce(mul, (envelope(k, cells.column(n)).along(n, count) for n, k in each))
    # k(z, x)² ≤ k(z, z) sup_x k(x, x)
    largest = np.sqrt(ours.variance_bound(None) * kernel.diag(cells.points))
    high = np.tile(largest, (len(cells.low), 1))
    return Envelope.flat(-high, high, cells.points.shape[1])


def _radial_envelope(kernel: Radial, cells: BoxCells) -> Envelope:
    """Return g between its values at the nearest and farthest point, below its chord."""
    scale = np.broadcast_to(kernel.tree()["length_scale"][0], cells.points.shape[1:])
    near = np.sum((cells.nearest / scale) ** 2, axis=-1)
    far = np.sum((cells.farthest / scale) ** 2, axis=-1)
    low, high = _correlation(kernel, np.sqrt(far)), _correlation(kernel, np.sqrt(near))
    chord = np.divide(low - high, far - near, out=np.zeros_like(low), where=far > near)
    return Envelope(low, high, low, np.minimum(chord, 0.0)[..., None] / scale**2)


def _correlation(kernel: Radial, r: Array) -> Array:
    """Return g at distance ``r`` divided by the length scale."""
    unit = replace(kernel, length_scale=1.0)  # type: ignore[call-arg]
    values = unit(r.reshape(-1, 1), np.zeros((1, 1))).reshape(r.shape)
    return np.where(r > 0.0, values, 1.0)


def _periodic_envelope(kernel: ExpSineSquared, cells: BoxCells) -> Envelope:
    """Return the range of sin²(πt): 0 at every integer t, 1 half-way between."""
    turns = [
        np.linalg.norm(d, axis=-1) / kernel.periodicity for d in (cells.nearest, cells.farthest)
    ]
    ends = np.sin(np.pi * np.stack(turns)) ** 2
    bottom = np.where(np.ceil(turns[0]) <= turns[1], 0.0, ends.min(axis=0))
    top = np.where(np.ceil(turns[0] - 0.5) <= turns[1] - 0.5, 1.0, ends.max(axis=0))
    low, high = (np.exp(-2.0 * s / kernel.length_scale**2) for s in (top, bottom))
    return Envelope.flat(low, high, cells.points.shape[1])


def _linear_envelope(kernel: DotProduct, cells: BoxCells) -> Envelope:
    """Return the range of a linear function, from its ends along every column."""
    ends = np.stack([x[:, None, :] * cells.points for x in (cells.low, cells.high)])
    offset = kernel.sigma_0**2
    error = ROUNDING * (offset + np.abs(ends).max(axis=0).sum(axis=-1))
    low = offset + ends.min(axis=0).sum(axis=-1) - error
    high = offset + ends.max(axis=0).sum(axis=-1) + error
    return Envelope.flat(low, high, cells.points.shape[1])
