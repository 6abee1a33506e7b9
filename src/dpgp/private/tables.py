"""What every table can do, and what is said of those that cannot be used.

Whatever holds a table (a file, a part of one, a data frame, a query) gives its columns, by their
names, as :class:`~dpgp.private.cells.Cells`, some rows at a time. Needs none of the libraries that
read tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar

from dpgp.choices import DecimalMark
from dpgp.numeric import what_it_has
from dpgp.plain_text import clean_name as clean_name
from dpgp.study.errors import RefusedError, Words

if TYPE_CHECKING:
    from dpgp.private.cells import Cells

T = TypeVar("T")

STANDARD_INPUT = "-"
NO_HEADER = "its first line must name the columns, in the same spelling."

CHANGED = "the table changed while it was read; leave it alone until the fit is done."
DAMAGED = "the file is damaged, or cut short; write it again."


class TableError(RefusedError):
    """A table that cannot be used; the message names the remedy."""

    code = "table"


class ClusterError(RuntimeError):
    """A cluster that could not do its part; what was not summed was not released."""


def or_refused(read: Callable[[], T], words: str) -> T:
    """Return what a library reads; a TableError in these words where it fails.

    Whatever the library says may quote the data: it is not repeated, and not carried along.
    """
    try:
        return read()
    except Exception:
        pass
    raise TableError(words)


Piece = Callable[[], "Cells"]
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


def marked(files: Iterable[TableFile], decimal: Any) -> list[TableFile]:
    """Return tables whose numbers have that mark, where they are written as text."""
    if decimal not in tuple(DecimalMark):
        raise ValueError("`decimal` must be '.' or ',', the mark in numbers of CSV files.")
    # only files of text have a mark
    return [replace(f, decimal=decimal) if hasattr(f, "decimal") else f for f in files]  # type: ignore[type-var]


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
            found = what_it_has(file.names, names, name) or NO_HEADER
            raise TableError(f"{file.where}the table has no column '{name}'; {found}")


def opened_file(path: str, where: str) -> BinaryIO:
    """Open a file to read bytes; an error that says why where that fails."""
    try:
        return open(path, "rb")
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
    kinds = "a CSV, Excel, Stata, Parquet or Arrow file, a folder or a pattern of them"
    named = Words(f"name {kinds}", command=f"name {kinds}, or - for standard input")
    raise TableError(f"cannot read '{path}': {reason}", named)
