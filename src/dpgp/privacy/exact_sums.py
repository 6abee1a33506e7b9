r"""Exact sums :math:`\sum_i q_i q_i^\top` of integer columns, for any number of rows.

Entries are at most :math:`2^{20}` in size, so a block of up to :math:`2^{12}` columns is multiplied
exactly by float64 BLAS, and :math:`2^{22}` columns fit into int64; beyond that the totals are
Python integers. Proof: docs/proofs/exact_sums.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpgp.blas import aligned, single_threaded_blas, thread_count
from dpgp.privacy.fixed_point import FRACTION_BITS
from dpgp.types import Array, Integers

Block = TypeVar("Block")
Result = TypeVar("Result")

MAX_BLOCK_ROWS = 2 ** (52 - 2 * FRACTION_BITS)  # sums of q_iq_j stay below 2⁵³, exact in float64
_MAX_INT64_ROWS = 2 ** (62 - 2 * FRACTION_BITS)  # and below 2⁶³
_APART = 64  # numbers more than a power of two between rows, which would share places of the cache
_PROBED_SIZES = (7, 49, 100)  # small, a grid of two inputs, large: BLAS takes other paths by size


class UnevenArithmeticError(RuntimeError):
    """One row gave other numbers at another place of a block: no guarantee holds on such sums."""


def check_even(columns: NDArray[Any]) -> None:
    """Raise unless all columns, those of one public row at every place of a block, are the same.

    The sensitivity needs a row's numbers to be a function of that row alone, bit for bit.
    Proof: docs/proofs/exact_sums.md.
    """
    first = columns[..., :1]
    same = columns == first
    if not same.all() and not (same | (np.isnan(columns) & np.isnan(first))).all():
        raise UnevenArithmeticError(
            "this machine's arithmetic gives one row other numbers at another place in memory, so "
            "that no guarantee would hold; this pass released nothing. Keep BLAS to one thread "
            "(OPENBLAS_NUM_THREADS=1, MKL_NUM_THREADS=1) from before Python starts, or use another "
            "build of NumPy."
        )


@single_threaded_blas()
def check_arithmetic() -> None:
    """Raise, before anything is released, where a product depends on the place of a column."""
    for size in _PROBED_SIZES:
        matrix = np.cos(np.outer(np.arange(size), np.arange(1.0, size + 1.0)))
        columns = np.repeat(matrix[:, 1:2], MAX_BLOCK_ROWS, axis=1)
        check_even(matrix @ columns)
        check_even(matrix[1] @ columns)


class ExactGram:
    """The sum of outer products of integer columns, kept exact."""

    def __init__(self, dimension: int) -> None:
        self._product = np.empty((dimension, dimension))
        self._integers = np.empty((dimension, dimension), dtype=np.int64)
        self._recent = np.zeros((dimension, dimension), dtype=np.int64)
        self._recent_rows = 0
        self._total: Integers = np.zeros((dimension, dimension), dtype=object)

    def add(self, columns: Array) -> None:
        """Add the columns of one block, at most 2^12 of them."""
        rows = columns.shape[1]
        if rows > MAX_BLOCK_ROWS:
            raise ValueError(f"a block must have at most {MAX_BLOCK_ROWS} rows, got {rows}.")
        if self._recent_rows + rows > _MAX_INT64_ROWS:
            self._fold()
        np.matmul(columns, columns.T, out=self._product)
        self._integers[:] = self._product
        self._recent += self._integers
        self._recent_rows += rows

    def total(self) -> Integers:
        """Return the sum as Python integers."""
        self._fold()
        return self._total

    def _fold(self) -> None:
        self._total = self._total + self._recent.astype(object)
        self._recent[:] = 0
        self._recent_rows = 0


def sum_columns(
    blocks: Iterable[Block],
    columns_of: Callable[[Block, Array], Array],
    dimension: int,
    block_rows: int,
) -> Integers:
    """Return Σ q qᵀ over all columns of all blocks.

    ``columns_of`` may write a block's columns to the array it is given, (dimension, block_rows).
    The result is the same, bit for bit, for any order of the rows and any cut into blocks.
    """
    gram, out = ExactGram(dimension), workspace(dimension, block_rows)
    for block in blocks:
        gram.add(columns_of(block, out))
    return gram.total()


def workspace(dimension: int, block_rows: int) -> Array:
    """Return room for the columns of a block.

    Its rows are not a power of two apart: those would share few places of the cache.
    """
    return aligned(dimension, block_rows + _APART)[:, :block_rows]


def shared_out(
    blocks: Iterable[Block], work: Callable[[Iterator[Block]], Result], n_jobs: int | None = None
) -> list[Result]:
    """Let every thread work on its share of the blocks, and return what each found.

    BLAS keeps to one thread, which is faster than threads within it.
    """
    source = _Shared(iter(blocks))
    alone = single_threaded_blas()(work)
    threads = thread_count(n_jobs)
    if threads == 1:
        return [alone(source)]
    with single_threaded_blas(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(alone, [source] * threads))


class _Shared(Iterator[Any]):
    """An iterator that several threads may draw from."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source
        self._lock = Lock()

    def __next__(self) -> Any:
        with self._lock:
            return next(self._source)
