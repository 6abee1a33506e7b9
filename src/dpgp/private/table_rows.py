"""Rows of tables: files or objects that are gone through once for every question.

A first pass reads every cell that a fit will use, so that what cannot be read is refused before any
budget is spent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from dpgp.categories import Category
from dpgp.missing import Missing
from dpgp.options import Options
from dpgp.privacy.exact_sums import shared_out
from dpgp.private.arrays import scaled_rows
from dpgp.private.cells import Cells
from dpgp.private.rows import Rows
from dpgp.private.source import RowQuestion, total_over
from dpgp.private.table_file import Piece, TableFile, require
from dpgp.private.tables import CHANGED, TableError
from dpgp.private.units import Bits, file_by_file, first_rows, unpacked
from dpgp.private.watching import watched_first
from dpgp.study.errors import Words
from dpgp.types import Array, Integers


@dataclass(frozen=True)
class Wanted:
    """Which columns are inputs, targets, and who a row is of; public, all of it."""

    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    unit: str | None
    options: Options

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        units = () if self.unit is None else (self.unit,)
        return tuple(dict.fromkeys((*self.inputs, *self.targets, *units)))

    def rows(self, cells: Cells) -> Rows:
        """Return rows whose targets are scaled, as if every one were of another unit."""
        box = self.options.box
        X = np.column_stack(
            [self._input(cells, name, box.category(k)) for k, name in enumerate(self.inputs)]
        )
        targets = np.stack([self._target(cells, k) for k in range(len(self.targets))])
        return scaled_rows(X, targets, self.options, None)

    def _target(self, cells: Cells, k: int) -> Array:
        """Return numbers, or 0 and 1 for two classes and NaN for what is neither."""
        category = self.options.target_box.category(k)
        name = self.targets[k]
        return self._complete(cells, name) if category is None else cells.levels(name, category)

    def _input(self, cells: Cells, name: str, category: Category | None) -> Array:
        if category is None:
            return self._complete(cells, name)
        codes = cells.levels(name, category)
        if self.options.missing is Missing.ERROR and np.isnan(codes).any():
            raise TableError(
                f"{cells.where}column '{name}' has cells that are missing or none of its public "
                f"levels: {category.words}",
                _IGNORE,
            )
        return codes

    def _complete(self, cells: Cells, name: str) -> Array:
        numbers = cells.numbers(name)
        if self.options.missing is Missing.ERROR and not np.isfinite(numbers).all():
            what = "infinite" if np.isinf(numbers).any() else "missing"
            raise TableError(f"{cells.where}column '{name}' has {what} cells", _IGNORE)
        return numbers


_THESE_ROWS = "to let these rows contribute nothing, or remove them"
_IGNORE = Words(
    f'pass missing="ignore" {_THESE_ROWS}',
    command=f"pass --missing ignore {_THESE_ROWS}",
    page=f"choose “contribute nothing” under incomplete rows {_THESE_ROWS}",
)


@dataclass(frozen=True)
class TableBatch:
    """Some rows of a table, to be read where they are summed."""

    piece: Piece
    wanted: Wanted
    size: int
    kept: Bits | None

    def __repr__(self) -> str:
        return "TableBatch(...)"

    def rows(self) -> Rows:
        """Read the rows; an error where they are other ones than in the first pass."""
        cells = self.piece()
        if len(cells) != self.size:
            raise TableError(cells.where + CHANGED)
        rows = self.wanted.rows(cells)
        if self.kept is None:
            return rows
        usable = rows.usable & unpacked(self.kept, self.size)
        return Rows(rows.inputs, rows.targets, usable)


@dataclass(frozen=True)
class ReadFile:
    """A file that has been gone through once: how many rows its pieces have, and which count."""

    file: TableFile
    wanted: Wanted
    sizes: tuple[int, ...]
    kept: tuple[Bits, ...] | None = None

    def __repr__(self) -> str:
        return "ReadFile(...)"

    def batches(self) -> Iterator[TableBatch]:
        """Go through the file once more."""
        kept = self.kept or (None,) * len(self.sizes)
        pieces = self.file.pieces(self.wanted.names)
        for piece, size, bits in zip_longest(pieces, self.sizes, kept):
            if piece is None or size is None:
                raise TableError(self.file.where + CHANGED)
            yield TableBatch(piece, self.wanted, size, bits)


@dataclass(frozen=True)
class TableRows:
    """All rows of some files, in their order; a :class:`dpgp.private.source.Source`."""

    files: tuple[ReadFile, ...]

    @classmethod
    def opened(
        cls, files: Sequence[TableFile], wanted: Wanted, threads: int | None = None
    ) -> TableRows:
        """Go through all files once; a TableError where they do not hold what is wanted."""
        for file in files:
            require(file, wanted.names)
        sizes = _sizes(files, wanted, threads)
        read = zip(files, sizes, _kept(files, wanted, sizes), strict=True)
        return cls(tuple(ReadFile(file, wanted, counts, kept) for file, counts, kept in read))

    def __repr__(self) -> str:
        return "TableRows(...)"

    def __len__(self) -> int:
        return sum(sum(file.sizes) for file in self.files)

    @property
    def like(self) -> Rows:
        """No rows, with as many columns."""
        wanted = self.files[0].wanted
        inputs, targets = len(wanted.inputs), len(wanted.targets)
        return Rows(np.empty((0, inputs)), np.empty((targets, 0)), np.empty(0, dtype=bool))

    def total(self, question: RowQuestion, threads: int | None = None) -> Integers:
        """Return the exact sum over all rows, after one pass over the files."""
        batches = (batch for file in self.files for batch in file.batches())
        sizes = [size for file in self.files for size in file.sizes]
        return total_over(batches, sizes, question, threads)


def _sizes(
    files: Sequence[TableFile], wanted: Wanted, threads: int | None
) -> list[tuple[int, ...]]:
    """Read every piece once, and return how many rows each has, file by file."""

    def measure(share: Iterator[tuple[int, int, Piece]]) -> dict[tuple[int, int], int]:
        return {(file, place): len(wanted.rows(piece())) for file, place, piece in share}

    pieces = (
        (number, place, piece)
        for number, file in enumerate(files)
        for place, piece in enumerate(file.pieces(wanted.names))
    )
    found = {
        key: size
        for part in shared_out(watched_first(pieces), measure, threads)
        for key, size in part.items()
    }
    counts: list[list[int]] = [[] for _ in files]
    for file, place in sorted(found):
        counts[file].append(found[file, place])
    return [tuple(sizes) for sizes in counts]


def _kept(
    files: Sequence[TableFile], wanted: Wanted, sizes: Sequence[tuple[int, ...]]
) -> list[tuple[Bits, ...] | None]:
    """Return which rows are among the first of their unit, file by file; None without units."""
    unit = wanted.unit
    if unit is None:
        return [None] * len(files)
    every = [size for counts in sizes for size in counts]

    def pieces() -> Iterator[Cells]:
        return (piece() for file in files for piece in file.pieces([unit]))

    most = wanted.options.max_rows_per_unit
    return file_by_file(first_rows(pieces, every, unit, most), sizes)
