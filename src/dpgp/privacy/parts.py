"""Disjoint parts of the rows: whoever is in one of them pays for what it is asked, and no other.

Every row draws its part, independently of all others and of what it holds. Which part a row is in
stays secret, so that neighbours may have their rows in any order, and any number of them.
Proof: docs/proofs/parallel_parts.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import shake_128

import numpy as np
from numpy.typing import NDArray

from dpgp.privacy.noise import NoiseSource

KEY_NUMBERS = 4
"""Uniform doubles that make a key: 212 random bits."""

BLOCK = 2**14
"""Rows whose draws are one output of the generator: a row's draw needs those of its block alone."""

Draws = NDArray[np.uint64]


@dataclass(frozen=True)
class RowPart:
    """One of so many parts of the rows, by its number from one on; public."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"part {self.number} of {self.of} does not exist.")

    @property
    def fraction(self) -> float:
        """Its share of the rows, but for the luck of their draws."""
        return 1.0 / self.of

    def __str__(self) -> str:
        return f"part {self.number} of {self.of}"


@dataclass(frozen=True)
class Dealing:
    """Who is in which part: SHAKE128 under a key that is drawn once for a fit, and kept secret."""

    key: bytes

    @classmethod
    def drawn(cls, source: NoiseSource) -> Dealing:
        """Return a new dealing; under simulation it follows from the seed."""
        return cls(struct.pack(f"<{KEY_NUMBERS}d", *(source.uniform() for _ in range(KEY_NUMBERS))))

    def __repr__(self) -> str:
        return "Dealing(...)"

    def holds(self, part: RowPart, start: int, rows: int) -> NDArray[np.bool_]:
        """Return which of so many rows are in a part, the first at place ``start`` of its table."""
        # 32 random bits times the number of parts: which part is what stands before the point
        drawn = self._draws(start, rows) * np.uint64(part.of) >> np.uint64(32)
        return np.asarray(drawn == np.uint64(part.number - 1))

    def _draws(self, start: int, rows: int) -> Draws:
        """Return 32 random bits for every row, the same however rows are cut."""
        first, last = start // BLOCK, (start + max(rows, 1) - 1) // BLOCK
        draws = np.concatenate([self._block(number) for number in range(first, last + 1)])
        return draws[start - first * BLOCK :][:rows]

    def _block(self, number: int) -> Draws:
        bits = shake_128(self.key + number.to_bytes(8, "little")).digest(4 * BLOCK)
        return np.frombuffer(bits, dtype="<u4").astype(np.uint64)


@dataclass(frozen=True)
class DealtPart:
    """One part of a dealing: what a source needs to find its rows."""

    part: RowPart
    dealing: Dealing

    def holds(self, start: int, rows: int) -> NDArray[np.bool_]:
        """Return which of so many rows are in it, the first at place ``start`` of its table."""
        return self.dealing.holds(self.part, start, rows)


class PaidByUnit:
    r"""What one unit pays at most, release by release: what all rows were asked, and dearest parts.

    .. math:: \sum_{k\ \mathrm{all}} \mu_k^2 + \max_p \sum_{k\ \mathrm{of}\ p} \mu_k^2

    Parts are disjoint only where their numbers are out of the same; otherwise each is paid for.
    """

    def __init__(self) -> None:
        self.total = Fraction(0)
        self._paid: dict[RowPart, Fraction] = {}
        self._dearest: dict[int, Fraction] = {}

    def with_one_more(self, part: RowPart | None, price: Fraction) -> Fraction:
        """Return the total with a release of this price, which is not booked."""
        if part is None:
            return self.total + price
        beyond = self._paid.get(part, 0) + price - self._dearest.get(part.of, 0)
        return self.total + max(beyond, Fraction(0))

    def add(self, part: RowPart | None, price: Fraction) -> None:
        """Book a release of this price."""
        self.total = self.with_one_more(part, price)
        if part is not None:
            self._paid[part] = self._paid.get(part, 0) + price
            self._dearest[part.of] = max(self._dearest.get(part.of, Fraction(0)), self._paid[part])


def dearest(prices: Iterable[tuple[RowPart | None, Fraction]]) -> Fraction:
    """Return what one unit pays at most for all of these."""
    paid = PaidByUnit()
    for part, price in prices:
        paid.add(part, price)
    return paid.total
