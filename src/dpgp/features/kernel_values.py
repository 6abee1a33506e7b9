"""Kernel values with the inducing points, the features of Honkela & Melkas (2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.features.base import FeatureMap, columnwise_kronecker
from dpgp.features.placement import as_grid
from dpgp.kernels.base import takes_vectors
from dpgp.kernels.bounds import product_factors
from dpgp.kernels.formula import gram_in_place
from dpgp.types import Array


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

    def evaluate(self, X: Any, out: Array | None = None) -> Array:
        """Return k(z_j, x_i)/R_k in row j, column i."""
        values = np.asarray(self.kernel(self.inducing_points, X))
        return np.asarray(np.divide(values, self.norm_bound, out=out))


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

    def evaluate(self, X: Array, out: Array | None = None) -> Array:
        """Return k(z_j, x_i)/R_k in row j, column i."""
        one_dimensional = [
            gram_in_place(kernel, axis[:, None], column[:, None])
            for kernel, axis, column in zip(self.factors, self.axes, X.T, strict=True)
        ]
        one_dimensional[0] /= self.norm_bound
        return columnwise_kronecker(one_dimensional, out)


def kernel_features(kernel: Any, inducing_points: Any, norm_bound: float) -> FeatureMap:
    """Return k_Z(x)/R_k, by the fast path where the kernel is a product and the points a grid."""
    if takes_vectors(kernel):
        grid = as_grid(inducing_points)
        factors = product_factors(kernel, inducing_points.shape[1])
        if grid is not None and factors is not None:
            return GridKernelFeatures(factors, grid.axes, norm_bound)
    return KernelFeatures(kernel, inducing_points, norm_bound)
