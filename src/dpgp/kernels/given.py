"""Kernels that a user can give beside scikit-learn's, and that work with its operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import CompoundKernel, Kernel

from dpgp.kernels.base import takes_vectors
from dpgp.kernels.known import as_kernel
from dpgp.types import Array


class NormalizedKernel(Kernel):  # type: ignore[misc]
    r"""Any kernel divided by its standard deviations, so that its variance is at most one.

    .. math:: \tilde k(x, x') = k(x, x') / \sqrt{k(x, x)\,k(x', x')}

    and 0 where a variance is 0. The remedy for kernels whose variance has no bound, such as kernels
    that count substrings or subtrees. The hyperparameters of the kernel within are not learned.
    """

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


class ProductKernel(CompoundKernel):  # type: ignore[misc]
    r"""A product of one-dimensional kernels, one per column.

    .. math:: k(x, x') = \prod_n k_n(x_n, x'_n)

    On a grid of inducing points it costs :math:`\sum_n m_n` kernel values a row, not
    :math:`\prod_n m_n`.
    """

    @property
    def theta(self) -> Array:
        """The hyperparameters of all columns, first to last."""
        return np.hstack([kernel.theta for kernel in self.kernels])

    @theta.setter
    def theta(self, theta: Array) -> None:  # scikit-learn's asks for columns of equal length
        ends = np.cumsum([kernel.n_dims for kernel in self.kernels])[:-1]
        for kernel, part in zip(self.kernels, np.split(theta, ends), strict=True):
            kernel.theta = part

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of covariances between the rows of ``X`` and those of ``Y``."""
        return as_kernel(self)(X, Y)

    def diag(self, X: Any) -> Array:
        """Return the variances at the rows of ``X``."""
        return as_kernel(self).diag(X)

    def __repr__(self) -> str:
        return f"ProductKernel({list(self.kernels)!r})"
