r"""What a row may have where it lacks inputs: draws of a released model, given what it has.

A row with gaps stands for :data:`DRAWS` complete ones, and what is asked of it is their average:
of norm at most one, since that of an average is at most the average of norms (Jensen). The draws
are those of a Gaussian copula. Unconditional ones, the same for every row, are moved to what the
row has, one coordinate after the other,

.. math:: d \leftarrow d + S_j (z_j - d_j)/S_{jj}, \qquad S \leftarrow S - S_j S_j^\top/S_{jj},

element by element: what stands in for a row is a function of that row alone. Proof:
docs/proofs/gram_sensitivity.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpgp.types import Array

DRAWS = 16
"""Complete rows that stand for one with gaps: docs/results/missing.md. A power of two, so that
division by it is exact."""

SMALLEST_EIGENVALUE = 0.02
"""Of the correlations of scores; by hand: what a row has never settles all that it lacks."""

HASH = 997.0
"""Turns scores into a draw that is as good as any; by hand, prime."""


@dataclass(frozen=True)
class Completion:
    """Complete rows in the place of one with gaps; ``blocks`` are coordinates of a category."""

    values: Array  # (D, rows), increasing
    correlation: Array  # (D, D), of the scores
    blocks: tuple[NDArray[np.intp], ...] = ()

    @classmethod
    def of(cls, rows: Array, blocks: list[NDArray[np.intp]]) -> Completion:
        """Return the copula of public rows, which all are complete."""
        values = np.ascontiguousarray(np.sort(rows, axis=0).T)
        scores = _scores(rows, values)
        scores /= np.maximum(scores.std(axis=0), SMALLEST_EIGENVALUE)
        correlation = np.einsum("nd,ne->de", scores, scores) / len(scores)
        for block in blocks:
            correlation[np.ix_(block, block)] = 0.0
        np.fill_diagonal(correlation, 1.0)
        return cls(values, _positive(correlation), tuple(blocks))

    def drawn(self, V: Array) -> Array:
        """Return :data:`DRAWS` complete rows for every row, (draws, rows, coordinates)."""
        is_there = ~np.isnan(V)
        z = np.where(is_there, _scores(V, self.values), 0.0)
        count, D = V.shape
        d = np.repeat(self._unconditional[:, None], count, axis=1)
        S = np.tile(self.correlation, (count, 1, 1))
        for j in range(D):
            gain = np.where(is_there[:, j, None], S[:, j] / S[:, j, j, None], 0.0)
            d += gain * (z[:, j] - d[:, :, j])[:, :, None]
            S -= gain[:, :, None] * S[:, j, None, :]
        return np.where(is_there, V, self._at(ndtr(d)))

    @cached_property
    def _unconditional(self) -> Array:
        """Low-discrepancy draws of the normal law of these correlations, (draws, coordinates)."""
        from scipy.stats import qmc  # slow to import

        none = np.zeros(len(self.correlation))
        even = qmc.MultivariateNormalQMC(none, seed=3).random(DRAWS)
        return np.asarray(even @ np.linalg.cholesky(self.correlation).T)

    def one_of(self, V: Array) -> Array:
        """Return one of the complete rows for every row, chosen by what it has."""
        z = np.where(np.isnan(V), 0.0, _scores(V, self.values))
        number = np.modf(HASH * np.abs(z).sum(axis=1))[0] * DRAWS
        return np.asarray(self.drawn(V)[number.astype(np.intp), np.arange(len(V))])

    def _at(self, levels: Array) -> Array:
        """Return the values at levels of the marginals; of a category one level wins."""
        count = self.values.shape[1]
        places = np.minimum((levels * count).astype(np.intp), count - 1)
        found = np.stack([row[places[..., j]] for j, row in enumerate(self.values)], axis=-1)
        for block in (block for block in self.blocks if len(block) > 1):
            shares = np.maximum((self.values[block] > 0.0).mean(axis=1), 0.5 / count)
            race = np.log(shares) - np.log(-np.log(np.clip(levels[..., block], 1e-12, 1 - 1e-12)))
            winner = np.argmax(race, axis=-1)
            found[..., block] = np.where(np.arange(len(block)) == winner[..., None], 1.0, -1.0)
        return found


Columns = Callable[[Array, Array | None], tuple[Array, ...]]
"""A function from complete rows to columns, of which the first are written to an array if given."""


def over_gaps(
    completion: Completion, function: Columns, V: Array, filler: float, out: Array | None = None
) -> tuple[Array, ...]:
    """Return columns of every row of ``V``, averaged over the draws where a row has gaps.

    As many draws are evaluated at a time as there are rows, and in the same layout of memory: all
    rows take one path.
    """
    gaps = np.asarray(np.isnan(V).any(axis=1))
    columns = function(np.asfortranarray(np.where(gaps[:, None], filler, V)), out)
    size, places = max(len(V) // DRAWS, 1), np.flatnonzero(gaps)
    for start in range(0, len(places), size):
        part = places[start : start + size]
        few = np.full((size, V.shape[1]), filler)
        few[: len(part)] = V[part]
        drawn = completion.drawn(few).reshape(-1, V.shape[1])
        of_draws = function(np.asfortranarray(drawn), None)
        for whole, each in zip(columns, of_draws, strict=True):
            total = each[:, :size].copy()
            for k in range(1, DRAWS):
                total += each[:, k * size : (k + 1) * size]
            whole[:, part] = total[:, : len(part)] / DRAWS
    return columns


def _scores(V: Array, values: Array) -> Array:
    """Return normal scores: of values that many have, that of the middle of their ranks."""
    count = values.shape[1]
    ranks = [
        np.searchsorted(row, v, side="left") + np.searchsorted(row, v, side="right")
        for row, v in zip(values, V.T, strict=True)
    ]
    levels = np.clip(np.array(ranks).T / (2.0 * count), 0.5 / count, 1.0 - 0.5 / count)
    return np.asarray(ndtri(levels))


def _positive(correlation: Array) -> Array:
    """Return correlations of which no eigenvalue is too small."""
    eigenvalues, Q = np.linalg.eigh(correlation)
    positive = (Q * np.maximum(eigenvalues, SMALLEST_EIGENVALUE)) @ Q.T
    roots = np.sqrt(np.diag(positive))
    return np.asarray(positive / np.outer(roots, roots))
