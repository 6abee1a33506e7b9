"""Which rows of a unit count.

Some of them do, drawn at random or the first ones in the order of the table: files by their paths,
rows as they stand in a file. A row's place among the rows of its unit, the unit and a key that is
drawn once for a fit decide. What a unit keeps so depends on that unit's rows alone, and it is the
same however the table is cut and whoever reads it. Where a unit's rows may lie in different batches
and files, memory holds how many rows the units had so far, and which of them may count. It is
bounded by going through the identifiers several times, each time for other units.
Proof: docs/proofs/gram_sensitivity.md, §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import blake2b
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dpgp.choices import RowsOfUnit
from dpgp.privacy.noise import key_of_choices
from dpgp.private.identifiers import Codes, Key, column_of, keys_of, unit_codes
from dpgp.private.tables import CHANGED, TableError

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.private.cells import Cells

Flags = NDArray[np.bool_]
Bits = NDArray[np.uint8]
Hashes = NDArray[np.uint64]

MOST_UNITS = 2**21
"""Rows of a group of units, and so its units, at most: about 300 MB of identifiers."""
MOST_GROUPS = 64  # each is a pass over the identifiers: 2²⁷ rows in all

_GOLDEN, _FIRST_FACTOR, _SECOND_FACTOR = (
    np.uint64(factor) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(frozen=True)
class Quota:
    """How many rows of a unit count, and the key by which they are drawn; the first without one.

    Sensitivities hold for every key, so no guarantee rests on its secrecy.
    """

    most: int
    key: bytes | None = None

    @classmethod
    def of(cls, options: Options, seed: int | np.random.Generator | None = None) -> Quota:
        """Return the quota of one fit, with a key of its own where rows are drawn."""
        is_drawn = options.rows_of_unit is RowsOfUnit.RANDOM
        return cls(options.max_rows_per_unit, key_of_choices(seed) if is_drawn else None)

    def __repr__(self) -> str:
        return f"Quota(most={self.most}, ...)"

    def chosen(self, codes: Codes, places: Codes, keys: Callable[[Codes], Iterable[Key]]) -> Flags:
        """Return which rows count: row k is at a place among all rows of the unit ``codes[k]``.

        Those with the smallest hashes of unit and place do, a uniformly random subset. ``keys``
        tells the keys of some units; those whose rows all count need none.
        """
        if self.key is None:
            return np.asarray(places < self.most)
        contested = np.bincount(codes) > self.most
        rivals = np.flatnonzero(contested[codes])
        starts, crowded = np.zeros(len(contested), dtype=np.uint64), np.flatnonzero(contested)
        starts[crowded] = [_keyed_hash(key, self.key) for key in keys(crowded)]
        hashes = _stream(starts[codes[rivals]], places[rivals])
        rivals = rivals[np.argsort(hashes)]  # no two of a unit are equal
        kept = np.ones(len(codes), dtype=bool)
        kept[rivals] = _place_among_equals(codes[rivals]) < self.most
        return kept


def _keyed_hash(unit: Key, key: bytes) -> int:
    return int.from_bytes(blake2b(_as_bytes(unit), digest_size=8, key=key).digest(), "little")


def _stream(starts: Hashes, places: Codes) -> Hashes:
    """Return SplitMix64's numbers at these places (Steele, Lea & Flood 2014): one-to-one in them.

    The start is all its state, so that any place is known without those before.
    """
    mixed = starts + (places.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST_FACTOR
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND_FACTOR
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _as_bytes(unit: Key) -> bytes:
    return unit.encode("utf-8", "surrogatepass") if isinstance(unit, str) else unit


def rows_of_units(units: Any, rows: int, quota: Quota) -> Flags:
    """Return which rows of an array count."""
    codes = unit_codes(units, rows)

    def keys(crowded: Codes) -> list[Key]:
        column, first = column_of(units), np.unique(codes, return_index=True)[1]
        found = keys_of(column[row] for row in first[crowded].tolist())  # type: ignore[index]
        assert found is not None  # or there were no codes
        return found

    return quota.chosen(codes, _place_among_equals(codes), keys)


def rows_that_count(
    pieces: Callable[[], Iterable[Cells]], sizes: Sequence[int], unit: str, quota: Quota
) -> list[Bits]:
    """Return for every piece, as bits, which rows count."""
    groups = number_of_groups(sizes)
    if groups > MOST_GROUPS:
        raise TableError(
            f"column '{unit}' has more rows than memory can hold to know which ones of every unit "
            "count; fit on a cluster, or cut the table into groups of people, each with all their "
            "rows, and fit one."
        )
    found = (rows_of_group(pieces(), sizes, unit, quota, k, groups) for k in range(groups))
    return reduce(either, found)


def file_by_file(kept: list[Bits], sizes: Sequence[Sequence[int]]) -> list[tuple[Bits, ...] | None]:
    """Return the bits of all pieces for every file, whose pieces have these sizes."""
    bits = iter(kept)
    return [tuple(islice(bits, len(counts))) for counts in sizes]


def number_of_groups(sizes: Sequence[int]) -> int:
    """Return into how many groups units are cut, so that memory holds the counts of one."""
    return -(-sum(sizes) // MOST_UNITS) or 1


def rows_of_group(
    pieces: Iterable[Cells], sizes: Sequence[int], unit: str, quota: Quota, group: int, groups: int
) -> list[Bits]:
    """Return the same for the units of one group; no row of another group counts."""
    seen = UnitRows(quota, group, groups)
    for cells in _of_sizes(pieces, sizes):
        seen.take(*cells.identifiers(unit))
    return seen.kept(sizes)


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


class UnitRows:
    """Rows of a group of units that may count; groups are cut by the identifiers alone.

    Of a unit with more rows than memory holds, those that lost against others are forgotten.
    """

    def __init__(self, quota: Quota, group: int = 0, groups: int = 1) -> None:
        self._quota, self._group, self._groups = quota, group, groups
        self._numbers: dict[Key, int] = {}
        self._counts = np.zeros(0, dtype=np.intp)  # rows of every unit so far
        self._read = 0
        # unit, place among its rows and place in the table of every row that may count
        self._rivals = [np.zeros((3, 0), dtype=np.intp)]
        self._held, self._room = 0, MOST_UNITS

    def __repr__(self) -> str:
        return "UnitRows(...)"

    def take(self, codes: Codes, keys: Sequence[Key]) -> None:
        """Take the next rows; row k is of the unit ``keys[codes[k]]``."""
        numbers = np.array([self._number(key) for key in keys], dtype=np.intp)[codes]
        mine = np.flatnonzero(numbers >= 0)
        numbers = numbers[mine]
        new = len(self._numbers) - len(self._counts)
        self._counts = np.concatenate([self._counts, np.zeros(new, dtype=np.intp)])
        places = self._counts[numbers] + _place_among_equals(numbers)
        self._counts += np.bincount(numbers, minlength=len(self._counts))
        self._rivals.append(np.stack([numbers, places, self._read + mine]))
        self._read += len(codes)
        self._held += len(mine)
        if self._held > self._room:
            self._forget_losers()

    def _number(self, unit: Key) -> int:
        """Return the number of a unit; none below zero but for those of other groups."""
        if self._groups > 1 and crc32(_as_bytes(unit)) % self._groups != self._group:
            return -1
        return self._numbers.setdefault(unit, len(self._numbers))

    def _forget_losers(self) -> None:
        rivals = np.concatenate(self._rivals, axis=1)
        units = list(self._numbers)
        kept = self._quota.chosen(rivals[0], rivals[1], lambda some: [units[k] for k in some])
        self._rivals = [rivals[:, kept]]
        self._held = int(kept.sum())
        self._room = max(MOST_UNITS, 2 * self._held)

    def kept(self, sizes: Sequence[int]) -> list[Bits]:
        """Return which of all rows count, as bits, in pieces of these sizes."""
        self._forget_losers()
        rows = np.sort(self._rivals[0][2])
        ends = np.cumsum(sizes, dtype=np.intp)
        parts = np.split(rows, np.searchsorted(rows, ends))[:-1]
        return [
            _bits(part - (end - size), size)
            for part, end, size in zip(parts, ends, sizes, strict=True)
        ]


def _bits(rows: Codes, size: int) -> Bits:
    flags = np.zeros(size, dtype=bool)
    flags[rows] = True
    return np.packbits(flags)


def _place_among_equals(codes: Codes) -> Codes:
    """Return how many earlier rows have the same code."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order], side="left")
    place = np.empty(len(codes), dtype=np.intp)
    place[order] = np.arange(len(codes)) - starts
    return place
