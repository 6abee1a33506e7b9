"""Questions about rows: blocks become integer columns or counts, and these exact totals.

Private: what these functions return leaves this package only through the wall.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpgp.features.base import FeatureMap
from dpgp.features.inputs import RowValues
from dpgp.privacy.exact_sums import (
    MAX_BLOCK_ROWS,
    UNIT,
    check_even,
    round_columns,
    round_targets,
    sum_columns,
    workspace,
)
from dpgp.private.rows import Rows
from dpgp.private.source import Partial, Source, digest
from dpgp.steps.base import CountQuery, HistogramQuery
from dpgp.types import Array, Integers

USABLE_ROWS = CountQuery()
BLOCK_ROWS = MAX_BLOCK_ROWS  # fewer would cost calls, more would not be exact


def exact_gram(
    source: Source,
    features: FeatureMap,
    residuals: RowValues | None = None,
    *,
    joint: bool = False,
    n_jobs: int | None = None,
    block_rows: int = BLOCK_ROWS,
    leading: int | None = None,
) -> Integers:
    """Return Σψψᵀ in integer units, ψ = (φ(x), targets or residuals).

    Where it is said, products of features are those of the ``leading`` ones.
    """
    size = features.rows_per_call or block_rows
    public = public_block(features.filler, source.like, size)
    question = GramSum(features, residuals, public, leading, joint)
    return source.total(question, n_jobs)


def exact_histograms(
    source: Source, query: HistogramQuery, block_rows: int = BLOCK_ROWS, n_jobs: int | None = None
) -> Integers:
    """Return how many rows fall into each bin of each histogram, in integer units."""
    public = public_block(query.filler, source.like, block_rows)
    return source.total(HistogramSum(query, public), n_jobs)


def exact_count(
    source: Source, query: CountQuery = USABLE_ROWS, *, n_jobs: int | None = None
) -> Integers:
    """Return in integer units how many rows can be used, and what else is to be counted."""
    return source.total(CountSum(query), n_jobs)


@dataclass(frozen=True)
class GramSum:
    """Σψψᵀ in integer units. ``public`` is one public row at every place of a block.

    Targets that are ``joint`` have a norm of at most one together, others a size of one each.
    """

    features: FeatureMap
    residuals: RowValues | None
    public: Rows
    leading: int | None = None
    joint: bool = False

    def partial(self, batches: Iterable[Rows]) -> Partial:
        """Return the sum over all batches."""
        size, arithmetic = len(self.public), self._arithmetic()
        blocks = _blocks(batches, self.features.filler, size)
        total = sum_columns(blocks, self._columns, self._dimension, size, self._wanted)
        return Partial(total, arithmetic)

    def _columns(self, block: Rows, out: Array) -> Array:
        return integer_columns(block, self.features, self.residuals, out, joint=self.joint)

    def _arithmetic(self) -> bytes:
        out = workspace(self._dimension, len(self.public))
        psi = real_columns(self.public, self.features, self.residuals, out)
        all_bits = digest(psi[:, 0])
        check_even(_rounded(psi, self.features.dimension, self.joint))
        return all_bits

    @property
    def _dimension(self) -> int:
        return self.features.dimension + len(self.public.targets)

    @property
    def _wanted(self) -> tuple[int, int] | None:
        if self.leading is None or self.leading >= self.features.dimension:
            return None
        return self.leading, len(self.public.targets)


@dataclass(frozen=True)
class HistogramSum:
    """Counts of rows in bins, in units of 2^{-2b}; ``public`` is a public row everywhere."""

    query: HistogramQuery
    public: Rows

    def partial(self, batches: Iterable[Rows]) -> Partial:
        """Return the counts over all batches."""
        query, arithmetic = self.query, self._arithmetic()
        counts = np.zeros((query.histograms, len(query.edges) + 1), dtype=object)
        for block in _blocks(batches, query.filler, len(self.public)):
            counts += _block_counts(block, query)
        return Partial(counts, arithmetic)

    def _arithmetic(self) -> bytes:
        values = self.query.values_of(self.public.inputs, self.public.targets)
        if values.shape != (self.query.histograms, len(self.public)):
            # what the sensitivity rests on
            raise ValueError("a query must give every row one value for each of its histograms.")
        check_even(values)
        return digest(np.append(values[:, 0], self.query.edges))


@dataclass(frozen=True)
class CountSum:
    """How many rows can be used, their squares, and cells that are levels, where these are asked.

    A row counts as much as it weighs, in units of 2^{-2b}, rounded down.
    """

    query: CountQuery = USABLE_ROWS

    def partial(self, batches: Iterable[Rows]) -> Partial:
        """Return the numbers over all batches."""
        counts = np.zeros(self.query.numbers, dtype=object)
        for batch in batches:
            whole, usable = weights_of(batch), batch.usable
            parts = [whole[usable], *([whole[usable] ** 2] if self.query.squares else [])]
            if self.query.columns:
                parts += [whole[readable] for readable in batch.readable]
            counts += [_exact_total(in_units(part)) for part in parts]
        return Partial(counts, b"")


def integer_columns(
    block: Rows,
    features: FeatureMap,
    residuals: RowValues | None = None,
    out: Array | None = None,
    *,
    joint: bool = False,
) -> Array:
    """Return the integers ψ of every row of a block; zero for rows that cannot be used."""
    psi = real_columns(block, features, residuals, out)
    if not block.usable.all():
        psi[:, ~block.usable] = 0.0
    if block.weights is not None:
        # √v ψ, whose outer product has weight v: values are clipped before they are weighted
        np.clip(psi[features.dimension :], -1.0, 1.0, out=psi[features.dimension :])
        psi *= np.sqrt(weights_of(block))
    return _rounded(psi, features.dimension, joint)


def real_columns(
    block: Rows,
    features: FeatureMap,
    residuals: RowValues | None = None,
    out: Array | None = None,
) -> Array:
    """Return ψ = (φ(x), targets or residuals) of every row of a block, written to ``out``."""
    d = features.dimension
    psi = np.empty((d + len(block.targets), len(block))) if out is None else out
    if residuals is None:
        features.evaluate(block.inputs, psi[:d])
        psi[d:] = block.targets
    else:
        psi[d:] = residuals.beside(features, block.inputs, block.targets, psi[:d])
    return psi


def _rounded(psi: Array, d: int, joint: bool) -> Array:
    """Round the first ``d`` rows as features and the others as targets, in place."""
    round_columns(psi[:d])
    (round_columns if joint else round_targets)(psi[d:])
    return psi


def _block_counts(block: Rows, query: HistogramQuery) -> Integers:
    values = query.values_of(block.inputs, block.targets)[:, block.usable]
    bins = np.searchsorted(query.edges, values, side="right")
    units = in_units(weights_of(block)[block.usable])  # of 2¹² rows at most: sums stay below 2⁵³
    is_there = ~np.isnan(values)  # where a row has no value it is in no bin
    counts = [
        np.bincount(row[has], units[has], len(query.edges) + 1)
        for row, has in zip(bins, is_there, strict=True)
    ]
    return np.stack(counts).astype(np.int64).astype(object)


def weights_of(rows: Rows) -> Array:
    """Return what part of a row each adds, never below 0 or above 1: what sensitivities rest on."""
    if rows.weights is None:
        return np.ones(len(rows))
    return np.clip(np.nan_to_num(rows.weights), 0.0, 1.0)


def in_units(parts: Array) -> Array:
    """Return parts of rows in units of 2^{-2b}, rounded down."""
    return np.floor(parts * UNIT**2)


def _exact_total(units: Array) -> int:
    """Return the sum of whole numbers up to 2^{2b}: its halves of b bits stay exact in float64."""
    high = np.floor(units / UNIT)
    return int(UNIT) * int(high.sum()) + int((units - UNIT * high).sum())


def public_block(filler: Any, like: Rows, size: int = BLOCK_ROWS) -> Rows:
    """Return a block of one public row, to check that its place in a block does not matter."""
    block = padded(like, filler, size)
    return Rows(block.inputs, block.targets, np.ones(size, dtype=bool))


def _blocks(batches: Iterable[Rows], filler: Any, size: int) -> Iterator[Rows]:
    """Cut batches into blocks of one size; what is left of one goes into the next."""
    rest: Rows | None = None
    for batch in batches:
        rows = batch if rest is None else rest.with_more(batch)
        full = len(rows) // size * size
        for block in rows.chosen(slice(full)).blocks(size):
            yield padded(block, filler, size)
        rest = rows.chosen(slice(full, None)) if full < len(rows) else None
    if rest is not None:
        yield padded(rest, filler, size)


def padded(block: Rows, filler: Any, size: int) -> Rows:
    """Fill a block to its full size, and put a public row in place of those that are not usable.

    So every row takes the same path through the arithmetic, wherever it stands.
    """
    if len(block) == size and block.usable.all():
        # copied all the same: in another memory layout a product could take another path
        inputs, targets = (np.array(part, order="C") for part in (block.inputs, block.targets))
        return replace(block, inputs=inputs, targets=targets)
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
    weights = None if block.weights is None else np.zeros(size)
    if weights is not None:
        weights[: len(block)] = block.weights
    return Rows(inputs, targets, usable, weights=weights)
