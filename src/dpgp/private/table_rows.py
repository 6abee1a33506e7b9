"""Rows of tables: files or objects that are gone through once for every question.

A first pass reads every cell that a fit will use, so that what cannot be read is refused before any
budget is spent.

Threads of this process read them, or the workers of a cluster: then each sums its part, and only
integers travel. The same code reads the same files, so totals are the same, bit for bit, however
the files are cut. A part whose worker dies is read anew by another, and its sum is taken once.
Noise is drawn by whoever asks, and nowhere else.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import zip_longest

import numpy as np

from dpgp.privacy.exact_sums import shared_out
from dpgp.private.cells import Cells
from dpgp.private.engines import Engine, answers
from dpgp.private.rows import RowReader, Rows
from dpgp.private.source import Partial, RowQuestion, Source, merged, partial_sums, total_over
from dpgp.private.table_objects import HeldTable, StreamedTable
from dpgp.private.tables import (
    CHANGED,
    STANDARD_INPUT,
    Piece,
    TableError,
    TableFile,
    require,
)
from dpgp.private.units import (
    Bits,
    either,
    file_by_file,
    first_of_group,
    first_rows,
    number_of_groups,
    unpacked,
)
from dpgp.private.watching import watched, watched_first
from dpgp.types import Integers

PARTS_PER_WORKER = 4
"""Parts of the table for every worker: enough that none waits long for the last."""

OTHER_ARITHMETIC = (
    "the workers' processors or libraries differ from this machine's in a last digit of a feature: "
    "privacy is not touched, but sums may differ in a last bit from those of this machine alone."
)


def read_files(
    files: Sequence[TableFile],
    reader: RowReader,
    workers: Engine | None,
    threads: int | None = None,
) -> Source:
    """Go through all files once; a TableError where they do not hold what is wanted."""
    rows: TableRows | ClusterRows
    if workers is None:
        rows = TableRows.opened(files, reader, threads)
    else:
        _check_seen_by_workers(files)
        rows = ClusterRows.opened(files, reader, workers)
    if len(rows) < 2:
        raise TableError("the table has too few rows for a model; a fit needs at least two.")
    return rows


def _check_seen_by_workers(files: Sequence[TableFile]) -> None:
    held = (HeldTable, StreamedTable)
    if any(isinstance(f, held) or getattr(f, "path", "") == STANDARD_INPUT for f in files):
        raise TableError(
            "a cluster reads files, under the same path on every worker; write the table to "
            "Parquet files first, or leave `engine` out."
        )


@dataclass(frozen=True)
class TableBatch:
    """Some rows of a table, to be read where they are summed."""

    piece: Piece
    reader: RowReader
    size: int
    kept: Bits | None

    def __repr__(self) -> str:
        return "TableBatch(...)"

    def rows(self) -> Rows:
        """Read the rows; an error where they are other ones than in the first pass."""
        cells = self.piece()
        if len(cells) != self.size:
            raise TableError(cells.where + CHANGED)
        rows = self.reader.rows(cells)
        if self.kept is None:
            return rows
        usable = rows.usable & unpacked(self.kept, self.size)
        return Rows(rows.inputs, rows.targets, usable)


@dataclass(frozen=True)
class ReadFile:
    """A file that has been gone through once: how many rows its pieces have, and which count."""

    file: TableFile
    reader: RowReader
    sizes: tuple[int, ...]
    kept: tuple[Bits, ...] | None = None

    def __repr__(self) -> str:
        return "ReadFile(...)"

    def batches(self) -> Iterator[TableBatch]:
        """Go through the file once more."""
        kept = self.kept or (None,) * len(self.sizes)
        pieces = self.file.pieces(self.reader.names)
        for piece, size, bits in zip_longest(pieces, self.sizes, kept):
            if piece is None or size is None:
                raise TableError(self.file.where + CHANGED)
            yield TableBatch(piece, self.reader, size, bits)


@dataclass(frozen=True)
class TableRows:
    """All rows of some files, in their order; a :class:`dpgp.private.source.Source`."""

    files: tuple[ReadFile, ...]

    @classmethod
    def opened(
        cls, files: Sequence[TableFile], reader: RowReader, threads: int | None = None
    ) -> TableRows:
        """Go through all files once; a TableError where they do not hold what is wanted."""
        for file in files:
            require(file, reader.names)
        return cls(_read(files, reader, _sizes(files, reader, threads)))

    def __repr__(self) -> str:
        return "TableRows(...)"

    def __len__(self) -> int:
        return sum(sum(file.sizes) for file in self.files)

    @property
    def like(self) -> Rows:
        """No rows, with as many columns."""
        reader = self.files[0].reader
        inputs, targets = len(reader.inputs), len(reader.targets)
        return Rows(np.empty((0, inputs)), np.empty((targets, 0)), np.empty(0, dtype=bool))

    def total(self, question: RowQuestion, threads: int | None = None) -> Integers:
        """Return the exact sum over all rows, after one pass over the files."""
        batches = (batch for file in self.files for batch in file.batches())
        sizes = [size for file in self.files for size in file.sizes]
        return total_over(batches, sizes, question, threads)


def _sizes(
    files: Sequence[TableFile], reader: RowReader, threads: int | None
) -> list[tuple[int, ...]]:
    """Read every piece once, and return how many rows each has, file by file."""

    def measure(share: Iterator[tuple[int, int, Piece]]) -> dict[tuple[int, int], int]:
        return {(file, place): len(reader.rows(piece())) for file, place, piece in share}

    pieces = (
        (number, place, piece)
        for number, file in enumerate(files)
        for place, piece in enumerate(file.pieces(reader.names))
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


def _read(
    files: Sequence[TableFile],
    reader: RowReader,
    sizes: Sequence[tuple[int, ...]],
    engine: Engine | None = None,
) -> tuple[ReadFile, ...]:
    """Return files whose pieces have these sizes, with the rows that count."""
    read = zip(files, sizes, _kept(files, reader, sizes, engine), strict=True)
    return tuple(ReadFile(file, reader, counts, kept) for file, counts, kept in read)


def _kept(
    files: Sequence[TableFile],
    reader: RowReader,
    sizes: Sequence[tuple[int, ...]],
    engine: Engine | None,
) -> list[tuple[Bits, ...] | None]:
    """Return which rows are among the first of their unit, file by file; None without units.

    Every worker counts the units of other groups, so that identifiers stay where they are read.
    """
    unit, most = reader.unit, reader.options.max_rows_per_unit
    if unit is None:
        return [None] * len(files)
    every = tuple(size for counts in sizes for size in counts)
    if engine is None:
        kept = first_rows(lambda: _cells(files, unit), every, unit, most)
    else:
        groups = max(number_of_groups(every), engine.workers)
        work = FirstOfGroup(tuple(files), every, unit, most, groups)
        kept = reduce(either, list(answers(engine, work, range(groups))))
    return file_by_file(kept, sizes)


def _cells(files: Sequence[TableFile], name: str) -> Iterator[Cells]:
    return (piece() for file in files for piece in file.pieces([name]))


# --- by the workers of a cluster ------------------------------------------------------------------


class ArithmeticOfWorkersWarning(UserWarning):
    """Workers agree with each other, but not with this machine, in the last digit of a feature."""


@dataclass(frozen=True)
class ClusterRows:
    """All rows of some files, read by workers; a :class:`dpgp.private.source.Source`."""

    table: TableRows
    engine: Engine

    @classmethod
    def opened(cls, files: Sequence[TableFile], reader: RowReader, engine: Engine) -> ClusterRows:
        """Let workers go through all files once; a TableError where they lack what is wanted."""
        for file in files:
            require(file, reader.names)
        count = -(-PARTS_PER_WORKER * engine.workers // len(files))
        parts = [part for file in files for part in file.parts(count)]
        sizes = list(watched_first(answers(engine, PartMeasure(reader), parts), len(parts)))
        return cls(TableRows(_read(parts, reader, sizes, engine)), engine)

    def __repr__(self) -> str:
        return "ClusterRows(...)"

    def __len__(self) -> int:
        return len(self.table)

    @property
    def like(self) -> Rows:
        """No rows, with as many columns."""
        return self.table.like

    def total(self, question: RowQuestion, threads: int | None = None) -> Integers:
        """Return the exact sum over all rows, after one pass over the files."""
        parts = self.table.files
        partials = answers(self.engine, SumOfPart(question), parts)
        total = merged(list(watched(partials, [sum(part.sizes) for part in parts])))
        if total.arithmetic != question.partial(()).arithmetic:
            warnings.warn(OTHER_ARITHMETIC, ArithmeticOfWorkersWarning, stacklevel=2)
        return total.integers


@dataclass(frozen=True)
class PartMeasure:
    """Reads a part once, and says how many rows each of its pieces has."""

    reader: RowReader

    def __call__(self, part: TableFile) -> tuple[int, ...]:
        """Return the sizes, after every cell was read."""
        pieces = part.pieces(self.reader.names)
        return tuple(len(self.reader.rows(piece())) for piece in pieces)


@dataclass(frozen=True)
class FirstOfGroup:
    """Reads the identifiers of the whole table, for the units of one group."""

    parts: tuple[TableFile, ...]
    sizes: tuple[int, ...]
    unit: str
    most: int
    groups: int

    def __call__(self, group: int) -> list[Bits]:
        """Return which rows are among the first of a unit of this group."""
        cells = _cells(self.parts, self.unit)
        return first_of_group(cells, self.sizes, self.unit, self.most, group, self.groups)


@dataclass(frozen=True)
class SumOfPart:
    """Sums a part, on one thread of a worker."""

    question: RowQuestion

    def __call__(self, part: ReadFile) -> Partial:
        """Return the exact sum."""
        return partial_sums(part.batches(), self.question, 1)[0]
