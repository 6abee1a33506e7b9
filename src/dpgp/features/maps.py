"""Feature maps: what a row is turned into before it is summed.

A map returns its features as columns, ``(dimension, rows)``: that is the layout in which NumPy
multiplies, rounds and sums them fastest. The features of a row depend on that row alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpgp.features.kernels import product_factors, takes_vectors
from dpgp.features.placement import as_grid

Array = NDArray[np.float64]


class FeatureMap(Protocol):
    """A public function from rows to feature columns of norm at most one."""

    @property
    def dimension(self) -> int:
        """Number of features."""
        ...

    @property
    def rows_per_call(self) -> int | None:
        """How many rows a call takes; None leaves it to the caller."""
        ...

    @property
    def filler(self) -> Any:
        """A public row to stand in for padding and for rows that cannot be used."""
        ...

    def evaluate(self, X: Any) -> Array:
        """Return the features of the rows of ``X`` as columns."""
        ...


@dataclass(frozen=True)
class KernelFeatures:
    r"""Kernel values with the inducing points, :math:`k_Z(x)/R_k` (HM21 eq. 3)."""

    kernel: Any
    inducing_points: Any
    norm_bound: float

    @property
    def dimension(self) -> int:
        """Number of inducing points."""
        return len(self.inducing_points)

    @property
    def rows_per_call(self) -> int | None:
        """One for kernels on strings or graphs, whose calls gain nothing from blocks."""
        return None if takes_vectors(self.kernel) else 1

    @property
    def filler(self) -> Any:
        """The first inducing point."""
        return self.inducing_points[0]

    def evaluate(self, X: Any) -> Array:
        """Return k(z_j, x_i)/R_k in row j, column i."""
        return np.asarray(self.kernel(self.inducing_points, X)) / self.norm_bound


@dataclass(frozen=True)
class GridKernelFeatures:
    r"""The same for a product kernel on a grid, from its one-dimensional factors.

    .. math:: k_Z(x) = k_1(x_1) \otimes \dots \otimes k_D(x_D)
    """

    factors: Sequence[Any]
    axes: Sequence[Array]
    norm_bound: float
    rows_per_call: int | None = None

    @property
    def dimension(self) -> int:
        """Number of grid points."""
        return int(np.prod([len(axis) for axis in self.axes]))

    @property
    def filler(self) -> Array:
        """The first grid point."""
        return np.array([axis[0] for axis in self.axes])

    def evaluate(self, X: Array) -> Array:
        """Return k(z_j, x_i)/R_k in row j, column i."""
        one_dimensional = [
            np.asarray(kernel(axis[:, None], column[:, None]))
            for kernel, axis, column in zip(self.factors, self.axes, X.T, strict=True)
        ]
        one_dimensional[0] = one_dimensional[0] / self.norm_bound
        return reduce(columnwise_kronecker, one_dimensional)


def columnwise_kronecker(first: Array, second: Array) -> Array:
    """Return the Kronecker product of each column of ``first`` with that of ``second``."""
    product = first[:, None, :] * second[None, :, :]
    return product.reshape(-1, first.shape[1])


def kernel_features(kernel: Any, inducing_points: Any, norm_bound: float) -> FeatureMap:
    """Return k_Z(x)/R_k, by the fast path where the kernel is a product and the points a grid."""
    if takes_vectors(kernel):
        grid = as_grid(inducing_points)
        factors = product_factors(kernel, inducing_points.shape[1])
        if grid is not None and factors is not None:
            return GridKernelFeatures(factors, grid.axes, norm_bound)
    return KernelFeatures(kernel, inducing_points, norm_bound)
