"""The names of a table's columns, and nothing else of it: no row is read.

A file without a header has somebody's row in its first line. What cannot be names is refused, in
fixed words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dpgp.plain_text import is_name
from dpgp.private.csv_files import CsvFile
from dpgp.private.files import open_files
from dpgp.private.tables import TableError

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
    """Read the names of the columns of a file."""
    file = open_files(source)[0]
    names = tuple(name for name in file.names if name)
    if not names or len(set(names)) < len(names) or any(map(_is_no_name, names)):
        raise TableError(f"{file.where}{NO_HEADER}")
    return Header(names, file.delimiter if isinstance(file, CsvFile) else None)


def _is_no_name(text: str) -> bool:
    return not is_name(text) or _NO_NAME.fullmatch(text) is not None
