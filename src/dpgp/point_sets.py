"""Points that fill a cube evenly, or stand for a normal law: the same at every call, from NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray
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
