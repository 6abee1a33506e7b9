"""Cells of a table: some rows of some columns, each cell read on its own.

Messages name the file and the column, which are public; never a cell, a row, or how many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpgp.categories import Category
from dpgp.dates import HOW_WRITTEN, Days, date_of
from dpgp.missing_codes import NO_CODES
from dpgp.missing_codes import Codes as MissingCodes
from dpgp.numeric import float_of, holds_times
from dpgp.private.identifiers import MISSING, Codes, Key, keys_of, numbered
from dpgp.private.tables import TableError, or_refused
from dpgp.study.errors import Words
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.private.table_objects import MixedTable

_NUMBERS = "write numbers with {} and without units, and leave missing ones empty"
_POINT = _NUMBERS.format("a decimal point (or a comma everywhere, and {})")
DECIMALS = {
    ".": Words(*map(_POINT.format, ('decimal=","', "--decimal ,", "say so under “Columns”"))),
    ",": Words(_NUMBERS.format("a decimal comma")),
}
"""What to do about cells that are no numbers, by the mark that they may be written with."""
TIMES = Words("make them numbers of one unit first, such as days since a public date")

Column = Any
"""An array of Arrow, whole or in chunks, or one of NumPy with Python's objects."""

T = TypeVar("T")


@dataclass(frozen=True)
class Cells:
    """Some rows of a table; raw data, never shown by its repr.

    ``where`` begins messages: the file, or nothing. ``decimal`` is the mark in numbers that are
    written as text.
    """

    table: pa.Table | MixedTable
    where: str = ""
    decimal: str = "."

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return "Cells(...)"

    def numbers(
        self, name: str, codes: MissingCodes = NO_CODES, otherwise: Words | None = None
    ) -> Array:
        """Return a column as numbers; missing ones, in whatever spelling or code, are NaN.

        ``otherwise`` is said first of a column that holds something else: what it may be meant for.
        """
        column = _without_texts(self._read(name), codes)
        if _holds_times(column):
            what, remedy = "dates or times", TIMES
        elif (found := numbers_of(self._with_points(column))) is None:
            what, remedy = "cells that are not numbers", DECIMALS[self.decimal]
        else:
            return codes.without(found) if codes else found
        remedy = remedy if otherwise is None else otherwise.followed_by(", or ", remedy)
        raise TableError(f"{self.where}column '{name}' holds {what}", remedy)

    def levels(self, name: str, category: Category) -> Array:
        """Return the numbers of levels; NaN for a cell that is none of them."""
        codes, cells = self._distinct(name)
        return category.numbers(cells, self.decimal)[codes]

    def known_levels(
        self, name: str, category: Category, missing_codes: MissingCodes = NO_CODES
    ) -> Array:
        """Return the numbers of levels; NaN for missing cells, an error for any other."""
        codes, cells = self._distinct(name)
        numbers = category.numbers(cells, self.decimal)
        others = [cells[k] for k in np.flatnonzero(np.isnan(numbers)).tolist()]
        if not all(is_missing(cell) or missing_codes.has(cell, self.decimal) for cell in others):
            raise TableError(
                f"{self.where}column '{name}' has cells that are none of the model's levels: "
                f"{category.words}; write levels in this spelling, and leave missing ones empty."
            )
        return numbers[codes]

    def days(self, name: str, days: Days, codes: MissingCodes = NO_CODES) -> Array:
        """Return the numbers of dates; NaN for codes, and for cells that are none."""
        column = self._read(name)
        if not isinstance(column, np.ndarray) and _is_date(column.type):
            words = f"{self.where}column '{name}' cannot be read; store it as dates or as text."
            return days.of_array(or_refused(lambda: _local(column), words), codes)
        places, cells = self._distinct(name)
        return days.numbers(cells, codes)[places]

    def known_days(self, name: str, days: Days, codes: MissingCodes = NO_CODES) -> Array:
        """Return the numbers of dates; NaN for missing cells and codes, an error for any other."""
        column = self._read(name)
        if isinstance(column, np.ndarray) or not _is_date(column.type):
            _, cells = self._distinct(name)
            if not all(_may_be_date(cell) or codes.has(cell) for cell in cells):
                raise TableError(
                    f"{self.where}column '{name}' has cells that are no dates; write them "
                    f"{HOW_WRITTEN}, and leave missing ones empty."
                )
        return self.days(name, days, codes)

    def identifiers(self, name: str) -> tuple[Codes, list[Key]]:
        """Return keys, equal for one person's rows alone, and which of them each row has."""
        codes, cells = self._distinct(name)
        keys = keys_of(cells) if _may_identify(self._read(name)) else None
        if keys is None:
            raise TableError(
                f"{self.where}column '{name}' must say for every row whose it is, by a text or a "
                "whole number; fill or remove what is missing, and store long numbers as integers "
                "or text."
            )
        return codes, keys

    def _with_points(self, column: Column) -> Column:
        """Return text with points for decimal commas; a point then stands in no number."""
        if self.decimal == ".":  # the other is a mark of CSV files, which are text throughout
            return column
        marked = pc.replace_substring_regex(column, r"\.(\d)", r"_\1")  # _ is in no number
        marked = pc.replace_substring_regex(marked, r"(\d)\.", r"\1_")
        return pc.replace_substring(marked, self.decimal, ".")

    def _column(self, name: str) -> Column:
        column = self.table.column(name)
        if isinstance(column, np.ndarray):
            return column
        if pa.types.is_dictionary(column.type):  # of which two need not fit into one
            column = column.cast(column.type.value_type)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        # views of text cannot be encoded
        return column.cast(pa.large_string()) if str(column.type) == "string_view" else column

    def _distinct(self, name: str) -> tuple[Codes, list[Any]]:
        """Return cells as Python has them, most of them once, and which of them each row has."""
        return self._or_refused(name, lambda: _encoded(self._column(name)))

    def _read(self, name: str) -> Column:
        return self._or_refused(name, lambda: self._column(name))

    def _or_refused(self, name: str, read: Callable[[], T]) -> T:
        words = f"{self.where}column '{name}' cannot be read; store it as numbers or as text."
        return or_refused(read, words)


def numbers_of(column: Column) -> Array | None:
    """Return every cell as a number, NaN for a missing one; None where a cell is none."""
    if isinstance(column, np.ndarray):
        return _cell_by_cell(column.tolist())
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return _or_none(lambda: _floats(column))
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if _is_text(kind):
        return _numbers_in_text(column)
    return _cell_by_cell(column.to_pylist()) if pa.types.is_decimal(kind) else None


def is_missing(cell: Any) -> bool:
    """Return whether a cell stands for no value, in whatever spelling."""
    if isinstance(cell, str):
        return cell.strip().casefold() in MISSING
    number = _or_none(lambda: float_of(cell))
    return number is not None and np.isnan(number)


def _without_texts(column: Column, codes: MissingCodes) -> Column:
    """Return a column whose cells are missing where they are codes that are no numbers."""
    if not codes.texts:
        return column
    if isinstance(column, np.ndarray):
        masked = column.copy()
        masked[[codes.has_text(cell) for cell in column.tolist()]] = None
        return masked
    if not _is_text(column.type):
        return column
    found = _or_none(lambda: _arrow_without_texts(column, codes))
    return column if found is None else found  # what is no text at all is no number either


def _arrow_without_texts(column: pa.Array, codes: MissingCodes) -> pa.Array:
    clean = pc.utf8_normalize(pc.utf8_trim_whitespace(column), "NFC")
    is_code = pc.is_in(clean, pa.array(sorted(codes.texts), clean.type))
    return pc.if_else(is_code, pa.scalar(None, column.type), column)


def _holds_times(column: Column) -> bool:
    if isinstance(column, np.ndarray):
        return holds_times(column.tolist())
    return bool(pa.types.is_temporal(column.type))


def _is_date(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _may_be_date(cell: Any) -> bool:
    """Return whether a cell is a date or missing, also in types that hold dates alone."""
    return is_missing(cell) or isinstance(cell, date | np.datetime64) or date_of(cell) is not None


def _local(column: pa.Array) -> NDArray[np.datetime64]:
    """Return dates and times as the clocks of their own zone show them."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = pc.local_timestamp(column)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _may_identify(column: Column) -> bool:
    """Return whether a column's type keeps people apart: it is exact, and hides no other type."""
    if isinstance(column, np.ndarray):
        return True  # each cell is asked
    kind = column.type
    return (
        pa.types.is_integer(kind)
        or pa.types.is_float64(kind)
        or pa.types.is_decimal(kind)
        or _is_text(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _numbers_in_text(column: pa.Array) -> Array | None:
    """Try the quick ways first: plain numbers, then blanks and missing ones among them.

    A way counts only where it reads every cell as it would be read by itself: "nan(1)" is a number
    for Arrow alone, and no quick way is trusted with what it calls NaN.
    """
    found = _or_none(lambda: _plain_floats(column))
    if found is None:
        found = _or_none(lambda: _plain_floats(_without_missing(column)))
    return _cell_by_cell(column.to_pylist()) if found is None else found


def _plain_floats(column: pa.Array) -> Array:
    numbers = _floats(column)
    if np.count_nonzero(np.isnan(numbers)) != column.null_count:
        raise ValueError
    return numbers


def _floats(column: pa.Array) -> Array:
    numbers = pc.cast(column, pa.float64(), safe=False)
    if numbers.null_count or len(numbers) == 0:
        return np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    # that way imports pandas, which takes longer than a prediction
    return np.frombuffer(numbers.buffers()[1], np.float64, len(numbers), 8 * numbers.offset).copy()


def _without_missing(column: pa.Array) -> pa.Array:
    text = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(pc.utf8_lower(text), pa.array(sorted(MISSING), text.type))
    return pc.if_else(missing, pa.scalar(None, text.type), text)


def _cell_by_cell(cells: list[Any]) -> Array | None:
    found = _or_none(lambda: [_number(cell) for cell in cells])
    return None if found is None else np.array(found, dtype=np.float64)


def _number(cell: Any) -> float:
    if not isinstance(cell, str):
        return float_of(cell)
    text = cell.strip()
    if "_" in text:  # 1_000 is a number in Python alone
        raise ValueError
    return np.nan if text.casefold() in MISSING else float(text)


def _encoded(column: Column) -> tuple[Codes, list[Any]]:
    if isinstance(column, np.ndarray):
        return _encoded_objects(column.tolist())
    if not (pa.types.is_integer(column.type) or _is_text(column.type)):
        # floats that compare equal, and types that cannot be encoded
        return np.arange(len(column)), column.to_pylist()
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy().astype(np.intp), encoded.dictionary.to_pylist()


def _encoded_objects(cells: list[Any]) -> tuple[Codes, list[Any]]:
    """Tell cells apart by type and value: to Python 1, 1.0 and True are equal."""
    try:
        distinct, codes = numbered((type(cell), cell) for cell in cells)
    except Exception:  # lists have no hash, some numbers refuse to be compared
        return np.arange(len(cells)), cells
    return codes, [cell for _, cell in distinct]


def _or_none(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Exception:  # whatever it says may quote the data
        return None
