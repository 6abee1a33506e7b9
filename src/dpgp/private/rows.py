"""Rows that are ready to be summed: what every source is read into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Rows that are ready to be summed: inputs, targets scaled to [−1, 1], and which are usable.

    Raw values: lives on the private side only, and never shows them in its repr.
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
