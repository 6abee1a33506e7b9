"""Tables that other libraries hold: anything that hands out Arrow data, or `__dataframe__`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import interchange

from dpgp.private.arrow_files import chosen, even_pieces
from dpgp.private.cells import Cells, Column
from dpgp.private.rows import BATCH_ROWS, object_array
from dpgp.private.tables import Piece, TableError, TableFile, clean_names, or_refused

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
        table = chosen(self.table, names)
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
        yield from even_pieces(_reader(self.stream), names, self.where, NOT_READ)

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
    table = or_refused(lambda: _held(source), NOT_READ)
    if table is None and hold:
        table = or_refused(lambda: _reader(source).read_all(), NOT_READ)
    if table is not None:
        return HeldTable(table)
    return StreamedTable(source, clean_names(_reader(source).schema.names))


def is_table(source: Any) -> bool:
    """Return whether an object hands out Arrow data or `__dataframe__`."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__")


def _held(source: Any) -> pa.Table | MixedTable | None:
    """Return a table that is in memory already; None for a query."""
    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "iloc"):  # pandas, whose index is no column
        return MixedTable.of_pandas(source)
    if hasattr(source, "get_columns"):  # polars
        return pa.table(source)
    if not hasattr(source, "__arrow_c_stream__"):
        return interchange.from_dataframe(source)
    return None


def _reader(source: Any) -> pa.RecordBatchReader:
    return or_refused(lambda: pa.RecordBatchReader.from_stream(source), NOT_READ)


# --- tables of pandas -----------------------------------------------------------------------------
#
# A column of Python objects has no type. Arrow would give it one, and then a single cell decides
# what all the others are: one of bytes makes a column of texts a column of bytes.


@dataclass(frozen=True)
class MixedTable:
    """Columns of equal length: those of one type are Arrow's, others keep every cell as it is.

    Does what is asked of an Arrow table here. Raw data, never shown.
    """

    column_names: tuple[str, ...]
    columns: tuple[Column, ...]

    @classmethod
    def of_pandas(cls, frame: Any) -> MixedTable:
        """Take the columns of a data frame, whose index is none."""
        columns = (frame.iloc[:, k] for k in range(frame.shape[1]))
        return cls(tuple(map(str, frame.columns)), tuple(map(_column, columns)))

    def __repr__(self) -> str:
        return "MixedTable(...)"

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> Column:
        """Return the column of a name."""
        return self.columns[self.column_names.index(name)]

    def select(self, positions: Sequence[int]) -> MixedTable:
        """Return some columns."""
        names = (self.column_names[k] for k in positions)
        return MixedTable(tuple(names), tuple(self.columns[k] for k in positions))

    def rename_columns(self, names: Sequence[str]) -> MixedTable:
        """Return the same columns under other names."""
        return MixedTable(tuple(names), self.columns)

    def slice(self, start: int, length: int) -> MixedTable:
        """Return some rows."""
        rows = slice(start, start + length)
        return MixedTable(self.column_names, tuple(column[rows] for column in self.columns))


def _column(series: Any) -> Column:
    if series.dtype == object:
        return object_array(series.tolist())
    if str(series.dtype) == "category":  # may be anything, narrow floats too
        categories = [*series.cat.categories.to_numpy(), None]
        return object_array([categories[code] for code in series.cat.codes])
    return pa.array(series, from_pandas=True)
