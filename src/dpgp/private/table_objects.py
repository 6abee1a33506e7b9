"""Tables that other libraries hold: anything that hands out Arrow data, or `__dataframe__`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import interchange

from dpgp.private.cells import Cells
from dpgp.private.even_batches import even_batches, until_the_end
from dpgp.private.mixed_table import MixedTable
from dpgp.private.rows import BATCH_ROWS
from dpgp.private.table_file import Piece, TableFile, clean_names
from dpgp.private.tables import TableError

READ_ONCE = (
    "the table can be gone through only once, and a fit needs several passes; pass files, a data "
    "frame or a query instead of a reader."
)
NOT_READ = "the table cannot be read as Arrow data; give every column one type, numbers or text."


@dataclass(frozen=True)
class HeldTable:
    """A table in memory."""

    table: pa.Table | MixedTable
    where: str = ""

    def __repr__(self) -> str:
        return "HeldTable(...)"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return clean_names(self.table.column_names)

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield some rows at a time."""
        table = chosen(self.table, self.names, names)
        for start in range(0, table.num_rows, BATCH_ROWS):
            yield partial(Cells, table.slice(start, BATCH_ROWS), self.where)

    def parts(self, count: int) -> list[HeldTable]:
        """Return slices of equal length."""
        share = -(-self.table.num_rows // count) or 1
        cuts = range(0, max(self.table.num_rows, 1), share)
        return [HeldTable(self.table.slice(k, share), self.where) for k in cuts]


@dataclass(frozen=True)
class StreamedTable:
    """What gives its rows anew for every pass, such as a query of DuckDB."""

    stream: Any
    names: tuple[str, ...]
    where: str = ""

    def __repr__(self) -> str:
        return "StreamedTable(...)"

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield some rows at a time."""
        for table in even_batches(until_the_end(_reader(self.stream), NOT_READ)):
            yield partial(Cells, chosen(table, self.names, names), self.where)

    def parts(self, count: int) -> list[StreamedTable]:
        """Return itself: a query cannot be cut."""
        return [self]


def open_object(source: Any, *, hold: bool) -> TableFile:
    """Return a table that another library holds; ``hold`` reads a query once, and keeps it.

    A query may give its rows in another order the next time, and then nobody knows which rows of a
    unit were the first.
    """
    if isinstance(source, pa.RecordBatchReader):
        raise TableError(READ_ONCE)
    table = _held(source)
    if table is not None:
        return HeldTable(table)
    if hold:
        return HeldTable(_read_all(source))
    return StreamedTable(source, clean_names(_reader(source).schema.names))


def is_table(source: Any) -> bool:
    """Return whether an object hands out Arrow data or `__dataframe__`."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__")


def _held(source: Any) -> pa.Table | MixedTable | None:
    """Return a table that is in memory already; None for a query."""
    try:
        if isinstance(source, pa.Table):
            return source
        if hasattr(source, "iloc"):  # pandas, whose index is no column
            return MixedTable.of_pandas(source)
        if hasattr(source, "get_columns"):  # polars
            return pa.table(source)
        if not hasattr(source, "__arrow_c_stream__"):
            return interchange.from_dataframe(source)
    except Exception:  # whatever it says may quote the data
        pass
    else:
        return None
    raise TableError(NOT_READ)


def _read_all(source: Any) -> pa.Table:
    try:
        return _reader(source).read_all()
    except TableError:
        raise
    except Exception:  # whatever it says may quote the data
        pass
    raise TableError(NOT_READ)


def _reader(source: Any) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(source)
    except Exception:  # whatever it says may quote the data
        pass
    raise TableError(NOT_READ)


def chosen(table: Any, names: Sequence[str], wanted: Sequence[str]) -> Any:
    """Return the wanted columns, by their names in one spelling."""
    return table.select([names.index(name) for name in wanted]).rename_columns(list(wanted))
