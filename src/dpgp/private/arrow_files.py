"""Files that Arrow reads: Parquet, and Arrow IPC files and streams, of which Feather 2 is one.

They are read some thousand rows of the wanted columns at a time, in batches of one size, whatever
the library makes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import ipc, parquet

from dpgp.private.cells import Cells
from dpgp.private.rows import BATCH_ROWS
from dpgp.private.tables import CHANGED, Piece, TableError, clean_names, opened_file, or_refused

PARQUET = b"PAR1"
NOT_PARQUET = "the file is not Parquet, or damaged; write it again."
_BUFFER = 2**20  # bytes of a column that are read at a time, instead of a whole row group
ARROW_FILE = b"ARROW1"
ARROW_STREAM = b"\xff\xff\xff\xff"
NOT_ARROW = "the file is not Arrow or Feather of version 2, or damaged; write it again."


def even_pieces(
    batches: Iterable[Any], names: Sequence[str], where: str, failed: str
) -> Iterator[Piece]:
    """Yield cells of the named columns in pieces of one size; a TableError where reading fails."""
    for table in even_batches(until_the_end(batches, failed)):
        yield partial(Cells, chosen(table, names), where)


def chosen(table: Any, names: Sequence[str]) -> Any:
    """Return the columns of these names, whose spelling is cleaned."""
    found = clean_names(table.column_names)
    return table.select([found.index(name) for name in names]).rename_columns(list(names))


def even_batches(batches: Iterable[Any]) -> Iterator[pa.Table]:
    """Yield the same rows in tables of one size, the last one shorter.

    Where batches end depends on the columns that are read. Rows that count are told by their place
    in a batch, so that batches of two passes must agree.
    """
    waiting: list[Any] = []
    missing = BATCH_ROWS
    for batch in batches:
        for start in _cuts(batch.num_rows, missing):
            part = batch.slice(start, missing)
            waiting.append(part)
            missing -= part.num_rows
            if not missing:
                yield pa.Table.from_batches(waiting)
                waiting, missing = [], BATCH_ROWS
    if waiting:
        yield pa.Table.from_batches(waiting)


def until_the_end(batches: Iterable[Any], message: str) -> Iterator[Any]:
    """Yield what a library reads; a TableError in these words where it fails."""
    reading = iter(batches)
    while (batch := or_refused(lambda: next(reading, None), message)) is not None:
        yield batch


def _cuts(rows: int, first: int) -> list[int]:
    """Return where the parts of a batch begin, of which the first fills what is waiting."""
    return [0, *range(first, rows, BATCH_ROWS)] if rows else []


def _shares(items: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """Cut items into about ``count`` parts."""
    size = -(-len(items) // count) or 1
    return [items[k : k + size] for k in range(0, len(items), size)]


# --- Parquet --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, or some of its row groups."""

    path: str
    where: str
    names: tuple[str, ...]
    stored_names: tuple[str, ...]
    groups: tuple[int, ...]

    @classmethod
    def opened(cls, path: str, where: str) -> ParquetFile:
        """Read what the end of the file says of its columns."""
        with _parquet_reader(path, where) as reader:
            stored = tuple(reader.schema_arrow.names)
            groups = tuple(range(reader.num_row_groups))
        return cls(path, where, clean_names(stored), stored, groups)

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield some rows at a time."""
        stored = [self.stored_names[self.names.index(name)] for name in names]
        with _parquet_reader(self.path, self.where) as reader:
            if tuple(reader.schema_arrow.names) != self.stored_names:
                raise TableError(self.where + CHANGED)
            batches = reader.iter_batches(BATCH_ROWS, list(self.groups), stored, use_threads=True)
            yield from even_pieces(batches, names, self.where, self.where + NOT_PARQUET)

    def parts(self, count: int) -> list[ParquetFile]:
        """Return parts of whole row groups."""
        return [replace(self, groups=groups) for groups in _shares(self.groups, count)] or [self]


def _parquet_reader(path: str, where: str) -> Any:
    opened_file(path, where).close()  # says why where it is gone, or nobody may read it
    return or_refused(
        lambda: parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False),
        where + NOT_PARQUET,
    )


def read_whole(content: bytes) -> pa.Table:
    """Return the table that a file with this content holds."""
    return or_refused(lambda: parquet.read_table(pa.BufferReader(content)), NOT_PARQUET)


# --- Arrow IPC ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrowFile:
    """A file of record batches, or some of them; None stands for all."""

    path: str
    where: str
    names: tuple[str, ...]
    is_stream: bool
    chosen: tuple[int, ...] | None

    @classmethod
    def opened(cls, path: str, where: str, *, is_stream: bool) -> ArrowFile:
        """Read what the file says of its columns."""
        with _opened(path, where) as source:
            reader = _arrow_reader(source, where, None, is_stream=is_stream)
            chosen = None if is_stream else tuple(range(reader.num_record_batches))
            return cls(path, where, clean_names(reader.schema.names), is_stream, chosen)

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield some rows at a time."""
        read = sorted(self.names.index(name) for name in names)
        with _opened(self.path, self.where) as source:
            reader = _arrow_reader(source, self.where, read, is_stream=self.is_stream)
            if clean_names(reader.schema.names) != tuple(self.names[k] for k in read):
                raise TableError(self.where + CHANGED)
            batches = reader if self.chosen is None else map(reader.get_batch, self.chosen)
            yield from even_pieces(batches, names, self.where, self.where + NOT_ARROW)

    def parts(self, count: int) -> list[ArrowFile]:
        """Return parts of whole record batches; a stream cannot be cut."""
        shares = _shares(self.chosen or (), count)
        return [replace(self, chosen=batches) for batches in shares] or [self]


def _opened(path: str, where: str) -> Any:
    opened_file(path, where).close()  # says why where it is gone, or nobody may read it
    return or_refused(lambda: pa.OSFile(path, "rb"), where + NOT_ARROW)


def _arrow_reader(source: Any, where: str, fields: list[int] | None, *, is_stream: bool) -> Any:
    options = ipc.IpcReadOptions(included_fields=fields) if fields else None
    opened = ipc.open_stream if is_stream else ipc.open_file
    return or_refused(lambda: opened(source, options=options), where + NOT_ARROW)
