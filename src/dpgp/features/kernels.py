"""The kernel vocabulary: scikit-learn's kernel objects, and what privacy needs to know of them.

Any object that is called like a scikit-learn kernel works: ``kernel(X, Y)`` returns the matrix of
covariances, ``kernel.diag(X)`` the variances. A kernel on strings or graphs says so with
``requires_vector_input = False``; one whose variance is bounded says so with ``variance_bound``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Kernel,
    Matern,
    NormalizedKernelMixin,
    Product,
    Sum,
    WhiteKernel,
)

Array = NDArray[np.float64]


class ProductKernel(CompoundKernel):  # type: ignore[misc]
    r"""A product of one-dimensional kernels, one per column.

    .. math:: k(x, x') = \prod_n k_n(x_n, x'_n)

    On a grid of inducing points it costs :math:`\sum_n m_n` kernel values a row, not
    :math:`\prod_n m_n`.
    """

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of covariances between the rows of ``X`` and those of ``Y``."""
        pairs = zip(self.kernels, _columns(X), _columns(X if Y is None else Y), strict=True)
        if Y is None:
            return np.asarray(np.prod([kernel(x) for kernel, x, _ in pairs], axis=0))
        return np.asarray(np.prod([kernel(x, y) for kernel, x, y in pairs], axis=0))

    def diag(self, X: Any) -> Array:
        """Return the variances at the rows of ``X``."""
        pairs = zip(self.kernels, _columns(X), strict=True)
        return np.asarray(np.prod([kernel.diag(x) for kernel, x in pairs], axis=0))


class NormalizedKernel(Kernel):  # type: ignore[misc]
    r"""Any kernel divided by its standard deviations, so that its variance is at most one.

    .. math:: \tilde k(x, x') = k(x, x') / \sqrt{k(x, x)\,k(x', x')}

    and 0 where a variance is 0. The remedy for kernels whose variance has no bound, such as kernels
    that count substrings or subtrees.
    """

    variance_bound = 1.0

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of correlations between the elements of ``X`` and those of ``Y``."""
        columns = X if Y is None else Y
        scale = np.multiply.outer(self._inverse_std(X), self._inverse_std(columns))
        return np.asarray(self.kernel(X, columns) * scale, dtype=np.float64)

    def diag(self, X: Any) -> Array:
        """Return 1, or 0 where the kernel's own variance is 0."""
        return (np.asarray(self.kernel.diag(X)) > 0).astype(np.float64)

    def is_stationary(self) -> bool:
        """Return whether the kernel within is stationary."""
        return bool(self.kernel.is_stationary())

    @property
    def requires_vector_input(self) -> bool:
        """Whether the kernel within takes rows of numbers."""
        return takes_vectors(self.kernel)

    def __repr__(self) -> str:
        return f"NormalizedKernel({self.kernel!r})"

    def _inverse_std(self, X: Any) -> Array:
        variance = np.asarray(self.kernel.diag(X), dtype=np.float64)
        inverse = np.zeros_like(variance)
        np.divide(1.0, np.sqrt(variance), out=inverse, where=variance > 0)
        return inverse


def _columns(X: Any) -> list[Array]:
    return [column[:, None] for column in np.atleast_2d(np.asarray(X, dtype=np.float64)).T]


def takes_vectors(kernel: Any) -> bool:
    """Return whether the kernel is defined on rows of numbers rather than on strings or graphs."""
    return bool(getattr(kernel, "requires_vector_input", True))


def product_factors(kernel: Any, n_columns: int) -> list[Any] | None:
    """Return one-dimensional kernels, one per column, whose product is ``kernel``; None if none."""
    return [kernel] if n_columns == 1 else _factors(kernel, n_columns)


@singledispatch
def _factors(kernel: Any, n_columns: int) -> list[Any] | None:
    return None


@_factors.register
def _(kernel: RBF, n_columns: int) -> list[Any] | None:
    # exp(−½ Σ_n (x_n − x'_n)²/ℓ_n²) = ∏_n exp(−½ (x_n − x'_n)²/ℓ_n²)
    return [RBF(length) for length in np.broadcast_to(kernel.length_scale, n_columns)]


@_factors.register
def _(kernel: Matern, n_columns: int) -> list[Any] | None:
    return None  # scikit-learn derives Matern from RBF, but it does not factorise


@_factors.register
def _(kernel: ConstantKernel, n_columns: int) -> list[Any] | None:
    return [kernel] + [ConstantKernel(1.0)] * (n_columns - 1)


@_factors.register
def _(kernel: ProductKernel, n_columns: int) -> list[Any] | None:
    return list(kernel.kernels) if len(kernel.kernels) == n_columns else None


@_factors.register
def _(kernel: Product, n_columns: int) -> list[Any] | None:
    first, second = _factors(kernel.k1, n_columns), _factors(kernel.k2, n_columns)
    if first is None or second is None:
        return None
    return [a * b for a, b in zip(first, second, strict=True)]


@_factors.register
def _(kernel: Exponentiation, n_columns: int) -> list[Any] | None:
    factors = _factors(kernel.kernel, n_columns)
    return None if factors is None else [factor**kernel.exponent for factor in factors]


Box = tuple[Sequence[float] | Array, Sequence[float] | Array]


@singledispatch
def variance_bound(kernel: Any, box: Box | None = None) -> float:
    """Return an upper bound of k(x, x) over the public ``box`` (over everything if None).

    Raises a ValueError where there is none.
    """
    declared = getattr(kernel, "variance_bound", None)
    if declared is not None:
        return float(declared)
    if isinstance(kernel, NormalizedKernelMixin):
        return 1.0
    raise ValueError(
        f"`kernel` must have a bounded variance, and none is known for {type(kernel).__name__}; "
        "wrap it in NormalizedKernel, or give it a float attribute `variance_bound`."
    )


@variance_bound.register
def _(kernel: ConstantKernel, box: Box | None = None) -> float:
    return float(kernel.constant_value)


@variance_bound.register
def _(kernel: WhiteKernel, box: Box | None = None) -> float:
    return float(kernel.noise_level)


@variance_bound.register
def _(kernel: Sum, box: Box | None = None) -> float:
    return variance_bound(kernel.k1, box) + variance_bound(kernel.k2, box)


@variance_bound.register
def _(kernel: Product, box: Box | None = None) -> float:
    return variance_bound(kernel.k1, box) * variance_bound(kernel.k2, box)


@variance_bound.register
def _(kernel: Exponentiation, box: Box | None = None) -> float:
    return float(variance_bound(kernel.kernel, box) ** kernel.exponent)


@variance_bound.register
def _(kernel: ProductKernel, box: Box | None = None) -> float:
    boxes = [None] * len(kernel.kernels) if box is None else _interval_boxes(box)
    return math.prod(variance_bound(k, b) for k, b in zip(kernel.kernels, boxes, strict=True))


@variance_bound.register
def _(kernel: DotProduct, box: Box | None = None) -> float:
    if box is None:
        raise ValueError(
            "`kernel` must have a bounded variance, and DotProduct grows without limit; "
            "give public `bounds` for the inputs, or wrap it in NormalizedKernel."
        )
    # max ‖x‖² over the box is reached in a corner
    corner = np.maximum(np.abs(box[0]), np.abs(box[1]))
    return float(kernel.sigma_0**2 + corner @ corner)


def _interval_boxes(box: Box) -> list[Box | None]:
    return [([low], [high]) for low, high in zip(*box, strict=True)]
