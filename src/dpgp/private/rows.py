"""Rows that are ready to be summed: what every source is read into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpgp.private.source import total_over
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.private.source import RowQuestion
    from dpgp.types import Integers


BATCH_ROWS = 2**16
"""Rows that are drawn at a time: a few blocks for a thread, a few megabytes."""


@dataclass(frozen=True)
class Rows:
    """Rows that are ready to be summed: inputs, targets scaled to [−1, 1], and which are usable.

    Raw values: lives on the private side only, and never shows them in its repr. Rows in memory are
    a :class:`dpgp.private.source.Source` themselves.
    """

    inputs: Any
    targets: Array  # (targets, rows)
    usable: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.usable)

    def __repr__(self) -> str:
        return "Rows(...)"

    def with_targets(self, targets: Array) -> Rows:
        """Return the same rows with other targets."""
        return Rows(self.inputs, targets, self.usable)

    def blocks(self, size: int) -> Iterator[Rows]:
        """Cut the rows into blocks of ``size``, the last one shorter."""
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            yield Rows(self.inputs[part], self.targets[:, part], self.usable[part])

    @property
    def like(self) -> Rows:
        """No rows, of the same type."""
        return Rows(self.inputs[:0], self.targets[:, :0], self.usable[:0])

    def rows(self) -> Rows:
        """Return themselves: what is in memory needs no reading."""
        return self

    def total(self, question: RowQuestion, threads: int | None = None) -> Integers:
        """Return the exact sum over all rows."""
        sizes = [min(BATCH_ROWS, len(self) - at) for at in range(0, len(self), BATCH_ROWS)]
        return total_over(self.blocks(BATCH_ROWS), sizes, question, threads)
