r"""Private warping: give crowded stretches of every input more room, from noisy histograms alone.

Real columns sit in a corner of their public interval. Each input, scaled to [-1, 1], passes through
a half-way mix of its private CDF and the identity. docs/method.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.inference.noisy_law import Candidates, believe, even_candidates
from dpgp.types import Array

MIX = 0.5
"""Share of the private CDF in the map; the rest is the identity, so slopes are at least a half and
empty stretches keep features too. By hand."""

STEEPEST = 8.0
"""Largest density, relative to uniform, that the map follows; by hand: peaks may be noise."""

# The prior of a density, by hand; all equally likely before the counts are seen
AMPLITUDES = np.array([0.0, 0.25, 0.5, 1.0, 2.0, 4.0])  # sds relative to uniform; 0 is uniform
LENGTHS = np.array([0.05, 0.15, 0.45])  # correlation lengths, in widths of the box

# What a warp may cost, by hand: noise in the map against noise in every stage
WORTHWHILE = 0.1  # error of the middle of a private CDF above which nothing is spent
WANTED = 0.03  # the error that is bought where it is affordable
SMALLEST_SHARE, LARGEST_SHARE = 0.01, 0.05  # of μ²

FEW_BINS, SOME_BINS, MANY_BINS = 8, 16, 32  # by hand: detail against noise in the CDF
SOME_FROM, MANY_FROM = 180, 1500
"""nμ/Δ, rows over the noise of a count, from which on there are more bins; by hand."""


@dataclass(frozen=True)
class Warp:
    r"""One increasing piecewise-linear map of [-1, 1] per input: row `j` of `values` at `edges`."""

    edges: Array
    values: Array

    @classmethod
    def identity(cls, D: int) -> Warp:
        """The warp that changes nothing."""
        edges = np.array([-1.0, 1.0])
        return cls(edges, np.tile(edges, (D, 1)))

    def apply(self, U: Array) -> Array:
        """Warped inputs, a pure function of each row; `U` has entries in [-1, 1]."""
        self._check(U)
        interpolated = _on_even_edges if self._is_even else np.interp
        columns = zip(U.T, self.values, strict=True)
        return np.array([interpolated(u, self.edges, values) for u, values in columns]).T

    @cached_property
    def _is_even(self) -> bool:
        return np.array_equal(self.edges, np.linspace(-1.0, 1.0, len(self.edges)))

    def invert(self, V: Array) -> Array:
        """The inputs that `apply` maps to `V`."""
        self._check(V)
        return np.column_stack(
            [np.interp(v, y, self.edges) for v, y in zip(V.T, self.values, strict=True)]
        )

    def slopes(self) -> Array:
        """Derivative of each map within each bin, (D, bins)."""
        return np.diff(self.values) / np.diff(self.edges)

    def _check(self, U: Array) -> None:
        if U.ndim != 2 or U.shape[1] != len(self.values):
            raise ValueError(f"`U` must have shape (rows, {len(self.values)}), got {U.shape}.")


def _on_even_edges(u: Array, edges: Array, values: Array) -> Array:
    """Return what ``np.interp`` does; a bin that is computed takes a sixth of the time."""
    half = (len(edges) - 1) / 2
    with np.errstate(invalid="ignore"):  # what is no number has no bin, and stays none
        left = (u * half + half).astype(np.intp)
    left = np.clip(left, 0, len(edges) - 2)
    slopes = np.diff(values) / np.diff(edges)
    # g(u) = g(e) + slope·(u − e), e the edge below u
    within = u - edges.take(left)
    within *= slopes.take(left)
    return np.asarray(values.take(left) + within)


def fit_warp(counts: Array, noise_std: float, n: float) -> Warp:
    r"""The warp of noisy histograms, one row of `counts` per input over equal bins of [-1, 1].

    :math:`g_j(u) = (1 - m)\,u + m\,(2\hat F_j(u) - 1)`, with the density of :math:`\hat F_j` from
    :func:`estimate_density`, cut at `STEEPEST` times uniform: slopes lie between :math:`1 - m` and
    :math:`1 + 7m`. Where a metric is learned, :class:`.many.marginals.Marginals` makes
    another map, which leaves a crowd within one of few bins no room. docs/results/laws.md.
    """
    counts = _checked(counts, noise_std, n)
    edges = np.linspace(-1.0, 1.0, counts.shape[1] + 1)
    density = np.array([_cut_peaks(estimate_density(row, noise_std, n)) for row in counts])
    cdf = np.cumsum(density / density.sum(axis=1, keepdims=True), axis=1)
    values = (1 - MIX) * edges[1:] + MIX * (2 * cdf - 1)
    values[:, -1] = 1.0
    return Warp(edges, np.column_stack([-np.ones(len(counts)), values]))


def estimate_density(counts: Array, noise_std: float, n: float) -> Array:
    """Bin masses of one input, relative to uniform, from noisy counts of n rows.

    Much noise gives the uniform density: no warp.
    """
    K = len(counts)
    density: Array = K * believe(counts, noise_std, n, smooth_candidates(K)).mean_masses
    return density


@lru_cache(maxsize=4)
def smooth_candidates(K: int) -> Candidates:
    r"""Even masses of K bins that differ smoothly, :math:`C = e^{-|u-u'|/\ell}` in [0, 1]."""
    u = (np.arange(K) + 0.5) / K
    correlations = [np.exp(-np.abs(u[:, None] - u) / length) for length in LENGTHS]
    return even_candidates(AMPLITUDES, correlations)


def warp_share(n: float, D: int, mu: float) -> float:
    r"""Share :math:`w` of :math:`\mu^2` for all histograms together; 0 says do not warp.

    With :math:`K` bins of noise :math:`\sigma_h = \Delta/(\mu\sqrt w)`, :math:`\Delta = \sqrt{2D}`,
    the middle of a private CDF is off by :math:`e = \sigma_h\sqrt K/2n`. Spend what makes :math:`e`
    0.03, at least a hundredth, at most five; where that leaves it above a tenth, nothing.
    """
    # e = Δ√K/(2nμ√w), here at w = 1
    error = math.sqrt(2 * D) * math.sqrt(warp_bins(n, D, mu)) / (2 * n * mu)
    if error / math.sqrt(LARGEST_SHARE) > WORTHWHILE:
        return 0.0
    return min(max((error / WANTED) ** 2, SMALLEST_SHARE), LARGEST_SHARE)


def warp_bins(n: float, D: int, mu: float) -> int:
    r"""Number of bins from public numbers, 8, 16 or 32: more bins bring more noise into the CDF."""
    signal = n * mu / math.sqrt(2 * D)
    if signal < SOME_FROM:
        return FEW_BINS
    return SOME_BINS if signal < MANY_FROM else MANY_BINS


def _cut_peaks(density: Array) -> Array:
    """The density cut at `STEEPEST`, what is cut off spread evenly: still of mean one."""
    cut = np.minimum(density, STEEPEST)
    spare = density.mean() - cut.mean()
    room = STEEPEST - cut
    filled: Array = cut + spare * room / max(float(room.mean()), TINY)
    return filled


def _checked(counts: Array, noise_std: float, n: float) -> Array:
    """Counts as a finite (D, bins) array."""
    counts = np.asarray(counts, float)
    if counts.ndim != 2 or counts.shape[1] < 2:
        raise ValueError(
            f"`counts` must have shape (D, bins) with two bins or more, got {counts.shape}."
        )
    if not (n > 0 and noise_std >= 0):
        raise ValueError(
            f"`n` must be positive and `noise_std` not negative, got {n} and {noise_std}."
        )
    return counts
