"""Labels by what was predicted: what a noisy histogram of both costs, and where its bins are cut.

A row falls into one bin of predictions and has one label, so that it is in one bin of all.
"""

from __future__ import annotations

import math

import numpy as np

from dpgp.types import Array

SMALLEST_SHARE, LARGEST_SHARE = 0.02, 0.05  # of μ²; by hand, as the error that is paid for
BIN_ERROR = 0.005
"""Noise of a bin, as a share of all rows, that is paid for within these shares of μ². By hand: one
in twenty of the rows of one of ten bins."""

WORST_ERROR = 0.03
"""Noise of a bin, as a share of all rows, beyond which nothing is bought: of the rows of one of
five bins it is a seventh. By hand."""

FEWEST_BINS, MOST_BINS = 5, 10
"""Bins of predictions: by custom deciles, and where noise matters half as many, twice as large."""

BIN_NOISE = 0.05
"""Noise of a bin, as a share of its rows, that more bins than the fewest may have. By hand."""

DIGITS = 9
"""Of predictions that are one: a last bit that differs between processors parts no rows."""


def reliability_share(signal: float) -> float:
    """Return the share of μ² of the histogram; none where it would be mostly noise."""
    whole = math.sqrt(2.0) / signal if signal > 0.0 else math.inf
    if whole / math.sqrt(LARGEST_SHARE) > WORST_ERROR:
        return 0.0
    return min(max((whole / BIN_ERROR) ** 2, SMALLEST_SHARE), LARGEST_SHARE)


def most_bins(noise_std: float, rows: float) -> int:
    """Return as many bins as have little noise each, from five to ten."""
    wanted = BIN_NOISE * rows / noise_std if noise_std > 0.0 else MOST_BINS
    return int(min(max(wanted, FEWEST_BINS), MOST_BINS))


def cuts_between(values: Array, weights: Array, bins: int) -> Array:
    """Return where to cut values into at most so many bins of equal weight, none of them empty.

    A cut is midway between two values that differ.
    """
    distinct, index = np.unique(np.round(values, DIGITS), return_inverse=True)
    below = np.cumsum(np.bincount(index.ravel(), weights=weights))
    levels = np.arange(1, bins) / bins * below[-1]
    last = np.unique(np.searchsorted(below, levels))  # the last value of every bin
    last = last[last < len(distinct) - 1]
    return np.asarray((distinct[last] + distinct[last + 1]) / 2.0)


def means_and_gaps(values: Array, weights: Array, cuts: Array) -> tuple[Array, Array]:
    """Return the mean of every bin's values, and how far apart two of them are on average."""
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    places = np.searchsorted(cuts, values)
    bins = [(values[places == k], weights[places == k]) for k in range(len(cuts) + 1)]
    found = np.array([_mean_and_gap(own, shares / shares.sum()) for own, shares in bins])
    return found[:, 0], found[:, 1]


def _mean_and_gap(values: Array, shares: Array) -> tuple[float, float]:
    """E|x − x'| = 2E[x(2F(x) − 1)] of rising values, F midway up its steps."""
    middles = np.cumsum(shares) - shares / 2.0
    return float(shares @ values), float(2.0 * shares @ (values * (2.0 * middles - 1.0)))
