"""Parquet files, read some thousand rows of the wanted columns at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from dpgp.private.cells import Cells
from dpgp.private.even_batches import even_batches, until_the_end
from dpgp.private.rows import BATCH_ROWS
from dpgp.private.table_file import Piece, clean_names, opened_file
from dpgp.private.tables import CHANGED, TableError

MAGIC = b"PAR1"
NOT_PARQUET = "the file is not Parquet, or damaged; write it again."
_BUFFER = 2**20  # bytes of a column that are read at a time, instead of a whole row group


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
        with _reader(path, where) as reader:
            stored = tuple(reader.schema_arrow.names)
            groups = tuple(range(reader.num_row_groups))
        return cls(path, where, clean_names(stored), stored, groups)

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield some rows at a time."""
        stored = [self.stored_names[self.names.index(name)] for name in names]
        with _reader(self.path, self.where) as reader:
            if tuple(reader.schema_arrow.names) != self.stored_names:
                raise TableError(self.where + CHANGED)
            batches = reader.iter_batches(BATCH_ROWS, list(self.groups), stored, use_threads=True)
            for table in even_batches(until_the_end(batches, self.where + NOT_PARQUET)):
                named = table.select(stored).rename_columns(list(names))
                yield partial(Cells, named, self.where)

    def parts(self, count: int) -> list[ParquetFile]:
        """Return parts of whole row groups."""
        share = -(-len(self.groups) // count) or 1
        cuts = range(0, len(self.groups), share)
        return [replace(self, groups=self.groups[k : k + share]) for k in cuts] or [self]


def _reader(path: str, where: str) -> Any:
    opened_file(path, where).close()  # says why where it is gone, or nobody may read it
    try:
        return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
    except Exception:  # whatever it says may quote the data
        pass
    raise TableError(where + NOT_PARQUET)


def read_whole(content: bytes) -> pa.Table:
    """Return the table that a file with this content holds."""
    try:
        return parquet.read_table(pa.BufferReader(content))
    except Exception:  # whatever it says may quote the data
        pass
    raise TableError(NOT_PARQUET)
