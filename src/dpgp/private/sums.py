"""Exact sums over rows: blocks become integer columns, and the columns exact totals.

Private: what these functions return leaves this package only through the wall.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.features.base import FeatureMap
from dpgp.features.residuals import RowValues
from dpgp.privacy.exact_sums import MAX_BLOCK_ROWS, Integers, check_even, shared_out, sum_blocks
from dpgp.privacy.fixed_point import round_columns, round_targets
from dpgp.private.rows import Rows
from dpgp.steps.queries import HistogramQuery

Array = NDArray[np.float64]

BLOCK_ROWS = MAX_BLOCK_ROWS  # fewer would cost calls, more would not be exact


def exact_gram(
    rows: Rows,
    features: FeatureMap,
    residuals: RowValues | None = None,
    *,
    n_jobs: int | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Integers:
    """Return Σψψᵀ in integer units, ψ = (φ(x), targets or residuals)."""
    size = features.rows_per_call or block_rows
    return sum_blocks(
        rows.blocks(size),
        lambda block, out: integer_columns(
            padded(block, features.filler, size), features, residuals, out
        ),
        public_block(features.filler, rows, size),
        features.dimension + len(rows.targets),
        size,
        n_jobs,
    )


def integer_columns(
    block: Rows,
    features: FeatureMap,
    residuals: RowValues | None = None,
    out: Array | None = None,
) -> Array:
    """Return the integers ψ of every row of a block; zero for rows that cannot be used."""
    d = features.dimension
    psi = np.empty((d + len(block.targets), len(block))) if out is None else out
    phi = features.evaluate(block.inputs, psi[:d])
    psi[d:] = (
        block.targets
        if residuals is None
        else residuals.of(block.inputs, block.targets, features, phi)
    )
    psi[:, ~block.usable] = 0.0
    round_columns(psi[:d])
    round_targets(psi[d:])
    return psi


def exact_histograms(
    rows: Rows, query: HistogramQuery, block_rows: int = BLOCK_ROWS, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """Return how many rows fall into each bin of each histogram."""
    public = public_block(query.filler, rows, block_rows)

    def count(blocks: Iterator[Rows]) -> NDArray[np.int64]:
        values = query.values_of(public.inputs, public.targets)
        if values.shape != (query.histograms, block_rows):  # what the sensitivity rests on
            raise ValueError("a query must give every row one value for each of its histograms.")
        check_even(values)
        counts = np.zeros((query.histograms, len(query.edges) + 1), dtype=np.int64)
        for block in blocks:
            counts += _block_counts(padded(block, query.filler, block_rows), query)
        return counts

    return reduce(np.add, shared_out(rows.blocks(block_rows), count, n_jobs))


def _block_counts(block: Rows, query: HistogramQuery) -> NDArray[np.int64]:
    values = query.values_of(block.inputs, block.targets)[:, block.usable]
    bins = np.searchsorted(query.edges, values, side="right")
    return np.stack([np.bincount(row, minlength=len(query.edges) + 1) for row in bins])


def public_block(filler: Any, rows: Rows, size: int = BLOCK_ROWS) -> Rows:
    """Return a block of one public row, to check that its place in a block does not matter."""
    like = Rows(rows.inputs[:0], rows.targets[:, :0], rows.usable[:0])
    block = padded(like, filler, size)
    return Rows(block.inputs, block.targets, np.ones(size, dtype=bool))


def padded(block: Rows, filler: Any, size: int) -> Rows:
    """Fill a block to its full size, and put a public row in place of those that are not usable.

    So every row takes the same path through the arithmetic, wherever it stands.
    """
    inputs = np.empty((size, *block.inputs.shape[1:]), dtype=block.inputs.dtype)
    if inputs.ndim > 1:
        inputs[:] = filler
    else:
        inputs.fill(filler)  # objects, which need not be scalars to NumPy
    inputs[: len(block)][block.usable] = block.inputs[block.usable]
    targets = np.zeros((len(block.targets), size))
    targets[:, : len(block)] = block.targets
    usable = np.zeros(size, dtype=bool)
    usable[: len(block)] = block.usable
    return Rows(inputs, targets, usable)
