"""The names of a table's columns, and nothing else of it: no row is read.

A file without a header has somebody's row in its first line. What cannot be names is refused, in
fixed words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from dpgp.plain_text import is_name
from dpgp.private.csv_lines import MalformedLineError, cells_of, find_delimiter
from dpgp.private.tables import NOT_UTF_8, TableError, clean_name

LONGEST_LINE = 2**20
"""Bytes that a line of names may have; a longer one is no header."""

_PARQUET = b"PAR1"
_NO_NAME = re.compile(
    r"[\W\d]+"  # figures and marks: a number, a time, a telephone
    r"|[-+]?\d+[.,]?\d*e[-+]?\d+"
    r"|.*\d[-/.]\d+[-/.]\d.*"  # a date
    r"|[-+]?inf|nan|na|null|true|false",
    re.IGNORECASE,
)

NO_HEADER = (
    "the first line of the file does not name the columns: it must hold a name for each, no two "
    "alike, none a number or a date. Write one above the rows."
)


@dataclass(frozen=True)
class Header:
    """What columns are called; ``delimiter`` stands between them in a file of text."""

    names: tuple[str, ...]
    delimiter: str | None


def read_header(source: str) -> Header:
    """Read the names of the columns of a CSV or Parquet file."""
    header = _parquet_header(source) if _is_parquet(source) else _text_header(source)
    names = tuple(name for name in header.names if name)
    if not names or len(set(names)) < len(names) or any(map(_is_no_name, names)):
        raise TableError(NO_HEADER)
    return Header(names, header.delimiter)


def _is_no_name(text: str) -> bool:
    return not is_name(text) or _NO_NAME.fullmatch(text) is not None


def _is_parquet(source: str) -> bool:
    return _start(source, len(_PARQUET)) == _PARQUET


def _start(source: str, size: int) -> bytes:
    try:
        with Path(source).open("rb") as file:
            return file.readline(size)
    except (OSError, ValueError):
        raise TableError("the file cannot be read; name a CSV or Parquet file.") from None


def _text_header(source: str) -> Header:
    first = _start(source, LONGEST_LINE)
    try:
        line = first.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
        delimiter = find_delimiter(line)
        return Header(tuple(map(clean_name, cells_of(line, delimiter))), delimiter)
    except UnicodeDecodeError:
        message = NOT_UTF_8
    except MalformedLineError:
        message = NO_HEADER
    raise TableError(message)  # outside: no error that quotes the file stands behind it


def _parquet_header(source: str) -> Header:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise TableError("Parquet files need pyarrow; save the table as CSV.") from None
    try:
        return Header(tuple(map(clean_name, parquet.read_schema(source).names)), None)
    except Exception:  # whatever it says may quote the file
        pass
    raise TableError("the file is not Parquet, or damaged; write it again.")
