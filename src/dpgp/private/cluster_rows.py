"""Rows in files that the workers of a cluster read: each sums its part, and only integers travel.

The same code reads the same files as on one machine, so totals are the same, bit for bit, however
the files are cut. A part whose worker dies is read anew by another, and its sum is taken once.
Noise is drawn by whoever asks, and nowhere else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

from dpgp.privacy.exact_sums import UnevenArithmeticError, shared_out
from dpgp.private.rows import Rows
from dpgp.private.source import Partial, RowQuestion, merged
from dpgp.private.table_file import TableFile, require
from dpgp.private.table_rows import ReadFile, TableRows, Wanted
from dpgp.private.tables import ClusterError, TableError
from dpgp.private.units import Bits, either, file_by_file, first_of_group, number_of_groups
from dpgp.private.watching import watched, watched_first
from dpgp.types import Integers

PARTS_PER_WORKER = 4
"""Parts of the table for every worker: enough that none waits long for the last."""


OTHER_ARITHMETIC = (
    "the workers' processors or libraries differ from this machine's in a last digit of a feature: "
    "privacy is not touched, but sums may differ in a last bit from those of this machine alone."
)


class ArithmeticOfWorkersWarning(UserWarning):
    """Workers agree with each other, but not with this machine, in the last digit of a feature."""


class Engine(Protocol):
    """Workers that call a function on items."""

    @property
    def workers(self) -> int:
        """How many calls run at once."""
        ...

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Yield the result for every item, in their order; one that is lost is computed anew."""
        ...


@dataclass(frozen=True)
class ClusterRows:
    """All rows of some files, read by workers; a :class:`dpgp.private.source.Source`."""

    table: TableRows
    engine: Engine

    @classmethod
    def opened(cls, files: Sequence[TableFile], wanted: Wanted, engine: Engine) -> ClusterRows:
        """Let workers go through all files once; a TableError where they lack what is wanted."""
        for file in files:
            require(file, wanted.names)
        count = -(-PARTS_PER_WORKER * engine.workers // len(files))
        parts = [part for file in files for part in file.parts(count)]
        sizes = list(watched_first(answers(engine, PartMeasure(wanted), parts), len(parts)))
        kept = _kept(engine, parts, wanted, sizes)
        read = zip(parts, sizes, kept, strict=True)
        return cls(TableRows(tuple(ReadFile(p, wanted, s, bits) for p, s, bits in read)), engine)

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

    wanted: Wanted

    def __call__(self, part: TableFile) -> tuple[int, ...]:
        """Return the sizes, after every cell was read."""
        pieces = part.pieces(self.wanted.names)
        return tuple(len(self.wanted.rows(piece())) for piece in pieces)


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
        cells = (piece() for part in self.parts for piece in part.pieces([self.unit]))
        return first_of_group(cells, self.sizes, self.unit, self.most, group, self.groups)


@dataclass(frozen=True)
class SumOfPart:
    """Sums a part, on one thread of a worker."""

    question: RowQuestion

    def __call__(self, part: ReadFile) -> Partial:
        """Return the exact sum."""

        def partial(batches: Iterator[Any]) -> Partial:
            return self.question.partial(batch.rows() for batch in batches)

        return shared_out(part.batches(), partial, 1)[0]


@dataclass(frozen=True)
class Failure:
    """What went wrong on a worker, in words that may leave it."""

    kind: type[Exception]
    words: tuple[Any, ...]


@dataclass(frozen=True)
class InWords:
    """Calls work, and returns a failure instead of raising it: logs of workers would quote it."""

    work: Callable[[Any], Any]

    def __call__(self, item: Any) -> Any:
        """Return the result, or what went wrong."""
        try:
            return self.work(item)
        except (TableError, UnevenArithmeticError) as error:
            return Failure(type(error), error.args)
        except Exception as error:  # whatever it says may quote the data
            words = f"a worker failed with {type(error).__name__}; this pass released nothing."
            return Failure(ClusterError, (words,))


def answers(engine: Engine, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Yield what workers answer for every item; raise what went wrong on one of them."""
    for answer in engine.each(InWords(work), items):
        if isinstance(answer, Failure):
            raise answer.kind(*answer.words)
        yield answer


def _all(engine: Engine, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    return list(answers(engine, work, items))


def _kept(
    engine: Engine, parts: Sequence[TableFile], wanted: Wanted, sizes: Sequence[tuple[int, ...]]
) -> list[tuple[Bits, ...] | None]:
    """Return which rows are among the first of their unit, part by part; None without units.

    Every worker counts the units of other groups, so that identifiers stay where they are read.
    """
    if wanted.unit is None:
        return [None] * len(parts)
    every = tuple(size for counts in sizes for size in counts)
    groups = max(number_of_groups(every), engine.workers)
    most = wanted.options.max_rows_per_unit
    work = FirstOfGroup(tuple(parts), every, wanted.unit, most, groups)
    kept: list[Bits] = reduce(either, _all(engine, work, range(groups)))
    return file_by_file(kept, sizes)
