r"""Exact sums :math:`\sum_i q_i q_i^\top` of integer columns whose norm bound is checked exactly.

The grid has :math:`2^b` steps to the unit, b = 20. A column :math:`\psi` with norm at most one is
shrunk by the public factor :math:`1 - \sqrt d\,2^{-b}` and rounded to the nearest grid point, which
keeps the norm below one; the norm is then verified in integers, and a column that fails contributes
nothing.

Entries are at most :math:`2^{20}` in size, so a block of up to :math:`2^{12}` columns is multiplied
exactly by float64 BLAS, and :math:`2^{22}` columns fit into int64; beyond that the totals are
Python integers. Proof: docs/proofs/exact_sums.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpgp.blas import aligned, single_threaded_blas, thread_count
from dpgp.types import Array, Integers

# --- columns of integers --------------------------------------------------------------------------


FRACTION_BITS = 20  # rounding below any noise, and 2¹² rows a block: docs/proofs/exact_sums.md
UNIT = 2.0**FRACTION_BITS  # one, in these integers


def shrinkage(dimension: int) -> float:
    r"""Return :math:`1 - \sqrt d\,2^{-b}`, the factor that leaves room for rounding."""
    return 1.0 - math.sqrt(dimension) / UNIT


def round_columns(psi: Array) -> None:
    """Turn columns of norm at most one into integer columns of norm at most 2^b, in place.

    Longer columns are scaled back to norm one; what is still too long, or not a number, becomes
    zero.
    """
    psi *= shrinkage(len(psi)) * UNIT
    np.rint(psi, out=psi)
    squares = _squared_norms(psi)
    if not _fit(squares).all():
        # of the whole block: the memory layout of some of its columns depends on which they are
        np.copyto(psi, _shortened(psi, squares), where=~_fit(squares))


def _squared_norms(columns: Array) -> Array:
    """‖q‖², exact up to 2^53: every term and every partial sum is an integer."""
    return np.asarray(np.einsum("ij,ij->j", columns, columns))


def _fit(squares: Array) -> NDArray[np.bool_]:
    """‖q‖² ≤ 2^{2b}; not where it is no number."""
    return np.asarray(squares <= UNIT**2)


def _shortened(columns: Array, squares: Array) -> Array:
    """Return all columns at norm one, in integers; zero where that fails."""
    with np.errstate(all="ignore"):  # whatever is infinite or no number ends as zero
        shortened = columns / np.sqrt(squares)
        shortened *= shrinkage(len(columns)) * UNIT
        np.rint(shortened, out=shortened)
        shortened[:, ~_fit(_squared_norms(shortened))] = 0.0
    return shortened


def round_targets(targets: Array) -> None:
    """Turn targets in [−1, 1] into integers in [−2^b, 2^b], in place; what is no number into 0."""
    np.clip(targets, -1.0, 1.0, out=targets)
    targets *= UNIT
    np.rint(targets, out=targets)
    targets[np.isnan(targets)] = 0.0


# --- sums of their products -----------------------------------------------------------------------


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
    """The sum of outer products of integer columns, kept exact.

    ``wanted`` may be numbers k and m: then entries of the first k rows with each other and of all
    rows with the last m are computed above the diagonal. What nobody reads is not multiplied.
    """

    def __init__(self, dimension: int, wanted: tuple[int, int] | None = None) -> None:
        self._wanted = wanted
        self._product = np.zeros((dimension, dimension))
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
        self._multiply(columns)
        self._integers[:] = self._product
        self._recent += self._integers
        self._recent_rows += rows

    def _multiply(self, columns: Array) -> None:
        if self._wanted is None:
            np.matmul(columns, columns.T, out=self._product)
            return
        first, last = self._wanted
        head, start = columns[:first], len(columns) - last
        np.matmul(head, head.T, out=self._product[:first, :first])
        np.matmul(columns, columns[start:].T, out=self._product[:, start:])

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
    wanted: tuple[int, int] | None = None,
) -> Integers:
    """Return Σ q qᵀ over all columns of all blocks, or of it what is ``wanted``.

    ``columns_of`` may write a block's columns to the array it is given, (dimension, block_rows).
    The result is the same, bit for bit, for any order of the rows and any cut into blocks.
    """
    gram, out = ExactGram(dimension, wanted), workspace(dimension, block_rows)
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
