"""Which rows of a unit count, where a unit's rows may lie in different batches and files.

The first rows count, in the order of the table: files by their paths, rows as they stand in a file.
What a unit keeps so depends on that unit's rows alone. Proof: docs/proofs/gram_sensitivity.md, §5.

Memory holds how many rows the units had so far. It is bounded by going through the identifiers
several times, each time for other units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice, zip_longest
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dpgp.private.cells import Cells, Codes
from dpgp.private.identifiers import Key
from dpgp.private.tables import CHANGED, TableError

Flags = NDArray[np.bool_]
Bits = NDArray[np.uint8]

MOST_UNITS = 2**21
"""Rows of a group of units, and so its units, at most: about 300 MB of identifiers."""
MOST_GROUPS = 64  # each is a pass over the identifiers: 2²⁷ rows in all


def first_rows(
    pieces: Callable[[], Iterable[Cells]], sizes: Sequence[int], unit: str, most: int
) -> list[Bits]:
    """Return for every piece, as bits, which rows are among the first ``most`` of their unit."""
    groups = number_of_groups(sizes)
    if groups > MOST_GROUPS:
        raise TableError(
            f"column '{unit}' has more rows than memory can hold to know the first ones of every "
            "unit; fit on a cluster, or cut the table into groups of people, each with all their "
            "rows, and fit one."
        )
    found = (first_of_group(pieces(), sizes, unit, most, k, groups) for k in range(groups))
    return reduce(either, found)


def file_by_file(kept: list[Bits], sizes: Sequence[Sequence[int]]) -> list[tuple[Bits, ...] | None]:
    """Return the bits of all pieces for every file, whose pieces have these sizes."""
    bits = iter(kept)
    return [tuple(islice(bits, len(counts))) for counts in sizes]


def number_of_groups(sizes: Sequence[int]) -> int:
    """Return into how many groups units are cut, so that memory holds the counts of one."""
    return -(-sum(sizes) // MOST_UNITS) or 1


def first_of_group(
    pieces: Iterable[Cells], sizes: Sequence[int], unit: str, most: int, group: int, groups: int
) -> list[Bits]:
    """Return the same for the units of one group; no row of another group counts."""
    seen = UnitCounts(most, group, groups)
    read = _of_sizes(pieces, sizes)
    return [np.packbits(seen.take(*cells.identifiers(unit))) for cells in read]


def _of_sizes(pieces: Iterable[Cells], sizes: Sequence[int]) -> Iterator[Cells]:
    """Yield the pieces; an error where they are not as large as they were when they were read."""
    for cells, size in zip_longest(pieces, sizes):
        if cells is None or len(cells) != size:
            raise TableError(CHANGED if cells is None else cells.where + CHANGED)
        yield cells


def either(first: list[Bits], second: list[Bits]) -> list[Bits]:
    """Return which rows count in one of two groups."""
    return [a | b for a, b in zip(first, second, strict=True)]


def unpacked(bits: Bits, size: int) -> Flags:
    """Return flags of so many rows."""
    return np.unpackbits(bits, count=size).astype(bool)


class UnitCounts:
    """How many rows every unit of a group had so far; groups are cut by the identifiers alone."""

    def __init__(self, most: int, group: int = 0, groups: int = 1) -> None:
        self._most, self._group, self._groups = most, group, groups
        self._counts: dict[Key, int] = {}

    def __repr__(self) -> str:
        return "UnitCounts(...)"

    def take(self, codes: Codes, keys: Sequence[Key]) -> Flags:
        """Return which of the next rows count; row k is of the unit ``keys[codes[k]]``."""
        units, number = _numbered(keys)
        codes = number[codes]
        mine = np.array([self._is_mine(unit) for unit in units], dtype=bool)
        before = np.array([self._counts.get(unit, 0) for unit in units], dtype=np.intp)
        kept = mine[codes] & (before[codes] + _place_among_equals(codes) < self._most)
        added = np.bincount(codes, minlength=len(units))
        for k in np.flatnonzero(mine).tolist():
            self._counts[units[k]] = int(before[k] + added[k])
        return np.asarray(kept)

    def _is_mine(self, unit: Key) -> bool:
        text = unit.encode("utf-8", "surrogatepass") if isinstance(unit, str) else unit
        return self._groups == 1 or crc32(text) % self._groups == self._group


def _numbered(keys: Sequence[Key]) -> tuple[list[Key], Codes]:
    """Return every key once, and which of these each of the given ones is."""
    numbers: dict[Key, int] = {}
    number = [numbers.setdefault(key, len(numbers)) for key in keys]
    return list(numbers), np.array(number, dtype=np.intp)


def _place_among_equals(codes: Codes) -> Codes:
    """Return how many earlier rows have the same code."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order], side="left")
    place = np.empty(len(codes), dtype=np.intp)
    place[order] = np.arange(len(codes)) - starts
    return place
