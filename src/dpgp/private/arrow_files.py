"""Arrow IPC files and streams; Feather of version 2 is such a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from dpgp.private.cells import Cells
from dpgp.private.even_batches import even_batches, until_the_end
from dpgp.private.table_file import Piece, clean_names, opened_file
from dpgp.private.tables import CHANGED, TableError

FILE = b"ARROW1"
STREAM = b"\xff\xff\xff\xff"
NOT_ARROW = "the file is not Arrow or Feather of version 2, or damaged; write it again."


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
            reader = _reader(source, where, None, is_stream=is_stream)
            chosen = None if is_stream else tuple(range(reader.num_record_batches))
            return cls(path, where, clean_names(reader.schema.names), is_stream, chosen)

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield some rows at a time."""
        wanted = [self.names.index(name) for name in names]
        order = sorted(wanted)
        with _opened(self.path, self.where) as source:
            reader = _reader(source, self.where, order, is_stream=self.is_stream)
            if clean_names(reader.schema.names) != tuple(self.names[k] for k in order):
                raise TableError(self.where + CHANGED)
            chosen = self.chosen
            batches = reader if chosen is None else map(reader.get_batch, chosen)
            for table in even_batches(until_the_end(batches, self.where + NOT_ARROW)):
                named = table.select([order.index(k) for k in wanted]).rename_columns(list(names))
                yield partial(Cells, named, self.where)

    def parts(self, count: int) -> list[ArrowFile]:
        """Return parts of whole record batches; a stream cannot be cut."""
        if not self.chosen:
            return [self]
        share = -(-len(self.chosen) // count)
        cuts = range(0, len(self.chosen), share)
        return [replace(self, chosen=self.chosen[k : k + share]) for k in cuts]


def _opened(path: str, where: str) -> Any:
    opened_file(path, where).close()  # says why where it is gone, or nobody may read it
    try:
        return pa.OSFile(path, "rb")
    except Exception:
        pass
    raise TableError(where + NOT_ARROW)


def _reader(source: Any, where: str, fields: list[int] | None, *, is_stream: bool) -> Any:
    options = ipc.IpcReadOptions(included_fields=fields) if fields else None
    try:
        return (ipc.open_stream if is_stream else ipc.open_file)(source, options=options)
    except Exception:  # whatever it says may quote the data
        pass
    raise TableError(where + NOT_ARROW)
