r"""Calibrated interval factors from one noisy histogram of scaled absolute residuals.

The histogram counts :math:`t = |y - m(x)|/s(x)` over the training rows. Its law is estimated as a
mixture of Student laws of any scale and tail, each bent by a smooth curve, all weighted by the
exact Gaussian likelihood of the noisy counts: with little noise the counts speak, with much noise
the prior does. docs/method.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from dpgp.inference.noisy_law import Candidates, Law, believe, bent_candidates, check_counts

Array = NDArray[np.float64]

COVERAGE = 0.95
"""What intervals hold where nothing else is asked for: the custom of reports."""

EDGES = np.array([0, 0.4, 0.8, 1.2, 1.7, 2.4, 3.4, np.inf])
"""Bin edges where noise matters: every bin adds its own noise to the CDF, so they are few."""

FINE_EDGES = np.array([0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.45, 1.7, 2.0, 2.4, 2.8, 3.4, 4.5, np.inf])
"""Bin edges where noise does not matter."""

# The prior of the law of t, set by hand around the model's own N(0, 1)
LOG_SCALES = np.linspace(-1.2, 1.2, 49)  # a scale from 0.3 to 3.3, three prior sds each way
LOG_SCALE_SD = 0.4  # the model's own standard deviation is right to a factor 1.5
INVERSE_DF = np.array([0.0, 0.1, 0.2, 0.3, 0.4])  # tails from normal to Student with 2.5 df

SMALLEST_SHARE, LARGEST_SHARE = 0.01, 0.10
BIN_ERROR = 0.01
"""Noise of a bin, as a share of all rows, that is paid for within these shares of μ². By hand:
noise in the factors of intervals against noise in the mean."""

FINE_FROM = 80
"""Finer bins where the noise of a bin is below one row in so many. By hand: bins that blur the law
against bins that are noise."""

# Where the CDF is kept: steps of a fortieth of a standard deviation up to 6, then of 4 %
FACTORS = np.concatenate([np.linspace(0, 6, 241), np.geomspace(6.2, 60, 60)])


@dataclass(frozen=True)
class Calibration:
    r"""Distribution of the scaled absolute residual: `cdf` at `factors`, linear in between."""

    factors: Array
    cdf: Array

    def factor(self, coverage: float) -> float:
        r"""The :math:`k` with which :math:`m(x) \pm k\,s(x)` covers new observations that often."""
        if not 0 < coverage < 1:
            raise ValueError(f"`coverage` must lie strictly between 0 and 1, got {coverage}.")
        return float(np.interp(coverage, self.cdf, self.factors))

    def coverage(self, factor: float) -> float:
        """Estimated probability of a new observation within `factor` standard deviations."""
        return float(np.interp(factor, self.factors, self.cdf))

    @property
    def scale(self) -> float:
        r"""Root mean square of the scaled residual: :math:`s(x)` times it is calibrated."""
        low, high = self.factors[:-1], self.factors[1:]
        squares = (low**2 + low * high + high**2) / 3  # E[t²] of a law that is even in between
        return float(np.sqrt(np.diff(self.cdf) @ squares))

    def widened(self, ratio: float) -> Calibration:
        """Return the law of residuals that are so many times as large."""
        return Calibration(self.factors * ratio, self.cdf)

    @classmethod
    def gaussian(cls) -> Calibration:
        """The model's own intervals, uncalibrated."""
        return cls(FACTORS, 2 * norm.cdf(FACTORS) - 1)


def calibrate(
    counts: Array, noise_std: float, n: float, edges: Array = EDGES, n_std: float = 0.0
) -> Calibration:
    r"""Posterior mean of the CDF of :math:`t` given noisy counts of `n` rows between `edges`.

    Where n is itself noisy, `n_std` is the standard deviation of its noise. docs/method.md.
    """
    counts, edges = np.asarray(counts, float), np.asarray(edges, float)
    check_counts(counts, noise_std, n, edges)
    if edges[0] != 0:
        raise ValueError("`edges` must increase from 0 to infinity.")
    belief = believe(counts, noise_std, n, _candidates(tuple(edges)), n_std)
    return Calibration(FACTORS, belief.cdf)


def calibration_share(n: float, mu: float, sensitivity: float = math.sqrt(2.0)) -> float:
    r"""Share :math:`w` of :math:`\mu^2` for the histogram, from public numbers alone.

    What makes the noise of a bin, :math:`\sigma_h = \Delta/(\mu\sqrt w)`, one in a hundred rows,
    but at least a hundredth and at most a tenth. docs/method.md.
    """
    return float(np.clip((sensitivity / (BIN_ERROR * n * mu)) ** 2, SMALLEST_SHARE, LARGEST_SHARE))


def calibration_edges(noise_std: float, n: float) -> Array:
    """Public bin edges: fine where the noise of a bin is below an eightieth of the rows."""
    return FINE_EDGES if noise_std * FINE_FROM <= n else EDGES


@lru_cache(maxsize=8)
def _candidates(edges: tuple[float, ...]) -> Candidates:
    """All scales, tails and bends; log-normal prior of the scale, equal weights of the rest."""
    laws = [
        (_scaled(_absolute_law(inverse_df), math.exp(log_scale)), _log_prior(log_scale))
        for inverse_df, log_scale in product(INVERSE_DF, LOG_SCALES)
    ]
    return bent_candidates(laws, np.array(edges), FACTORS, _score_of_absolute)


def _log_prior(log_scale: float) -> float:
    return -0.5 * (log_scale / LOG_SCALE_SD) ** 2


def _scaled(law: Law, scale: float) -> Law:
    return lambda x: law(x / scale)


def _absolute_law(inverse_df: float) -> Law:
    """CDF of a Student variable's absolute value, with the median of a standard normal's."""
    if inverse_df == 0:
        return lambda x: 2 * norm.cdf(x) - 1
    law = student(1 / inverse_df)
    # P(|t| < q) = ½ at the upper quartile q
    unit = law.ppf(0.75) / norm.ppf(0.75)
    return lambda x: 2 * law.cdf(x * unit) - 1


def _score_of_absolute(F: Array) -> Array:
    """Φ⁻¹(½ + ½F): the normal score of an absolute value."""
    return np.asarray(norm.ppf(0.5 + 0.5 * F))
