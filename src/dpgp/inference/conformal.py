r"""The law of scaled residuals, from one noisy histogram: quantiles of new observations.

The histogram counts :math:`t = (y - m(x))/c(x)s(x)` over the training rows. Its law is estimated as
a mixture of skewed Student laws of any scale and tail, each bent by a smooth curve, all weighted by
the exact Gaussian likelihood of the noisy counts: with little noise the counts speak, with much
noise the prior does. docs/method.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import ndtr

from dpgp.inference.noisy_law import LawBelief, Measured, believe
from dpgp.inference.residual_families import GRID, both_sides, skewed_candidates
from dpgp.types import Array

COVERAGE = 0.95
"""What intervals hold where nothing else is asked for: the custom of reports."""

EDGES = np.array([0, 0.4, 0.8, 1.2, 1.7, 2.4, 3.4, np.inf])
"""Bin edges on each side where noise matters: every bin adds its own noise, so they are few."""

FINE_EDGES = np.array([0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.45, 1.7, 2.0, 2.4, 2.8, 3.4, 4.5, np.inf])
"""Bin edges on each side where noise does not matter."""

SMALLEST_SHARE, LARGEST_SHARE = 0.01, 0.10  # of μ²; by hand, as the error that is paid for
BIN_ERROR = 0.01
"""Noise of a bin, as a share of all rows, that is paid for within these shares of μ². By hand:
noise in the factors of intervals against noise in the mean."""

FINE_FROM = 80
"""Finer bins where the noise of a bin is below one row in so many. By hand: bins that blur the law
against bins that are noise."""


@dataclass(frozen=True)
class Calibration:
    r"""Distribution of the scaled residual t: `cdf` at `factors`, linear in between."""

    factors: Array
    cdf: Array

    def quantile(self, level: float) -> float:
        """Return the value that t stays below with this probability."""
        return float(np.interp(level, self.cdf, self.factors))

    def quantiles(self, levels: Array) -> Array:
        """Return the same for many probabilities."""
        return np.interp(levels, self.cdf, self.factors)

    def level(self, t: Array) -> Array:
        """Return the probability that a new scaled residual is below t."""
        return np.interp(t, self.factors, self.cdf)

    def ends(self, coverage: float) -> tuple[float, float]:
        """Return the central interval of t that holds it this often, with equal tails."""
        if not 0 < coverage < 1:
            raise ValueError(f"`coverage` must lie strictly between 0 and 1, got {coverage}.")
        return self.quantile((1 - coverage) / 2), self.quantile((1 + coverage) / 2)

    def factor(self, coverage: float) -> float:
        """Return half the length of the central interval."""
        low, high = self.ends(coverage)
        return (high - low) / 2

    @property
    def scale(self) -> float:
        r"""Root mean square of t: :math:`c(x)s(x)` times it is calibrated."""
        low, high = self.factors[:-1], self.factors[1:]
        squares = (low**2 + low * high + high**2) / 3  # E[t²] of a law that is even in between
        return float(np.sqrt(np.diff(self.cdf) @ squares))

    def widened(self, ratio: float) -> Calibration:
        """Return the law of residuals that are so many times as large."""
        return Calibration(self.factors * ratio, self.cdf)

    @classmethod
    def gaussian(cls) -> Calibration:
        """The model's own intervals, uncalibrated."""
        return cls(GRID, ndtr(GRID))

    @classmethod
    def of_absolute(cls, factors: Array, cdf: Array) -> Calibration:
        """Return the symmetric law whose absolute value has this distribution from 0 on."""
        return cls(both_sides(factors), np.concatenate([(1 - cdf[:0:-1]) / 2, (1 + cdf) / 2]))


def calibrate(
    counts: Array,
    noise_std: float,
    n: float,
    edges: Array | None = None,
    n_std: float = 0.0,
    squares: Iterable[Measured] = (),
) -> Calibration:
    r"""Posterior mean of the CDF of t given noisy counts of `n` rows between `edges`.

    Where n is itself noisy, `n_std` is the standard deviation of its noise. `squares` are what else
    was measured of the law. docs/method.md.
    """
    candidates = skewed_candidates(tuple(both_sides(EDGES) if edges is None else edges))
    belief = believe(counts, noise_std, n, candidates, n_std)
    return Calibration(GRID, reduce(LawBelief.given, squares, belief).cdf)


def calibration_share(n: float, mu: float) -> float:
    r"""Share :math:`w` of :math:`\mu^2` for the histogram, from public numbers alone.

    What makes the noise of a bin, :math:`\sigma_h = \sqrt2/(\mu\sqrt w)`, one in a hundred rows,
    but at least a hundredth and at most a tenth. docs/method.md.
    """
    return float(
        np.clip((math.sqrt(2.0) / (BIN_ERROR * n * mu)) ** 2, SMALLEST_SHARE, LARGEST_SHARE)
    )


def calibration_edges(noise_std: float, n: float) -> Array:
    """Public bin edges: fine where the noise of a bin is below an eightieth of the rows."""
    return both_sides(FINE_EDGES if noise_std * FINE_FROM <= n else EDGES)
