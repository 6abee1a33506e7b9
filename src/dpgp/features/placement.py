"""Inducing points from public information: a regular grid, low-discrepancy points, or given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpgp.point_sets import halton
from dpgp.types import Array


@dataclass(frozen=True)
class Grid:
    """Inducing points that are the Cartesian product of one axis per input."""

    axes: tuple[Array, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of points along each axis."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def points(self) -> Array:
        """All points, one a row; the last axis runs fastest."""
        mesh = np.meshgrid(*self.axes, indexing="ij")
        return np.stack(mesh, axis=-1).reshape(-1, len(self.axes))

    def __len__(self) -> int:
        return math.prod(self.shape)


def regular_grid(low: ArrayLike, high: ArrayLike, points_per_axis: int | Sequence[int]) -> Grid:
    """Return equally spaced points that reach from ``low`` to ``high`` along every input.

    >>> regular_grid(0, 1, 3).axes[0].tolist()
    [0.0, 0.5, 1.0]
    """
    lows, highs = np.atleast_1d(np.asarray(low, float)), np.atleast_1d(np.asarray(high, float))
    counts = np.broadcast_to(points_per_axis, lows.shape)
    if np.any(counts < 1):
        raise ValueError(f"`points_per_axis` must be at least 1, got {points_per_axis}.")
    return Grid(tuple(_axis(a, b, int(m)) for a, b, m in zip(lows, highs, counts, strict=True)))


def _axis(low: float, high: float, count: int) -> Array:
    return np.linspace(low, high, count) if count > 1 else np.array([(low + high) / 2])


def low_discrepancy_points(low: ArrayLike, high: ArrayLike, count: int) -> Array:
    """Return ``count`` points of an unscrambled Halton sequence, scaled to the box.

    >>> low_discrepancy_points(0, 1, 3).tolist()
    [[0.5], [0.25], [0.75]]
    """
    if count < 1:
        raise ValueError(f"`count` must be at least 1, got {count}.")
    lows, highs = np.atleast_1d(np.asarray(low, float)), np.atleast_1d(np.asarray(high, float))
    return np.asarray(lows + halton(len(lows), count) * (highs - lows), dtype=np.float64)


def as_grid(points: Any) -> Grid | None:
    """Return the grid whose points these are, in the same order, or None."""
    if isinstance(points, Grid):
        return points
    array = np.asarray(points, dtype=np.float64)
    grid = Grid(tuple(np.unique(column) for column in array.T))
    return grid if len(grid) == len(array) and np.array_equal(grid.points, array) else None
