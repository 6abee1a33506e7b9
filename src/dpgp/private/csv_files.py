"""CSV files, also compressed by gzip: lines are cut here, cells by pyarrow, all as text."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import BinaryIO, TypeVar

import pyarrow as pa
from pyarrow import csv

from dpgp.private.cells import Cells
from dpgp.private.csv_lines import (
    MalformedLineError,
    cells_of,
    check_lines,
    chunks_of_lines,
    find_delimiter,
    first_line,
)
from dpgp.private.table_file import Piece, clean_names, opened_file
from dpgp.private.tables import DAMAGED, NOT_A_LINE_A_ROW, NOT_UTF_8, UNEQUAL_LINES, TableError

T = TypeVar("T")

GZIP = b"\x1f\x8b"

_END_OF_A_ROW = re.compile(rb"[^\r\n]\r?\n")


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
        header = _decoded(line, where).removeprefix("\ufeff")
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
            _decoded(lines, self.where)
        if len(self.names) > 1 and (lines.startswith(b"\n") or b"\n\n" in lines):
            raise TableError(self.where + UNEQUAL_LINES)
        table = self._table(lines, [self.names.index(name) for name in names])
        if table is None:
            raise TableError(self.where + UNEQUAL_LINES)
        return Cells(table.rename_columns(list(names)), self.where, self.decimal)

    def _table(self, lines: bytes, positions: Sequence[int]) -> pa.Table | None:
        if lines.startswith(BOM_UTF8):  # Arrow drops one wherever it begins to read
            lines = BOM_UTF8 + lines
        every = [str(k) for k in range(len(self.names))]
        quote = '"' if b'"' in lines else False
        wanted = [str(k) for k in positions]
        try:
            return csv.read_csv(
                pa.BufferReader(lines),
                read_options=csv.ReadOptions(
                    column_names=every, use_threads=False, block_size=len(lines) + 1
                ),
                parse_options=csv.ParseOptions(
                    delimiter=self.delimiter, quote_char=quote, ignore_empty_lines=False
                ),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.string()),
                    include_columns=wanted,
                    null_values=[],
                ),
            )
        except Exception:  # whatever it says may quote the data
            return None


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


def _decoded(text: bytes, where: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        pass
    raise TableError(where + NOT_UTF_8)
