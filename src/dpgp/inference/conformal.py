r"""Calibrated interval factors from one noisy histogram of scaled absolute residuals.

The histogram counts :math:`t = |y - m(x)|/s(x)` over the training rows. Its law is estimated as a
mixture of Student laws of any scale and tail, each bent by a smooth curve, all weighted by the
exact Gaussian likelihood of the noisy counts: with little noise the counts speak, with much noise
the prior does. docs/method.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

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
BEND_SDS = np.array([0.1, 0.3, 1.0])  # distance from any Student law, relative to its density
BEND_LENGTH = 0.5  # correlation length of the bend, in normal scores
BEND_ROUGHNESS = 0.2  # share of its variance that is each bin's own: peaks and gaps
TAIL_FREEDOM = 0.25  # how much freer the bend is in the tails, 1 + z²/4

SMALLEST_SHARE, LARGEST_SHARE = 0.01, 0.10
BIN_ERROR = 0.01
"""Noise of a bin, as a share of all rows, that is paid for within these shares of μ². By hand:
noise in the factors of intervals against noise in the mean."""

FINE_FROM = 80
"""Finer bins where the noise of a bin is below one row in so many. By hand: bins that blur the law
against bins that are noise."""

SLIGHT = 1e-9
"""Relative jitter, and a slope that makes a CDF invertible: both below any count's noise."""

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


class _Candidates(NamedTuple):
    """Bent Student laws: mass per bin, CDF at `FACTORS`, covariance of the bend, log prior."""

    bins: Array
    cdfs: Array
    bends: Array
    log_prior: Array


def calibrate(
    counts: Array, noise_std: float, n: float, edges: Array = EDGES, n_std: float = 0.0
) -> Calibration:
    r"""Posterior mean of the CDF of :math:`t` given noisy counts of `n` rows between `edges`.

    For each candidate mass vector :math:`b` and bend :math:`\sigma_f`, :math:`q = b \circ (1 + f)`,
    :math:`f \sim N(0, \sigma_f^2 K)`, so that
    :math:`c \sim N(nb,\ n^2\sigma_f^2D_bKD_b + n(D_b - bb^\top) + \sigma_h^2 I)` with
    :math:`D_b = \mathrm{diag}(b)`; weights and means are then exact. Where n is itself noisy, its
    `n_std` adds :math:`\sigma_n^2bb^\top`. docs/method.md.
    """
    counts, edges = _checked(counts, noise_std, n, edges)
    candidates = _candidates(tuple(edges))
    log_likelihood, q = _condition(counts, candidates, noise_std, n, n_std)
    log_weights = candidates.log_prior + log_likelihood
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    bent = [
        _bend_cdf(cdf, b, q_k)
        for cdf, b, q_k in zip(candidates.cdfs, candidates.bins, q, strict=True)
    ]
    return Calibration(FACTORS, _increasing(weights @ np.array(bent)))


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
def _candidates(edges: tuple[float, ...]) -> _Candidates:
    """All scales, tails and bends; log-normal prior of the scale, equal weights of the rest."""
    rows = []
    for inverse_df, log_scale in product(INVERSE_DF, LOG_SCALES):
        law, scale = _absolute_law(inverse_df), np.exp(log_scale)
        bins = np.diff(law(np.array(edges) / scale))
        cdf, K = law(FACTORS / scale), _bend_covariance(bins)
        log_prior = -0.5 * (log_scale / LOG_SCALE_SD) ** 2
        rows += [(bins, cdf, bend**2 * K, log_prior) for bend in BEND_SDS]
    return _Candidates(*(np.array(column) for column in zip(*rows, strict=True)))


def _absolute_law(inverse_df: float) -> Callable[[Array], Array]:
    """CDF of a Student variable's absolute value, with the median of a standard normal's."""
    if inverse_df == 0:
        return lambda x: 2 * norm.cdf(x) - 1
    law = student(1 / inverse_df)
    # P(|t| < q) = ½ at the upper quartile q
    unit = law.ppf(0.75) / norm.ppf(0.75)
    return lambda x: 2 * law.cdf(x * unit) - 1


def _bend_covariance(bins: Array) -> Array:
    r"""Covariance of :math:`f` in units of the bend: smooth in the normal score, freer in the tail.

    With :math:`z = \Phi^{-1}(\tfrac12 + \tfrac12F)` at the middle of a bin,
    :math:`K = a(z)a(z')[(1 - r)\exp(-(z - z')^2/2\ell^2) + r\,1_{z = z'}]` and
    :math:`a = 1 + z^2/4`, centred so that :math:`\sum_j b_jf_j = 0`.
    """
    # 1 − 10⁻⁶ keeps z finite where a candidate has no mass beyond a bin
    z = norm.ppf(0.5 + 0.5 * np.minimum(np.cumsum(bins) - bins / 2, 1 - 1e-6))
    freedom = 1 + TAIL_FREEDOM * z**2
    smooth = np.exp(-0.5 * ((z[:, None] - z) / BEND_LENGTH) ** 2)
    rough = np.eye(len(z))
    K = np.outer(freedom, freedom) * ((1 - BEND_ROUGHNESS) * smooth + BEND_ROUGHNESS * rough)
    # (I − 1bᵀ/Σb) K (I − 1bᵀ/Σb)ᵀ
    centre = np.eye(len(bins)) - np.outer(np.ones(len(bins)), bins / bins.sum())
    centred: Array = centre @ K @ centre.T
    return centred


def _condition(
    counts: Array, candidates: _Candidates, noise_std: float, n: float, n_std: float
) -> tuple[Array, Array]:
    """Log likelihood of the counts, and the posterior mean of q, under every candidate."""
    b = candidates.bins
    D_b, bb = b[:, :, None] * np.eye(b.shape[1]), b[:, :, None] * b[:, None, :]
    # Cov(c) = n²σ_f² D_bKD_b + n(D_b − bbᵀ) + σ_n² bbᵀ + σ_h² I
    signal = n * n * candidates.bends * bb
    noise = n * (D_b - bb) + n_std**2 * bb + (noise_std**2 + SLIGHT * n) * np.eye(b.shape[1])
    residual = (counts - n * b)[:, :, None]
    solved = np.linalg.solve(signal + noise, residual)
    log_determinant = np.linalg.slogdet(signal + noise)[1]
    # −½ rᵀCov(c)⁻¹r − ½ log|Cov(c)|, r = c − nb;  E[q | c] = b + n σ_f² D_bKD_b Cov(c)⁻¹ r
    log_likelihood = -0.5 * np.sum(residual * solved, axis=(1, 2)) - 0.5 * log_determinant
    return log_likelihood, b + (signal @ solved)[:, :, 0] / n


def _bend_cdf(cdf: Array, b: Array, q: Array) -> Array:
    """The candidate's CDF at `FACTORS`, its mass in every bin rescaled from b to q."""
    before, after = np.cumsum(b, dtype=float), np.cumsum(q, dtype=float)
    bent: Array = np.interp(cdf, np.insert(before, 0, 0.0), np.insert(after, 0, 0.0))
    return bent


def _increasing(cdf: Array) -> Array:
    """Strictly increasing within [0, 1]: running maximum plus a slope too small to matter."""
    monotone = np.maximum.accumulate(np.clip(cdf, 0.0, 1.0))
    strict: Array = (monotone + SLIGHT * np.arange(len(cdf))) / (1 + SLIGHT * len(cdf))
    return strict


def _checked(counts: Array, noise_std: float, n: float, edges: Array) -> tuple[Array, Array]:
    """Counts and edges that fit each other."""
    counts, edges = np.asarray(counts, float), np.asarray(edges, float)
    if counts.shape != (len(edges) - 1,):
        raise ValueError(
            f"`counts` must have one entry per bin, {len(edges) - 1}, got shape {counts.shape}."
        )
    if edges[0] != 0 or edges[-1] != np.inf or not (np.diff(edges) > 0).all():
        raise ValueError("`edges` must increase from 0 to infinity.")
    if not (n > 0 and noise_std >= 0):
        raise ValueError(
            f"`n` must be positive and `noise_std` not negative, got {n} and {noise_std}."
        )
    return counts, edges
