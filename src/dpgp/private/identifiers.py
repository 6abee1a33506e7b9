"""Whose row it is.

Every identifier is turned into a key on its own, never beside others. A container that chooses a
common type lets one person's identifier change those of other people: one missing cell makes a
column of integers a column of floats, in which long numbers are no longer told apart. So a key is a
function of one element.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.categories import FIRST_UNSAFE_FLOAT, clean_text, whole_number
from dpgp.coded_rows import elements

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
    column = column_of(units)
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


def column_of(units: Any) -> NDArray[Any] | Sequence[Any] | None:
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


def numbered(keys: Iterable[Hashable]) -> tuple[list[Any], Codes]:
    """Return every key once, and which of these each of the given ones is."""
    numbers: dict[Hashable, int] = {}
    number = [numbers.setdefault(key, len(numbers)) for key in keys]
    return list(numbers), np.array(number, dtype=np.intp)
