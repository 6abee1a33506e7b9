"""Tables of pandas: a column of one type is Arrow's, any other keeps every cell as it is.

A column of Python objects has no type. Arrow would give it one, and then a single cell decides what
all the others are: one of bytes makes a column of texts a column of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dpgp.private.arrays import object_array

Column = Any
"""An array of Arrow, whole or in chunks, or one of NumPy with Python's objects."""


@dataclass(frozen=True)
class MixedTable:
    """Columns of equal length; does what is asked of an Arrow table here. Raw data, never shown."""

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
