"""The seam: whatever holds rows answers questions about all of them in exact integers.

A *question* is a sum over rows. Its ``partial`` goes through some of the rows, and partials of
disjoint rows are merged by adding integers, so the total is the same, bit for bit, however the rows
are cut, ordered and shared out among threads, processes and machines. Only a total reaches the
wall, which adds noise once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpgp.privacy.exact_sums import UnevenArithmeticError, shared_out
from dpgp.privacy.parts import DealtPart
from dpgp.progress import watched
from dpgp.types import Integers

if TYPE_CHECKING:
    from dpgp.private.rows import Rows


@dataclass(frozen=True)
class Partial:
    """The exact sum over some rows, and by what arithmetic it was computed.

    ``arithmetic`` is a digest of what the question makes of a public row, to the last bit: where
    digests are equal, processors compute alike.
    """

    integers: Integers
    arithmetic: bytes

    def __repr__(self) -> str:
        return "Partial(...)"

    def merge(self, other: Partial) -> Partial:
        """Add the sum over other rows; raise where their machine computes otherwise.

        A row's integers must not depend on who reads it. Proof: docs/proofs/exact_sums.md.
        """
        if self.arithmetic != other.arithmetic:
            raise UnevenArithmeticError(
                "the machines that read the rows give one public row different numbers in the last "
                "bits, so that no guarantee would hold; this pass released nothing. Use workers "
                "with one kind of processor and the same versions of Python and NumPy, or set "
                "OPENBLAS_CORETYPE and NPY_DISABLE_CPU_FEATURES alike on all of them."
            )
        return Partial(self.integers + other.integers, self.arithmetic)


class RowQuestion(Protocol):
    """A sum over rows of a public function of one row; public itself, so that it may travel."""

    def partial(self, batches: Iterable[Rows]) -> Partial:
        """Return the sum over the rows of all batches; of none, zeros."""
        ...


class Batch(Protocol):
    """Some rows that were drawn from a source, to be read by the thread that sums them."""

    def rows(self) -> Rows:
        """Return the rows; the part of the work that threads share."""
        ...


class Source(Protocol):
    """Rows in memory, in files, on a cluster, or at several sites."""

    def __len__(self) -> int: ...

    @property
    def like(self) -> Rows:
        """No rows, of the type of those that it has."""
        ...

    def total(
        self, question: RowQuestion, threads: int | None = None, part: DealtPart | None = None
    ) -> Integers:
        """Return the exact sum over all rows, or those of a part, after one pass over them."""
        ...


@dataclass(frozen=True, repr=False)
class RowsBehind:
    """What a source has of the rows of another."""

    rows: Source

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"

    @property
    def like(self) -> Rows:
        """No rows, of the type of those that it has."""
        return self.rows.like


@dataclass(frozen=True, repr=False)
class PartOfRows(RowsBehind):
    """A part of the rows of a source, and a source itself."""

    part: DealtPart

    def __len__(self) -> int:
        raise TypeError("how many rows a part has is a secret.")

    def total(
        self, question: RowQuestion, threads: int | None = None, part: DealtPart | None = None
    ) -> Integers:
        """Return the exact sum over the rows of the part, which has no parts of its own."""
        assert part is None
        return self.rows.total(question, threads, self.part)


def total_over(
    batches: Iterable[Batch],
    sizes: Sequence[int],
    question: RowQuestion,
    threads: int | None = None,
) -> Integers:
    """Return the exact sum over all batches, which threads of this process share.

    ``sizes`` has the number of rows of every batch, for whoever watches.
    """
    return merged(partial_sums(watched(batches, sizes), question, threads)).integers


def partial_sums(
    batches: Iterable[Batch], question: RowQuestion, threads: int | None = None
) -> list[Partial]:
    """Return the sum that every thread has over its share of the batches."""

    def partial(share: Iterator[Batch]) -> Partial:
        return question.partial(batch.rows() for batch in share)

    return shared_out(batches, partial, threads)


def merged(partials: Sequence[Partial]) -> Partial:
    """Return the sum of disjoint sums."""
    return reduce(Partial.merge, partials)


def digest(values: NDArray[Any]) -> bytes:
    """Return a digest of all bits of an array."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).digest()
