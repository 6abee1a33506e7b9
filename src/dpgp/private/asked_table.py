"""A table as a user gives it: what to read of it is asked by column names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from dpgp.numeric import check_column_names
from dpgp.options import Options
from dpgp.private.cells import Cells
from dpgp.private.csv_files import CsvFile
from dpgp.private.engines import Engine
from dpgp.private.files import open_files
from dpgp.private.row_reader import RowReader
from dpgp.private.source import Source
from dpgp.private.table_objects import is_table, open_object
from dpgp.private.table_rows import read_files
from dpgp.private.tables import TableError, TableFile, clean_name, clean_names, marked, require
from dpgp.study.errors import Face, Words

MOST_PLACES = 20  # that are listed of bad cells


@dataclass(frozen=True)
class AskedTable:
    """Files with the columns that are targets, and those that say whose a row is and its weight."""

    files: Sequence[TableFile]
    targets: tuple[str, ...]
    unit: str | None
    weight: str | None = None

    @classmethod
    def opened(
        cls, table: Any, target: Any, unit: Any, weight: Any = None, decimal: Any = "."
    ) -> AskedTable:
        """Open a table; an error where it is none, or columns are not named."""
        targets = _names(target, "target")
        if not targets:
            raise ValueError("`target` must name at least one column.")
        unit, weight = _column(unit, "units"), _column(weight, "sample_weight")
        files = marked(_opened(table, hold=unit is not None), decimal)
        return cls(files, targets, unit, weight)

    def inputs(self, bounds: Any, categories: Any) -> tuple[str, ...]:
        """Return the columns that bounds and categories name, or all that are nothing else.

        They come in the order of the table.
        """
        others, names = {*self.targets, self.unit, self.weight}, self.files[0].names
        if isinstance(bounds, Mapping):
            asked = [*bounds, *(categories if isinstance(categories, Mapping) else ())]
            require(self.files[0], [*asked, *self.targets])
            found = tuple(name for name in names if name in asked)
        else:
            found = tuple(name for name in names if name not in others)
        check_column_names(found)
        taken = others.intersection(found) - {self.unit, self.weight}
        if taken:
            raise ValueError(f"column {min(map(str, taken))!r} must be input or target, not both.")
        return found

    def rows(
        self,
        inputs: tuple[str, ...],
        options: Options,
        workers: Engine | None = None,
        threads: int | None = None,
        seed: int | np.random.Generator | None = None,
        *,
        show_lines: bool = False,
    ) -> Source:
        """Go through the table once; a TableError where it does not hold what is wanted.

        With ``show_lines`` the error tells where its cells are, which is about people.
        """
        reader = RowReader(inputs, self.targets, self.unit, options, self.weight)
        try:
            return read_files(self.files, reader, workers, threads, seed)
        except TableError as error:
            raise _with_lines(error, self.files, reader) if show_lines else error from None


def _column(name: Any, argument: str) -> str | None:
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"`{argument}` must be the name of a column where `target` is one, got "
            f"{type(name).__name__}."
        )
    return None if name is None else clean_name(name)


def _opened(table: Any, *, hold: bool) -> Sequence[TableFile]:
    if isinstance(table, str | os.PathLike):
        return open_files(table)
    if isinstance(table, list | tuple) and all(isinstance(p, str | os.PathLike) for p in table):
        return open_files(table)
    if is_table(table):
        return [open_object(table, hold=hold)]
    raise TypeError(
        "`X` must be a path, a list of paths, or a table that hands out Arrow data where `target` "
        f"names a column, got {type(table).__name__}."
    )


def _names(names: Any, argument: str) -> tuple[str, ...]:
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"`{argument}` must be the name of a column, or a list of names.")
    return clean_names(listed)


# --- where the cells are that an error complains of: about people, for a curator who asks ---------


def _with_lines(error: TableError, files: Sequence[TableFile], reader: RowReader) -> TableError:
    """Return the error with the first places it is about; as it is where they cannot be told."""
    try:
        places = list(islice(_places(files, reader, str(error)), MOST_PLACES + 1))
    except TableError:  # some line is no row at all
        return error
    if not places:
        return error
    listed = ", ".join(places[:MOST_PLACES]) + (", …" if len(places) > MOST_PLACES else "")
    note = (
        f"These cells are in {listed}. Which lines they are is about people: show it to nobody who "
        "may not see the table."
    )
    return TableError(Words(f"{error} {note}", command=f"{error.on(Face.COMMAND)} {note}"))


def _places(files: Sequence[TableFile], reader: RowReader, message: str) -> Iterator[str]:
    for file in files:
        # the first line of a CSV file names the columns
        word, before = ("line", 2) if isinstance(file, CsvFile) else ("row", 1)
        for piece in file.pieces(reader.names):
            cells = piece()
            yield from (f"{word} {before + k}" for k in _refused(cells, reader, message))
            before += len(cells)


def _refused(cells: Cells, reader: RowReader, message: str, first: int = 0) -> Iterator[int]:
    """Yield the rows that are refused in these words, by halving what is refused."""
    complaint = _complaint(cells, reader)
    if complaint is None:
        return
    if len(cells) == 1:
        yield from [first] if complaint == message else []
        return
    half = len(cells) // 2
    for start, size in ((0, half), (half, len(cells) - half)):
        part = replace(cells, table=cells.table.slice(start, size))
        yield from _refused(part, reader, message, first + start)


def _complaint(cells: Cells, reader: RowReader) -> str | None:
    try:
        reader.rows(cells)
        if reader.unit is not None:
            cells.identifiers(reader.unit)
    except TableError as error:
        return str(error)
    return None
