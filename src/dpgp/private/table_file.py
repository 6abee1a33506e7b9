"""What every file with a table can do, and what is said where it lacks a column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import BinaryIO, Protocol

from dpgp.private.cells import Cells
from dpgp.private.tables import TableError, clean_name
from dpgp.study.errors import Words

MOST_LISTED = 40  # names of columns in a message: more would bury it

Piece = Callable[[], Cells]
"""Some rows, cheap to draw, and read by whoever calls it."""


class TableFile(Protocol):
    """A file with a table, or a part of one; it can be gone through any number of times."""

    @property
    def where(self) -> str:
        """What messages about it begin with."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        ...

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield some rows of the named columns at a time, in the order of the file."""
        ...

    def parts(self, count: int) -> Sequence[TableFile]:
        """Return about ``count`` parts that can be read apart, in their order."""
        ...


def clean_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns in one spelling."""
    return tuple(clean_name(str(name)) for name in names)


def require(file: TableFile, names: Sequence[str]) -> None:
    """Raise unless all these columns are there, each of them once."""
    if not any(file.names):
        raise TableError(f"{file.where}the table is empty; its first line must name the columns.")
    for name in names:
        if file.names.count(name) > 1:
            raise TableError(
                f"{file.where}the table has several columns '{name}'; rename all but one."
            )
        if name not in file.names:
            found = _what_it_has(file.names, names, name)
            raise TableError(f"{file.where}the table has no column '{name}'; {found}")


def _what_it_has(names: Sequence[str], wanted: Sequence[str], missed: str) -> str:
    # a file without a header has somebody's row in its first line
    if not set(names).intersection(wanted) or any(map(_is_number, names)):
        return "its first line must name the columns, in the same spelling."
    near = get_close_matches(missed, names, n=1)
    meant = f"did you mean '{near[0]}'? Its" if near else "its"
    listed = ", ".join(f"'{other}'" for other in names[:MOST_LISTED])
    more = ", …" if len(names) > MOST_LISTED else ""
    return f"{meant} columns are {listed}{more}."


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def opened_file(path: str, where: str) -> BinaryIO:
    """Open a file to read bytes; an error that says why where that fails."""
    try:
        return open(path, "rb")
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
    kinds = "a CSV, Excel, Stata, Parquet or Arrow file, a folder or a pattern of them"
    named = Words(f"name {kinds}", command=f"name {kinds}, or - for standard input")
    raise TableError(f"cannot read '{path}': {reason}", named)
