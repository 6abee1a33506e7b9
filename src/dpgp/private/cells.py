"""Cells of a table: some rows of some columns, each cell read on its own.

Messages name the file and the column, which are public; never a cell, a row, or how many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpgp.categories import Category
from dpgp.private.identifiers import MISSING, Key, keys_of
from dpgp.private.tables import TableError

DECIMALS = {".": "a decimal point (or a comma everywhere, and --decimal ,)", ",": "a decimal comma"}
"""Marks that numbers may be written with, and what they are called."""

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
T = TypeVar("T")


@dataclass(frozen=True)
class Cells:
    """Some rows of a table; raw data, never shown by its repr.

    ``where`` begins messages: the file, or nothing. ``decimal`` is the mark in numbers that are
    written as text.
    """

    table: pa.Table
    where: str = ""
    decimal: str = "."

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return "Cells(...)"

    def numbers(self, name: str) -> Array:
        """Return a column as numbers; missing ones, in whatever spelling, are NaN."""
        column = self._column(name)
        if _is_time(column.type):
            raise TableError(
                f"{self.where}column '{name}' holds dates or times; make them numbers of one unit "
                "first, such as days since a public date."
            )
        found = numbers_of(self._with_points(column))
        if found is None:
            raise TableError(
                f"{self.where}column '{name}' holds cells that are not numbers; write numbers with "
                f"{DECIMALS[self.decimal]} and without units, and leave missing ones empty."
            )
        return found

    def levels(self, name: str, category: Category) -> Array:
        """Return the numbers of levels; NaN for a cell that is none of them."""
        codes, cells = self._distinct(name)
        return category.numbers(cells)[codes]

    def known_levels(self, name: str, category: Category) -> Array:
        """Return the numbers of levels; NaN for missing cells, an error for any other."""
        codes, cells = self._distinct(name)
        numbers = category.numbers(cells)
        if not all(is_missing(cells[k]) for k in np.flatnonzero(np.isnan(numbers)).tolist()):
            raise TableError(
                f"{self.where}column '{name}' has cells that are none of the model's levels: "
                f"{category.words}; write levels in this spelling, and leave missing ones empty."
            )
        return numbers[codes]

    def identifiers(self, name: str) -> tuple[Codes, list[Key]]:
        """Return keys, equal for one person's rows alone, and which of them each row has."""
        codes, cells = self._distinct(name)
        keys = keys_of(cells)
        if keys is None:
            raise TableError(
                f"{self.where}column '{name}' must say for every row whose it is, by a text or a "
                "whole number; fill or remove what is missing, and store long numbers as integers "
                "or text."
            )
        return codes, keys

    def _with_points(self, column: pa.Array) -> pa.Array:
        """Return text with points for decimal commas; a point then stands in no number."""
        if self.decimal == "." or not _is_text(column.type):
            return column
        marked = pc.replace_substring_regex(column, r"\.(\d)", r"_\1")  # _ is in no number
        marked = pc.replace_substring_regex(marked, r"(\d)\.", r"\1_")
        return pc.replace_substring(marked, self.decimal, ".")

    def _column(self, name: str) -> pa.Array:
        column = self.table.column(name).combine_chunks()
        # views of text cannot be encoded
        return column.cast(pa.large_string()) if str(column.type) == "string_view" else column

    def _distinct(self, name: str) -> tuple[Codes, list[Any]]:
        """Return cells as Python has them, most of them once, and which of them each row has."""
        found = _or_none(lambda: _encoded(self._column(name)))
        if found is None:
            raise TableError(
                f"{self.where}column '{name}' cannot be read; store it as numbers or as text."
            )
        return found


def numbers_of(column: pa.Array) -> Array | None:
    """Return every cell as a number, NaN for a missing one; None where a cell is none."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return numbers_of(column.dictionary_decode())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return _or_none(lambda: _floats(column))
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if _is_text(kind):
        return _numbers_in_text(column)
    return _cell_by_cell(column) if pa.types.is_decimal(kind) else None


def is_missing(cell: Any) -> bool:
    """Return whether a cell stands for no value, in whatever spelling."""
    if isinstance(cell, str):
        return cell.strip().casefold() in MISSING
    return cell is None or cell != cell  # NaN is the one number that differs from itself


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _numbers_in_text(column: pa.Array) -> Array | None:
    """Try the quick ways first: plain numbers, then blanks and missing ones among them."""
    for read in (lambda: _floats(column), lambda: _floats(_without_missing(column))):
        found = _or_none(read)
        if found is not None:
            return found
    return _cell_by_cell(column)


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


def _cell_by_cell(column: pa.Array) -> Array | None:
    found = _or_none(lambda: [_number(cell) for cell in column.to_pylist()])
    return None if found is None else np.array(found, dtype=np.float64)


def _number(cell: Any) -> float:
    if cell is None:
        return np.nan
    if not isinstance(cell, str):
        return float(cell)
    text = cell.strip()
    if "_" in text:  # 1_000 is a number in Python alone
        raise ValueError
    return np.nan if text.casefold() in MISSING else float(text)


def _encoded(column: pa.Array) -> tuple[Codes, list[Any]]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_integer(column.type) or _is_text(column.type)):
        # floats that compare equal, and types that cannot be encoded
        return np.arange(len(column)), _python_cells(column)
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy().astype(np.intp), encoded.dictionary.to_pylist()


def _python_cells(column: pa.Array) -> list[Any]:
    """Return cells as Python has them, narrow floats as such: nobody may take them for exact."""
    cells: list[Any] = column.to_pylist()
    if str(column.type) in ("float", "halffloat"):
        return [None if cell is None else np.float32(cell) for cell in cells]
    return cells


def _or_none(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Exception:  # whatever it says may quote the data
        return None
