"""What privacy needs to know of a kernel: bounds of its values, and whether it is a product.

Any object that is called like a scikit-learn kernel works: ``kernel(X, Y)`` returns the matrix of
covariances, ``kernel.diag(X)`` the variances. A kernel on strings or graphs says so with
``requires_vector_input = False``; one whose variance is bounded says so with ``variance_bound``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.kernels.base import Box
from dpgp.kernels.envelopes import BoxCells, Envelope
from dpgp.kernels.formula import batch_diag, batch_gram
from dpgp.kernels.registry import rule_of

Array = NDArray[np.float64]

POINTS = 24
"""Public points at which a kernel is tried out: enough to show one that is no covariance."""

VARIANCE_ROUNDING, EIGENVALUE_ROUNDING = 1e-9, 1e-8
"""Relative errors of a variance and of the smallest eigenvalue that a sound kernel may show."""


def variance_bound(kernel: Any, box: Box | None = None) -> float:
    """Return an upper bound of k(x, x) over the public ``box`` (over everything if None).

    Raises a ValueError where there is none.
    """
    return rule_of(kernel).variance_bound(kernel, box)


def product_factors(kernel: Any, n_columns: int) -> list[Any] | None:
    """Return one-dimensional kernels, one per column, whose product is ``kernel``; None if none."""
    return [kernel] if n_columns == 1 else rule_of(kernel).factors(kernel, n_columns)


def envelope(kernel: Any, cells: BoxCells) -> Envelope:
    """Return range and majorant of ``kernel(z_j, x)``, ``x`` in each cell, ``z_j`` each point."""
    return rule_of(kernel).envelope(kernel, cells)


def is_gaussian_mixture(kernel: Any) -> bool:
    r"""Whether :math:`k(x, z) = \int \exp(-\sum_n t_n (x_n - z_n)^2)\,d\nu(t)`, with ν ≥ 0.

    So are RBF, Matern, RationalQuadratic, constants, and their sums, products and natural powers.
    """
    return rule_of(kernel).is_gaussian_mixture(kernel)


def inverse_scales(kernel: Any, n_columns: int) -> Array:
    """Return the weights 1/ℓ of every column, one row per kernel that depends on the inputs.

    A kernel of one column alone has an infinite length scale, weight 0, along the others.
    """
    return rule_of(kernel).inverse_scales(kernel, n_columns)


def check_kernel(kernel: Any, columns: int) -> None:
    """Refuse a kernel that a fit on [−1, 1]^columns could not use, before anything is released."""
    with np.errstate(divide="ignore", invalid="ignore"):
        is_proper = bool(np.isfinite(kernel.theta).all())  # θ are logarithms
    if not is_proper:
        raise ValueError("`kernel` must have positive, finite hyperparameters.")
    bound = variance_bound(kernel, (np.full(columns, -1.0), np.ones(columns)))
    medians = [mean for mean, _ in rule_of(kernel).log_priors(kernel, columns)]
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
