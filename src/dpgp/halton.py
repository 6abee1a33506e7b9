"""Points that fill a cube evenly, the same at every call."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from dpgp.types import Array

DIGITS = 60
"""Digits of a number in any base that a double can tell apart."""


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
