"""Whose row it is: every identifier is turned into a key on its own, never beside others.

A container that chooses a common type lets one person's identifier change those of other people:
one missing cell makes a column of integers a column of floats, in which long numbers are no longer
told apart. So a key is a function of one element. Proof: docs/proofs/gram_sensitivity.md, §5.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.coded_rows import elements
from dpgp.numeric import whole_of_decimal

Codes = NDArray[np.intp]
Key = str | bytes

MISSING = {"", ".", "na", "n/a", "#n/a", "nan", "null", "none", "<na>", "nat"}
FIRST_UNSAFE_FLOAT = 2.0**53  # from here on two whole numbers may be one float
_TOO_LONG = 10**1000  # Python refuses to write very long numbers in decimal
_WHOLE = (int, np.integer)
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
    keys = identifiers if _are_numbers(identifiers) else keys_of(identifiers)
    if keys is None:
        return None
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def _are_numbers(identifiers: Sequence[Any]) -> bool:
    """Return whether all are integers, of which equal ones have equal keys."""
    return set(map(type, identifiers)) == {int} and max(map(abs, identifiers)) < _TOO_LONG


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
        return _text_key(identifier)
    if isinstance(identifier, bytes):
        return bytes(identifier) or None
    if isinstance(identifier, bool | np.timedelta64):  # whole numbers to Python and NumPy
        return None
    if isinstance(identifier, _WHOLE):
        return _digits(int(identifier))
    if isinstance(identifier, float):
        safe = identifier.is_integer() and abs(identifier) < FIRST_UNSAFE_FLOAT
        return _digits(int(identifier)) if safe else None
    if isinstance(identifier, Decimal) and (whole := whole_of_decimal(identifier)) is not None:
        return _digits(whole)
    return None


def _text_key(text: str) -> str | None:
    key = str.strip(text)
    if not key.isascii():
        key = unicodedata.normalize("NFC", key)
    return None if len(key) <= 4 and key.casefold() in MISSING else key


def _digits(number: int) -> str | None:
    return str(number) if -_TOO_LONG < number < _TOO_LONG else None


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
    if array.dtype.kind == "f" and not _are_safe(array):
        return None
    if array.dtype.kind in "iuf":
        return np.unique(array, return_inverse=True)[1]
    return codes_of(array.tolist())


def _are_safe(floats: NDArray[np.floating]) -> bool:
    return bool(np.all((np.abs(floats) < FIRST_UNSAFE_FLOAT) & (floats == np.floor(floats))))
