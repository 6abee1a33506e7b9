"""Tables in files, read by column name: CSV, and Parquet where pyarrow is installed.

Messages name columns, which are public; never a cell, a row, or how many there are.
"""

from __future__ import annotations

import csv
import io
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dpgp.categories import Category
from dpgp.private.csv_lines import MalformedLineError, read_lines
from dpgp.private.identifiers import MISSING, Key, keys_of

Array = NDArray[np.float64]

STANDARD_INPUT = "-"
MOST_LISTED = 40  # names of columns in a message: more would bury it
_PARQUET = b"PAR1"

NOT_UTF_8 = "the file is not UTF-8 text; save it as 'CSV UTF-8' or as Parquet."
NOT_A_LINE_A_ROW = (
    "the file is not CSV with a line for every row: a cell holds a line break, a stray quotation "
    "mark or a NUL; enclose cells with quotation marks in such, double those inside, and remove "
    "line breaks, or save the table as Parquet."
)


class TableError(ValueError):
    """A file that cannot be used as a table; the message names the remedy."""


@dataclass(frozen=True)
class Table:
    """Columns of cells, text or values, under their names; raw data, never shown by its repr."""

    names: tuple[str, ...]
    columns: tuple[Sequence[Any], ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __repr__(self) -> str:
        return "Table(...)"

    def cells(self, name: str) -> Sequence[Any]:
        """Return the cells of a column as they are in the file."""
        (position,) = _positions(self.names, [name])
        return self.columns[position]

    def numbers(self, name: str) -> Array:
        """Return a column as numbers; missing ones, in whatever spelling, are NaN."""
        cells = self.cells(name)
        try:
            return np.array([_number(cell) for cell in cells], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            pass
        raise TableError(
            f"column '{name}' holds cells that are not numbers; write numbers with a decimal point "
            "and without units, and leave missing ones empty."
        )

    def levels(self, name: str, category: Category) -> Array:
        """Return the numbers of levels; NaN for missing cells, an error for any other."""
        cells = self.cells(name)
        numbers = category.numbers(cells)
        if not all(_is_missing(cells[k]) for k in np.flatnonzero(np.isnan(numbers)).tolist()):
            raise TableError(
                f"column '{name}' has cells that are none of the model's levels: {category.words}; "
                "write levels in this spelling, and leave missing ones empty."
            )
        return numbers

    def identifiers(self, name: str) -> list[Key]:
        """Return whose each row is, by keys that are equal for one person's rows alone."""
        keys = keys_of(self.cells(name))
        if keys is None:
            raise TableError(
                f"column '{name}' must say for every row whose it is, by a text or a whole number; "
                "fill or remove what is missing, and store long numbers as integers or text."
            )
        return keys

    def require(self, names: Sequence[str]) -> None:
        """Raise unless all these columns are there, each of them once."""
        _positions(self.names, names)

    def rows(self) -> Iterator[list[str]]:
        """Return the rows as text."""
        for row in zip(*self.columns, strict=True):
            yield ["" if cell is None else str(cell) for cell in row]


def clean_name(name: str) -> str:
    """Return a column's name in one spelling: composed characters, no blanks around."""
    return unicodedata.normalize("NFC", name).strip()


def read_table(source: str, only: Sequence[str] | None = None) -> Table:
    """Read some columns, or all, of a CSV or Parquet file, or of standard input ("-")."""
    with _open(source) as stream:
        is_parquet = stream.read(len(_PARQUET)) == _PARQUET
        stream.seek(0)
        try:
            return (_read_parquet if is_parquet else _read_csv)(stream, only)
        except UnicodeDecodeError:
            message = NOT_UTF_8
        except (MalformedLineError, csv.Error):
            message = NOT_A_LINE_A_ROW
    raise TableError(message)  # outside: no error that quotes the data stands behind it


def _open(source: str) -> BinaryIO:
    if source == STANDARD_INPUT:
        return io.BytesIO(sys.stdin.buffer.read())
    try:
        return open(source, "rb")
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        remedy = "name a CSV or Parquet file, or - for standard input"
        raise TableError(f"cannot read '{source}': {reason}; {remedy}.") from None


def _read_csv(stream: BinaryIO, only: Sequence[str] | None) -> Table:
    with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="\n") as text:
        rows = read_lines(text)
        names = tuple(clean_name(name) for name in next(rows, []))
        positions = _positions(names, only)
        columns: tuple[list[str], ...] = tuple([] for _ in positions)
        for row in rows:
            _check_length(row, names)
            for column, position in zip(columns, positions, strict=True):
                column.append(row[position])
    return Table(tuple(names[position] for position in positions), columns)


def _check_length(row: Sequence[str], names: Sequence[str]) -> None:
    if len(row) != len(names):
        raise TableError(
            "some lines have more or fewer cells than the first, which names the columns; put "
            "cells that hold the delimiter into quotation marks, and remove blank lines."
        )


def _read_parquet(stream: BinaryIO, only: Sequence[str] | None) -> Table:
    data = _parquet_data(stream)
    names = tuple(clean_name(name) for name in data.column_names)
    positions = _positions(names, only)
    columns = [_parquet_cells(data.column(position)) for position in positions]
    found = [(names[k], cells) for k, cells in zip(positions, columns, strict=True)]
    for name, cells in found:
        if cells is None:
            raise TableError(f"column '{name}' cannot be read; store it as numbers or as text.")
    return Table(tuple(name for name, _ in found), tuple(cells or [] for _, cells in found))


def _parquet_data(stream: BinaryIO) -> Any:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise TableError(
            'Parquet files need pyarrow: pip install "dpgp[parquet]", or save the table as CSV.'
        ) from None
    try:
        return parquet.read_table(stream)
    except Exception:  # whatever it says may quote the data
        pass
    raise TableError("the file is not Parquet, or damaged; write it again.")


def _parquet_cells(column: Any) -> list[Any] | None:
    """Return the cells of a column, narrow floats as such: nobody may take them for exact."""
    try:
        cells: list[Any] = column.to_pylist()
    except Exception:  # whatever it says may quote the data
        return None
    if str(column.type) in ("float", "halffloat"):
        return [None if cell is None else np.float32(cell) for cell in cells]
    return cells


def _positions(names: Sequence[str], only: Sequence[str] | None) -> Sequence[int]:
    """Return where columns are; the others are listed only if one that was asked for is there."""
    if not any(names):
        raise TableError("the file is empty; its first line must name the columns.")
    if only is None:
        return range(len(names))
    for name in only:
        if names.count(name) > 1:
            raise TableError(f"the file has several columns '{name}'; rename all but one.")
        if name not in names:
            raise TableError(f"the file has no column '{name}'; {_what_it_has(names, only)}")
    return [names.index(name) for name in only]


def _what_it_has(names: Sequence[str], only: Sequence[str]) -> str:
    # a file without a header has somebody's row in its first line
    if not set(names).intersection(only) or any(map(_is_number, names)):
        return "its first line must name the columns, in the same spelling."
    listed = ", ".join(f"'{other}'" for other in names[:MOST_LISTED])
    more = ", …" if len(names) > MOST_LISTED else ""
    return f"its columns are {listed}{more}."


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().casefold() in MISSING
    return cell is None or cell != cell  # NaN is the one number that differs from itself


def _number(cell: Any) -> float:
    if cell is None:
        return np.nan
    if not isinstance(cell, str):
        return float(cell)
    text = cell.strip()
    if "_" in text:  # 1_000 is a number in Python alone
        raise ValueError
    return np.nan if text.casefold() in MISSING else float(text)
