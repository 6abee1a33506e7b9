"""Points from public information: grids, points that fill a box evenly or stand for a normal law.

They are the same at every call, and need NumPy alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dpgp.types import Array

DIGITS = 60
"""Digits of a number in any base that a double can tell apart."""

PAIR_WEIGHT = 0.01
"""Weight of a coordinate in the error of a lattice: small, so that pairs of them count most."""

EQUAL = 1e-9
"""Errors that are closer than this are equal: the smaller generator is taken."""

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def halton(dimension: int, rows: int, skip: int = 1) -> Array:
    """Return points of Halton (1960) in [0, 1]^D, from number ``skip`` on: the first is a corner.

    Coordinate b of point i has the digits of i in base b, the b-th prime, mirrored at the point.
    """
    numbers = np.arange(skip, skip + rows)
    return np.stack([_mirrored(numbers, base) for base in _primes(dimension)], axis=1)


def _mirrored(numbers: NDArray[np.int64], base: int) -> Array:
    values, share = np.zeros(len(numbers)), 1.0 / base
    for _ in range(DIGITS):
        values += (numbers % base) * share
        numbers, share = numbers // base, share / base
        if not numbers.any():
            break
    return values


def _primes(how_many: int) -> Iterator[int]:
    primes = (k for k in count(2) if all(k % p for p in range(2, math.isqrt(k) + 1)))
    return islice(primes, how_many)


def normal_points(dimension: int, rows: int) -> Array:
    """Return normal quantiles of a lattice, as rows; with many rows of mean 0 and covariance I."""
    normal = ndtri(lattice(dimension, rows))
    if rows < 2 * (dimension + 1):
        return np.asarray(normal)
    root = np.linalg.cholesky(normal.T @ normal / rows)
    return np.asarray(np.linalg.solve(root, normal.T).T)


def lattice(dimension: int, rows: int) -> Array:
    r"""Return points of (0, 1)^D, every coordinate of which has the levels (k + ½)/N.

    .. math:: u_{kj} = ((kz_j + s_j \bmod N) + \tfrac12)/N

    with generators of least error, Sloan & Reztsov (2002), and shifts that keep out of the corners.
    A prime N has the most generators to choose from: N/2 for each coordinate.
    """
    shifts = np.floor(rows * (np.arange(dimension) * GOLDEN % 1.0)).astype(np.int64)
    steps = np.outer(np.arange(rows), _generators(dimension, rows)) + shifts
    return np.asarray((steps % rows + 0.5) / rows)


def _generators(dimension: int, rows: int) -> NDArray[np.int64]:
    r"""Choose one generator after the other, each of the least :math:`\sum_k\prod_j(1 + w B_{kj})`.

    B is :math:`2\pi^2B_2(\{kz_j/N\})`, the error of smooth periodic functions of one coordinate.
    """
    numbers = np.arange(1, max(rows // 2, 1) + 1)
    candidates = numbers[np.gcd(numbers, rows) == 1]
    x = np.outer(candidates, np.arange(rows)) % rows / rows
    factors = 1.0 + PAIR_WEIGHT * 2.0 * np.pi**2 * (x**2 - x + 1.0 / 6.0)
    product, chosen = np.ones(rows), np.zeros(dimension, dtype=np.int64)
    for j in range(dimension):
        errors = factors @ product
        best = int(np.argmax(errors <= errors.min() * (1.0 + EQUAL)))
        product, chosen[j] = product * factors[best], candidates[best]
    return chosen


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
