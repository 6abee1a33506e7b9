"""CSV files, also compressed by gzip, in which a line is a row.

What one cell holds can never move another row. A reader that lets cells run over line ends takes
everything up to the next quotation mark for one cell: one person's free text deletes other people.
So lines are cut before cells are, and lines with quotation marks are checked before they are
parsed. Lines are cut here, cells by pyarrow, all as text.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from typing import BinaryIO, TypeVar

import pyarrow as pa
from pyarrow import csv as arrow_csv

from dpgp.private.cells import Cells
from dpgp.private.tables import DAMAGED, Piece, TableError, clean_names, opened_file, or_refused

T = TypeVar("T")

GZIP = b"\x1f\x8b"
DELIMITERS = (",", ";", "\t")
CHUNK_BYTES = 2**22
"""Bytes that are parsed at a time: a few megabytes of cells for a thread."""
LONGEST_LINE = 2**24
"""Bytes of a line at most: memory must hold it."""
_END_OF_A_ROW = re.compile(rb"[^\r\n]\r?\n")

NOT_UTF_8 = "the file is not UTF-8 text; save it as 'CSV UTF-8' or as Parquet."
NOT_A_LINE_A_ROW = (
    "the file is not CSV with a line for every row: a cell holds a line break, a stray quotation "
    "mark or a NUL; enclose cells with quotation marks in such, double those inside, and remove "
    "line breaks, or save the table as Parquet."
)
UNEQUAL_LINES = (
    "some lines have more or fewer cells than the first, which names the columns; put cells that "
    "hold the delimiter into quotation marks, and remove blank lines."
)


@dataclass(frozen=True)
class CsvFile:
    """A CSV file, or its bytes from ``start`` to ``stop``; ``held`` are those of standard input."""

    path: str
    where: str
    names: tuple[str, ...]
    delimiter: str
    start: int
    stop: int | None = None
    held: bytes | None = field(default=None, repr=False)
    decimal: str = "."

    @classmethod
    def opened(cls, path: str, where: str, held: bytes | None = None) -> CsvFile:
        """Read the first line, which names the columns."""
        with _stream(path, where, held) as stream:
            line = _or_error(lambda: first_line(stream), where)
            start = stream.tell()
        header = or_refused(line.decode, where + NOT_UTF_8).removeprefix("\ufeff")
        delimiter = find_delimiter(header)
        names = clean_names(_or_error(lambda: cells_of(header, delimiter), where))
        return cls(path, where, names, delimiter, start, None, held)

    def stream(self) -> BinaryIO:
        """Open its bytes, uncompressed."""
        return _stream(self.path, self.where, self.held)

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield whole lines, to be parsed by whoever takes them."""
        with self.stream() as stream:
            stream.seek(self.start)
            lines = chunks_of_lines(stream, self.stop)
            while (chunk := _or_error(lambda: next(lines, None), self.where)) is not None:
                yield partial(self._parsed, chunk, tuple(names))

    def parts(self, count: int) -> list[CsvFile]:
        """Cut the file after whole rows; a compressed one cannot be cut."""
        with self.stream() as stream:
            if hasattr(stream, "mtime"):  # of gzip
                return [self]
            size = stream.seek(0, io.SEEK_END)
            even = [self.start + (size - self.start) * k // count for k in range(1, count)]
            cuts = [self.start, *(_next_row(stream, at) for at in even), size]
        return [replace(self, start=a, stop=b) for a, b in pairwise(cuts) if a < b] or [self]

    def _parsed(self, lines: bytes, names: Sequence[str]) -> Cells:
        _or_error(lambda: check_lines(lines, self.delimiter), self.where)
        if not lines.isascii():
            or_refused(lines.decode, self.where + NOT_UTF_8)
        if len(self.names) > 1 and (lines.startswith(b"\n") or b"\n\n" in lines):
            raise TableError(self.where + UNEQUAL_LINES)
        positions = [self.names.index(name) for name in names]
        table = or_refused(lambda: self._table(lines, positions), self.where + UNEQUAL_LINES)
        return Cells(table.rename_columns(list(names)), self.where, self.decimal)

    def _table(self, lines: bytes, positions: Sequence[int]) -> pa.Table:
        if lines.startswith(BOM_UTF8):  # Arrow drops one wherever it begins to read
            lines = BOM_UTF8 + lines
        every = [str(k) for k in range(len(self.names))]
        quote = '"' if b'"' in lines else False
        wanted = [str(k) for k in positions]
        return arrow_csv.read_csv(
            pa.BufferReader(lines),
            read_options=arrow_csv.ReadOptions(
                column_names=every, use_threads=False, block_size=len(lines) + 1
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter, quote_char=quote, ignore_empty_lines=False
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(wanted, pa.string()),
                include_columns=wanted,
                null_values=[],
            ),
        )


def _next_row(stream: BinaryIO, at: int) -> int:
    """Return where the first row ends that ends behind byte ``at``; blank lines are none."""
    stream.seek(at)
    behind = b""
    while data := stream.read(io.DEFAULT_BUFFER_SIZE):
        behind += data
        found = _END_OF_A_ROW.search(behind)
        if found:
            return at + found.end()
    return at + len(behind)


def _stream(path: str, where: str, held: bytes | None) -> BinaryIO:
    if held is not None:
        is_plain = not held.startswith(GZIP)
        return io.BytesIO(held if is_plain else _or_error(lambda: gzip.decompress(held), where))
    stream = opened_file(path, where)
    if stream.read(len(GZIP)) != GZIP:
        stream.seek(0)
        return stream
    stream.close()
    return gzip.open(path, "rb")  # type: ignore[return-value]


def _or_error(read: Callable[[], T], where: str) -> T:
    """Return what was read, or raise in words that quote nothing."""
    try:
        return read()
    except MalformedLineError:
        message = NOT_A_LINE_A_ROW
    except (OSError, EOFError, zlib.error):
        message = DAMAGED
    raise TableError(where + message)


# --- lines ----------------------------------------------------------------------------------------


class MalformedLineError(ValueError):
    """A line that is no row; says nothing of what it holds."""


def find_delimiter(header: str) -> str:
    """Return the delimiter that finds most columns in the first line."""
    return max(DELIMITERS, key=lambda mark: _columns_found(header, mark))


def _columns_found(header: str, delimiter: str) -> int:
    try:
        return len(cells_of(header, delimiter))
    except MalformedLineError:
        return 0


def cells_of(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line without its end.

    A cell is enclosed in quotation marks, which are doubled inside, or has none at all.
    """
    check_lines(line.encode() + b"\n", delimiter)
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:  # a cell beyond all limits
        pass
    raise MalformedLineError


def check_lines(lines: bytes, delimiter: str) -> None:
    """Raise unless every line is a row of cells by itself."""
    if b"\0" in lines or b"\r" in lines:
        raise MalformedLineError
    if b'"' in lines and not _well_formed(delimiter).fullmatch(lines):
        raise MalformedLineError


@cache
def _well_formed(delimiter: str) -> re.Pattern[bytes]:
    mark = delimiter.encode()
    cell = rb'(?:"[^"\n]*+(?:""[^"\n]*+)*+"|[^"\n' + mark + rb"]*+)"
    return re.compile(rb"(?:" + cell + rb"(?:" + mark + cell + rb")*+\n)*+")


def first_line(stream: BinaryIO) -> bytes:
    """Return the first line without its end."""
    line = stream.readline(LONGEST_LINE)
    if len(line) == LONGEST_LINE:
        raise MalformedLineError
    return line.removesuffix(b"\n").removesuffix(b"\r")


def chunks_of_lines(stream: BinaryIO, stop: int | None = None) -> Iterator[bytes]:
    r"""Yield whole lines, some megabytes at a time, each ended by ``\n``.

    Reads up to the byte ``stop``. Blank lines that nothing follows are dropped; any other is a row
    with one empty cell.
    """
    rest = b""
    while data := stream.read(_most(stream, stop)):
        rest += data
        cut = _end_of_lines(rest)
        if cut:
            yield _checked(rest[:cut])
            rest = rest[cut:]
        if len(rest.rstrip(b"\r\n")) > LONGEST_LINE:
            raise MalformedLineError
    if rest := rest.rstrip(b"\r\n"):
        yield _checked(rest + b"\n")


def _most(stream: BinaryIO, stop: int | None) -> int:
    return CHUNK_BYTES if stop is None else min(CHUNK_BYTES, stop - stream.tell())


def _end_of_lines(data: bytes) -> int:
    """Return where the last line that is known to be whole ends; blank ones wait for others."""
    content = len(data.rstrip(b"\r\n"))
    if not content:
        return 0
    end = data.find(b"\n", content)
    return (end if end >= 0 else data.rfind(b"\n", 0, content)) + 1


def _checked(lines: bytes) -> bytes:
    """Return lines with plain ends; an error where one is too long, wherever it was cut."""
    lines = lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines
    if len(lines) > LONGEST_LINE and max(map(len, lines.split(b"\n"))) > LONGEST_LINE:
        raise MalformedLineError
    return lines
