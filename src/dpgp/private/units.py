"""Whose row it is, and which rows of a unit count.

Every identifier is turned into a key on its own, never beside others. A container that chooses a
common type lets one person's identifier change those of other people: one missing cell makes a
column of integers a column of floats, in which long numbers are no longer told apart. So a key is a
function of one element.

The first rows of a unit count, in the order of the table: files by their paths, rows as they stand
in a file. What a unit keeps so depends on that unit's rows alone. Where a unit's rows may lie in
different batches and files, memory holds how many rows the units had so far. It is bounded by going
through the identifiers several times, each time for other units.
Proof: docs/proofs/gram_sensitivity.md, §5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dpgp.categories import FIRST_UNSAFE_FLOAT, clean_text, whole_number
from dpgp.coded_rows import elements
from dpgp.private.tables import CHANGED, TableError

if TYPE_CHECKING:
    from dpgp.private.cells import Cells

# --- whose row it is ------------------------------------------------------------------------------


Codes = NDArray[np.intp]
Key = str | bytes

MISSING = {"", ".", "na", "n/a", "#n/a", "nan", "null", "none", "<na>", "nat"}
_TOO_LONG = 10**1000  # Python refuses to write very long numbers in decimal
_NARROW_FLOAT = re.compile(r"float(?!64)|half|extension|union|run_end")  # or what may hide one

NOT_AN_IDENTIFIER = (
    "`units` must say for every row whose it is, by a whole number or a text; none may be missing, "
    "empty, a fraction, a date, or a float that cannot hold it exactly: fill or remove what is "
    "missing, and pass long numbers as integers or as text."
)
NOT_A_COLUMN = "`units` must hold one identifier for each of the rows of `X`."


def unit_codes(units: Any, rows: int) -> Codes:
    """Return a number for every row, equal where and only where the identifiers' keys are equal."""
    column = _column(units)
    if column is None or len(column) != rows:
        raise ValueError(NOT_A_COLUMN)
    codes = _codes_of_array(column) if isinstance(column, np.ndarray) else codes_of(column)
    if codes is None or _has_merged_people(units):
        raise ValueError(NOT_AN_IDENTIFIER)
    return codes


def codes_of(identifiers: Sequence[Any]) -> Codes | None:
    """Return a number for every key; None where an element is no identifier."""
    # of integers equal ones have equal keys
    are_short = set(map(type, identifiers)) == {int} and max(map(abs, identifiers)) < _TOO_LONG
    keys = identifiers if are_short else keys_of(identifiers)
    return None if keys is None else numbered(keys)[1]


def keys_of(identifiers: Iterable[Any]) -> list[Key] | None:
    """Return the key of every identifier; None where an element is none."""
    keys = []
    for identifier in identifiers:
        key = key_of(identifier)
        if key is None:
            return None
        keys.append(key)
    return keys


def key_of(identifier: Any) -> Key | None:
    """Return the key of one identifier; None for what is missing or cannot be one.

    Text is its own key, in composed characters and without blanks around; a whole number is the
    text of its digits, so 7, 7.0 and "7" are one person, and "07" is another.
    """
    if isinstance(identifier, str):
        key = clean_text(identifier)
        return None if len(key) <= 4 and key.casefold() in MISSING else key
    if isinstance(identifier, bytes):
        return bytes(identifier) or None
    is_narrow = isinstance(identifier, np.floating) and not isinstance(identifier, float)
    number = None if isinstance(identifier, bool) or is_narrow else whole_number(identifier)
    return None if number is None or abs(number) >= _TOO_LONG else str(number)


def _column(units: Any) -> NDArray[Any] | Sequence[Any] | None:
    """Return the elements; an array only where it came with a type, None for what is no column.

    A list is never made an array, which would have one type for all.
    """
    if isinstance(units, list | tuple | range | np.ndarray):
        return None if isinstance(units, np.ndarray) and units.ndim != 1 else units
    if _type_of(units) is None or getattr(units, "ndim", 1) != 1:
        return None
    if isinstance(_type_of(units), np.dtype):
        return np.asarray(units)
    return elements(units)


def _type_of(units: Any) -> Any:
    """Return the type that all elements of a column have; None where each has its own."""
    return getattr(units, "dtype", getattr(units, "type", None))


def _has_merged_people(units: Any) -> bool:
    """Return whether the column may have lost digits, or hides cells, before it came here."""
    kind = _type_of(units)
    inner = getattr(getattr(kind, "categories", None), "dtype", None)
    narrow = any(_NARROW_FLOAT.search(str(one).lower()) for one in (kind, inner))
    return narrow or np.ma.is_masked(units)


def _codes_of_array(array: NDArray[Any]) -> Codes | None:
    if array.dtype.kind in "mM":  # dates would become numbers
        return None
    if array.dtype.kind not in "iuf":
        return codes_of(array.tolist())
    if array.dtype.kind == "f":
        are_exact = (np.abs(array) < FIRST_UNSAFE_FLOAT) & (array == np.floor(array))
        if not are_exact.all():
            return None
    return np.unique(array, return_inverse=True)[1]


# --- which rows of a unit count -------------------------------------------------------------------


Flags = NDArray[np.bool_]
Bits = NDArray[np.uint8]

MOST_UNITS = 2**21
"""Rows of a group of units, and so its units, at most: about 300 MB of identifiers."""
MOST_GROUPS = 64  # each is a pass over the identifiers: 2²⁷ rows in all


def first_rows_of_units(units: Any, rows: int, most: int) -> Flags:
    """Return which rows of an array are among the first ``most`` of their unit."""
    return np.asarray(_place_among_equals(unit_codes(units, rows)) < most)


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
        units, number = numbered(keys)
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


def numbered(keys: Iterable[Hashable]) -> tuple[list[Any], Codes]:
    """Return every key once, and which of these each of the given ones is."""
    numbers: dict[Hashable, int] = {}
    number = [numbers.setdefault(key, len(numbers)) for key in keys]
    return list(numbers), np.array(number, dtype=np.intp)


def _place_among_equals(codes: Codes) -> Codes:
    """Return how many earlier rows have the same code."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order], side="left")
    place = np.empty(len(codes), dtype=np.intp)
    place[order] = np.arange(len(codes)) - starts
    return place
