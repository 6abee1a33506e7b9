"""Kernels of the scaled distance: k(x, y) = g(s), s = Σ_n (x_n − y_n)²/ℓ_n²."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import NUMPY, Library, transposed
from dpgp.kernels.base import Box, Tree
from dpgp.kernels.envelopes import BoxCells, Envelope
from dpgp.kernels.leaf import Leaf
from dpgp.kernels.parameters import LOG_LENGTH_SD, Measure, Parameter, half_ranges

Array = NDArray[np.float64]

ONE_LENGTH = Parameter("length_scale", "length", Measure.LENGTH, half_ranges, LOG_LENGTH_SD)
IN_CACHE = 2**16
"""Numbers of a temporary that stays in the cache of a core."""

LENGTHS = replace(ONE_LENGTH, per_input=True)


class Radial(Leaf):
    """g is convex, decreasing, 1 at 0, and a mixture of Gaussians."""

    @abstractmethod
    def radial(self, tree: Tree, squares: Any, library: Library) -> Any:
        """Return g(s) of ``squares``, (thetas, |X|, |Y|)."""

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return g(Σ_n (x_n − y_n)²/ℓ_n²)."""
        squares = (transposed(X, library)[:, :, None] - transposed(Y, library)[:, None, :]) ** 2
        lengths = tree["length_scale"] + 0.0 * Y[:1, :]  # a row for each θ, a column an input
        return self.radial(tree, library.einsum("td,dnm->tnm", lengths**-2.0, squares), library)

    def gram_of(self, kernel: Any, X: Array, Y: Array) -> Array:
        """Return g(Σ_n (x_n − y_n)²/ℓ_n²) with few temporaries."""
        lengths = np.broadcast_to(kernel.length_scale, X.shape[1])
        squares: Any = None
        for x, y, length in zip(X.T, Y.T, lengths.tolist(), strict=True):
            distance = (x / length)[:, None] - y / length
            distance *= distance
            squares = distance if squares is None else np.add(squares, distance, out=squares)
        return self.radial_in_place(self.tree_of(kernel), squares)

    def radial_in_place(self, tree: Tree, squares: Array) -> Array:
        """Return g(s) of one θ; ``squares`` may be overwritten."""
        return np.asarray(self.radial(tree, squares[None], NUMPY)[0])

    def weighted_gram(self, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t g_t(s_t), a few θ at a time: temporaries beyond the cache cost more."""
        squares = ((X.T[:, :, None] - Y.T[:, None, :]) ** 2).reshape(X.shape[1], -1)
        total, step = np.zeros(squares.shape[1]), max(IN_CACHE // max(squares.shape[1], 1), 1)
        for start in range(0, len(weights), step):
            few = slice(start, start + step)
            part = {name: value[few] for name, value in tree.items() if name != "type"}
            lengths = np.broadcast_to(part["length_scale"], (len(weights[few]), X.shape[1]))
            s = (lengths**-2.0 @ squares).reshape(-1, len(X), len(Y))
            values = self.radial(tree | part, s, NUMPY)
            total += weights[few] @ values.reshape(len(values), -1)
        return total.reshape(len(X), len(Y))

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return g(0) = 1."""
        return 1.0 + 0.0 * tree["length_scale"][:, :1]

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return g(0) = 1."""
        return 1.0

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return g between its values at the nearest and farthest point, below its chord."""
        scale = np.broadcast_to(kernel.length_scale, cells.points.shape[1:])
        near = np.sum((cells.nearest / scale) ** 2, axis=-1)
        far = np.sum((cells.farthest / scale) ** 2, axis=-1)
        low, high = _correlation(kernel, np.sqrt(far)), _correlation(kernel, np.sqrt(near))
        chord = np.divide(low - high, far - near, out=np.zeros_like(low), where=far > near)
        return Envelope(low, high, low, np.minimum(chord, 0.0)[..., None] / scale**2)

    def is_gaussian_mixture(self, kernel: Any) -> bool:
        """Return True, by Schoenberg's theorem: g is completely monotone in s."""
        return True


def _correlation(kernel: Any, r: Array) -> Array:
    """Return g at distance ``r`` divided by the length scale."""
    unit = copy(kernel)
    unit.length_scale = 1.0
    values = unit(r.reshape(-1, 1), np.zeros((1, 1))).reshape(r.shape)
    return np.where(r > 0.0, values, 1.0)
