"""Rows of tables: files or objects that are gone through once for every question.

A first pass reads every cell that a fit will use, so that what cannot be read is refused before any
budget is spent.

Threads of this process read them, or the workers of a cluster: then each sums its part, and only
integers travel. The same code reads the same files, so totals are the same, bit for bit, however
the files are cut. A part whose worker dies is read anew by another, and its sum is taken once.
Noise is drawn by whoever asks, and nowhere else.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from dpgp.blas import in_order
from dpgp.privacy.parts import DealtPart
from dpgp.private.cells import Cells
from dpgp.private.engines import Engine, answers
from dpgp.private.row_reader import RowReader
from dpgp.private.rows import Rows
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
    Quota,
    either,
    file_by_file,
    number_of_groups,
    rows_of_group,
    rows_that_count,
    unpacked,
)
from dpgp.progress import watched, watched_first
from dpgp.types import Integers

Seed = int | np.random.Generator | None

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
    seed: Seed = None,
) -> Source:
    """Go through all files once; a TableError where they do not hold what is wanted.

    Rows of a unit are drawn anew at every call, unless ``seed`` simulates.
    """
    rows: TableRows | ClusterRows
    if workers is None:
        rows = TableRows.opened(files, reader, threads, seed)
    else:
        _check_seen_by_workers(files)
        rows = ClusterRows.opened(files, reader, workers, seed)
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
    start: int = 0
    part: DealtPart | None = None

    def __repr__(self) -> str:
        return "TableBatch(...)"

    def rows(self) -> Rows:
        """Read the rows; an error where they are other ones than in the first pass."""
        cells = self.piece()
        if len(cells) != self.size:
            raise TableError(cells.where + CHANGED)
        rows = self.reader.rows(cells)
        if self.kept is not None:
            rows = rows.among(unpacked(self.kept, self.size))
        return rows if self.part is None else rows.chosen(self.part.holds(self.start, self.size))


@dataclass(frozen=True)
class ReadFile:
    """A file that has been gone through once: how many rows its pieces have, and which count.

    ``start`` is the place of its first row in the table.
    """

    file: TableFile
    reader: RowReader
    sizes: tuple[int, ...]
    kept: tuple[Bits, ...] | None = None
    start: int = 0

    def __repr__(self) -> str:
        return "ReadFile(...)"

    def batches(self, part: DealtPart | None = None) -> Iterator[TableBatch]:
        """Go through the file once more, for all rows or for those of a part."""
        kept, start = self.kept or (None,) * len(self.sizes), self.start
        pieces = self.file.pieces(self.reader.names)
        for piece, size, bits in zip_longest(pieces, self.sizes, kept):
            if piece is None or size is None:
                raise TableError(self.file.where + CHANGED)
            yield TableBatch(piece, self.reader, size, bits, start, part)
            start += size


@dataclass(frozen=True)
class TableRows:
    """All rows of some files, in their order; a :class:`dpgp.private.source.Source`."""

    files: tuple[ReadFile, ...]

    @classmethod
    def opened(
        cls,
        files: Sequence[TableFile],
        reader: RowReader,
        threads: int | None = None,
        seed: Seed = None,
    ) -> TableRows:
        """Go through all files once; a TableError where they do not hold what is wanted."""
        for file in files:
            require(file, reader.names)
        return cls(_read(files, reader, _sizes(files, reader, threads), seed))

    def __repr__(self) -> str:
        return "TableRows(...)"

    def __len__(self) -> int:
        return sum(sum(file.sizes) for file in self.files)

    @property
    def like(self) -> Rows:
        """No rows, with as many columns."""
        reader = self.files[0].reader
        inputs, targets = len(reader.inputs), reader.options.n_targets
        weights = None if reader.weight is None else np.empty(0)
        none = Rows(np.empty((0, inputs)), np.empty((targets, 0)), np.empty(0, dtype=bool))
        return replace(none, weights=weights)

    def total(
        self, question: RowQuestion, threads: int | None = None, part: DealtPart | None = None
    ) -> Integers:
        """Return the exact sum over all rows, or those of a part, after one pass over the files."""
        batches = (batch for file in self.files for batch in file.batches(part))
        sizes = [size for file in self.files for size in file.sizes]
        return total_over(batches, sizes, question, threads)


def _sizes(
    files: Sequence[TableFile], reader: RowReader, threads: int | None
) -> list[tuple[int, ...]]:
    """Read every piece once, and return how many rows each has, file by file."""

    def measured(piece: tuple[int, Piece]) -> tuple[int, int]:
        return piece[0], len(reader.rows(piece[1]()))

    pieces = ((k, piece) for k, file in enumerate(files) for piece in file.pieces(reader.names))
    sizes: list[list[int]] = [[] for _ in files]
    for k, size in in_order(watched_first(pieces), measured, threads):
        sizes[k].append(size)
    return [tuple(counts) for counts in sizes]


def _read(
    files: Sequence[TableFile],
    reader: RowReader,
    sizes: Sequence[tuple[int, ...]],
    seed: Seed,
    engine: Engine | None = None,
) -> tuple[ReadFile, ...]:
    """Return files whose pieces have these sizes, with the rows that count."""
    starts = itertools.accumulate(map(sum, sizes[:-1]), initial=0)
    read = zip(files, sizes, _kept(files, reader, sizes, seed, engine), starts, strict=True)
    return tuple(ReadFile(file, reader, counts, kept, start) for file, counts, kept, start in read)


def _kept(
    files: Sequence[TableFile],
    reader: RowReader,
    sizes: Sequence[tuple[int, ...]],
    seed: Seed,
    engine: Engine | None,
) -> list[tuple[Bits, ...] | None]:
    """Return which rows of every unit count, file by file; None without units.

    It is decided once, for all passes of a fit.

    Every worker counts the units of other groups, so that identifiers stay where they are read.
    """
    unit = reader.unit
    if unit is None:
        return [None] * len(files)
    quota = Quota.of(reader.options, seed)
    every = tuple(size for counts in sizes for size in counts)
    if engine is None:
        kept = rows_that_count(lambda: _cells(files, unit), every, unit, quota)
    else:
        groups = max(number_of_groups(every), engine.workers)
        work = functools.partial(part_of_units, tuple(files), every, unit, quota, groups)
        kept = functools.reduce(either, answers(engine, work, range(groups)))
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
    def opened(
        cls, files: Sequence[TableFile], reader: RowReader, engine: Engine, seed: Seed = None
    ) -> ClusterRows:
        """Let workers go through all files once; a TableError where they lack what is wanted."""
        for file in files:
            require(file, reader.names)
        count = -(-PARTS_PER_WORKER * engine.workers // len(files))
        parts = [part for file in files for part in file.parts(count)]
        sizes = list(
            watched_first(answers(engine, functools.partial(part_sizes, reader), parts), len(parts))
        )
        return cls(TableRows(_read(parts, reader, sizes, seed, engine)), engine)

    def __repr__(self) -> str:
        return "ClusterRows(...)"

    def __len__(self) -> int:
        return len(self.table)

    @property
    def like(self) -> Rows:
        """No rows, with as many columns."""
        return self.table.like

    def total(
        self, question: RowQuestion, threads: int | None = None, part: DealtPart | None = None
    ) -> Integers:
        """Return the exact sum over all rows, or those of a part, after one pass over the files."""
        parts = self.table.files
        partials = answers(self.engine, functools.partial(part_sum, question, part), parts)
        total = merged(list(watched(partials, [sum(part.sizes) for part in parts])))
        if total.arithmetic != question.partial(()).arithmetic:
            warnings.warn(OTHER_ARITHMETIC, ArithmeticOfWorkersWarning, stacklevel=2)
        return total.integers


def part_sizes(reader: RowReader, part: TableFile) -> tuple[int, ...]:
    """Return how many rows each piece of a part has, after every cell was read."""
    return tuple(len(reader.rows(piece())) for piece in part.pieces(reader.names))


def part_sum(question: RowQuestion, dealt: DealtPart | None, part: ReadFile) -> Partial:
    """Return the exact sum over a part of a file, on one thread of a worker."""
    return partial_sums(part.batches(dealt), question, 1)[0]


def part_of_units(
    files: Sequence[TableFile],
    sizes: Sequence[int],
    unit: str,
    quota: Quota,
    groups: int,
    group: int,
) -> list[Bits]:
    """Read the identifiers of the whole table; return which rows count, of the units of a group."""
    return rows_of_group(_cells(files, unit), sizes, unit, quota, group, groups)
