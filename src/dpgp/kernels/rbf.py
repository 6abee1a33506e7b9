"""The squared exponential."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.kernels.base import Tree
from dpgp.kernels.plain import rbf
from dpgp.kernels.radial import LENGTHS, Radial

Array = NDArray[np.float64]


class RBFRule(Radial):
    r"""Smooth functions, :math:`k(x, y) = \exp(-\tfrac12 \sum_n (x_n - y_n)^2/\ell_n^2)`."""

    name = "RBF"
    part = "smooth part"
    parameters = (LENGTHS,)
    javascript = "separableKernel((s) => Math.exp(-0.5 * s))"

    def radial(self, tree: Tree, squares: Any, library: Library) -> Any:
        """Return exp(−s/2)."""
        return library.exp(-0.5 * squares)

    def radial_in_place(self, tree: Tree, squares: Array) -> Array:
        """Return exp(−s/2) in the memory of s."""
        squares *= -0.5
        return np.exp(squares, out=squares)

    def weighted_gram(self, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t Π_n exp(−½ (x_n − y_n)²/ℓ_tn²), on a grid from its axes."""
        axes = grid_axes(X)
        if axes is None:
            return super().weighted_gram(tree, weights, X, Y)
        lengths = np.broadcast_to(tree["length_scale"], (len(weights), X.shape[1]))
        *others, last = map(_on_axis, axes, Y.T, lengths.T)
        last *= weights
        first = reduce(_kronecker, others) if others else np.ones((1, 1, len(weights)))
        return np.asarray(np.matmul(first, last.transpose(0, 2, 1)).reshape(len(Y), -1).T)

    def factors(self, kernel: Any, columns: int) -> list[Any] | None:
        """Return exp(−½ (x_n − y_n)²/ℓ_n²) for every column."""
        return [rbf(float(length)) for length in np.broadcast_to(kernel.length_scale, columns)]


def grid_axes(points: Array) -> list[Array] | None:
    """Return the axes of a grid whose last one runs fastest; None for other points."""
    axes = [np.unique(column) for column in points.T]
    if math.prod(map(len, axes)) != len(points):
        return None
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(points.shape)
    return axes if np.array_equal(grid, points) else None


def _on_axis(axis: Array, y: Array, lengths: Array) -> Array:
    """Return exp(−½ (x − y)²/ℓ²), (|Y|, points of the axis, θ); new memory costs more than it."""
    values = (axis - y[:, None])[:, :, None] ** 2 * (-0.5 * lengths**-2.0)
    np.exp(values, out=values)
    return np.asarray(values)


def _kronecker(first: Array, second: Array) -> Array:
    return (first[:, :, None, :] * second[:, None, :, :]).reshape(len(second), -1, second.shape[2])


RULE = RBFRule()
