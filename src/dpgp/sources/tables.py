"""Tables in files, read by column name: CSV, and Parquet where pyarrow is installed.

Messages name columns, which are public; never a cell, a row, or how many there are.
"""

from __future__ import annotations

import csv
import io
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STANDARD_INPUT = "-"
MISSING = {"", "na", "n/a", "nan", "null", "none"}
DELIMITERS = (",", ";", "\t")
MOST_LISTED = 40
_PARQUET = b"PAR1"


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
        return self.columns[_position(self.names, name)]

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

    def labels(self, name: str) -> list[str]:
        """Return a column of identifiers as text; none may be missing."""
        texts = ["" if cell is None else str(cell).strip() for cell in self.cells(name)]
        if any(text.casefold() in MISSING for text in texts):
            raise TableError(
                f"column '{name}' has empty cells, but must say for every row whose it is; "
                "fill them, or remove these rows."
            )
        return texts

    def rows(self) -> Iterator[list[str]]:
        """Return the rows as text."""
        for row in zip(*self.columns, strict=True):
            yield ["" if cell is None else str(cell) for cell in row]


def clean_name(name: str) -> str:
    """Return a column's name in one spelling: composed characters, no blanks around."""
    return unicodedata.normalize("NFC", name).strip()


def read_table(source: str, only: Sequence[str] | None = None) -> Table:
    """Read some columns, or all, of a CSV or Parquet file, or of standard input ("-")."""
    with _open(source) as stream, _plain_errors():
        is_parquet = stream.read(len(_PARQUET)) == _PARQUET
        stream.seek(0)
        return (_read_parquet if is_parquet else _read_csv)(stream, only)


def _open(source: str) -> BinaryIO:
    if source == STANDARD_INPUT:
        return io.BytesIO(sys.stdin.buffer.read())
    try:
        return open(source, "rb")
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        remedy = "name a CSV or Parquet file, or - for standard input"
        raise TableError(f"cannot read '{source}': {reason}; {remedy}.") from None


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Replace messages that may quote the data."""
    try:
        yield
        return
    except UnicodeDecodeError:
        message = "the file is not UTF-8 text; save it as 'CSV UTF-8' or as Parquet."
    except csv.Error:
        message = "the file is not CSV: check its quotation marks."
    raise TableError(message)


def _read_csv(stream: BinaryIO, only: Sequence[str] | None) -> Table:
    with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as lines:
        header = lines.readline()
        rows = csv.reader(chain([header], lines), delimiter=_delimiter(header))
        names = tuple(clean_name(name) for name in next(rows, []))
        positions = _positions(names, only)
        columns: tuple[list[str], ...] = tuple([] for _ in positions)
        for row in filter(None, rows):
            _check_length(row, names)
            for column, position in zip(columns, positions, strict=True):
                column.append(row[position])
    return Table(tuple(names[position] for position in positions), columns)


def _check_length(row: Sequence[str], names: Sequence[str]) -> None:
    if len(row) != len(names):
        raise TableError(
            "some lines have more or fewer cells than the first, which names the columns; put "
            "cells that hold the delimiter into quotation marks."
        )


def _delimiter(header: str) -> str:
    """Return the delimiter that finds most columns in the first line."""
    return max(DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))


def _read_parquet(stream: BinaryIO, only: Sequence[str] | None) -> Table:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise TableError(
            'Parquet files need pyarrow: pip install "dpgp[parquet]", or save the table as CSV.'
        ) from None
    try:
        data = parquet.read_table(stream)
    except (OSError, ValueError):
        raise TableError("the file is not Parquet, or damaged; write it again.") from None
    names = tuple(clean_name(name) for name in data.column_names)
    positions = _positions(names, only)
    columns = tuple(data.column(position).to_pylist() for position in positions)
    return Table(tuple(names[position] for position in positions), columns)


def _positions(names: Sequence[str], only: Sequence[str] | None) -> Sequence[int]:
    if not names:
        raise TableError("the file is empty; its first line must name the columns.")
    return range(len(names)) if only is None else [_position(names, name) for name in only]


def _position(names: Sequence[str], name: str) -> int:
    found = names.count(name)
    if found == 1:
        return names.index(name)
    if found > 1:
        raise TableError(f"the file has several columns '{name}'; rename all but one.")
    if any(map(_is_number, names)):  # perhaps a row of data: not to be repeated
        raise TableError(
            f"the file has no column '{name}', and its first line holds numbers; the first line "
            "must name the columns."
        )
    listed = ", ".join(f"'{other}'" for other in names[:MOST_LISTED])
    more = ", …" if len(names) > MOST_LISTED else ""
    raise TableError(f"the file has no column '{name}'; its columns are {listed}{more}.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(cell: Any) -> float:
    if cell is None:
        return np.nan
    if not isinstance(cell, str):
        return float(cell)
    text = cell.strip()
    if "_" in text:  # 1_000 is a number in Python alone
        raise ValueError
    return np.nan if text.casefold() in MISSING else float(text)
