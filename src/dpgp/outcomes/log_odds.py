r"""Probabilities that add up, and lose least by all that is believed.

With places of shares :math:`w`, beliefs :math:`f \sim N(m, s^2)` there and :math:`\ell` the log
odds of the mean of :math:`N(m, \tau^2)` within [0, 1], :math:`\tau^2 = \sum w s^2`, probabilities
are

.. math:: p = \sigma(a + b\,\ell).

Log loss is linear in f, so that its posterior expectation is that at m:
:math:`-\sum w(m\log p + (1 - m)\log(1 - p))`. It is least where :math:`\sum wp = \sum wm` and
:math:`\sum w\tilde\ell p = S = \sum w\tilde\ell m`, :math:`\tilde\ell = \ell - \sum w\ell`. The
first average is kept, as the mean of its own law within [0, 1]. S has a variance v, larger than
that of the posterior, whose hyperparameters were learned from the same noise. Either b = 0, and p
is the same for all, or few people have log odds far apart and b > 0 has the density

.. math:: N(S;\ \textstyle\sum w\tilde\ell p_b,\ v)\;N(b\,\mathrm{sd}(\ell);\ 0, 1).

Odds are even before S is seen. b is the mode of this density times its posterior probability.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtri

from dpgp.outcomes.chances import SMALLEST_CHANCE, SMALLEST_ERROR, chance, chance_interval, shifted
from dpgp.types import Array

LARGEST_SHIFT = 60.0
"""Of log odds: beyond what the smallest and the largest chance are apart, 41."""

LARGEST_DEVIATION = 20.0
"""Sd of log odds among people: nobody is between the smallest and the largest chance."""


UNTOLD_DOUBT = 1.5
"""Variance of S over that of the posterior, which takes hyperparameters and metric for known that
were learned from the same noise. Of 70 simulated tables those without a signal lose half as much
with it as with none; with 2 they lose less, and those with a signal are less reliable by decile."""


class Cut(NamedTuple):
    """One of several classes in their order: m_k, what cuts it from the next, and b.

    dpgp.outcomes.ordered; nothing cuts off the last class, which has 0 instead.
    """

    offset: float
    threshold: float
    slope: float


class LogOdds(NamedTuple):
    """How a belief becomes a probability, and how far the ends of its intervals are moved.

    ``level`` and ``slope`` are a and b, ``spread`` is τ, each place's own sd where that is None.
    ``weight`` is that of one class among several (dpgp.outcomes.classes), and ``cut`` is where
    these have an order.
    """

    shift: float = 0.0
    level: float = 0.0
    slope: float = 1.0
    spread: float | None = None
    weight: float = 1.0
    cut: Cut | None = None

    def probability(self, mean: Array, std: Array) -> Array:
        """Return σ(a + bℓ), never 0 nor 1."""
        own = chance(mean, std if self.spread is None else np.full_like(mean, self.spread))
        p = expit(self.level + self.slope * logit(own))
        return np.asarray(np.clip(p, SMALLEST_CHANCE, 1.0 - SMALLEST_CHANCE))

    def interval(self, mean: Array, std: Array, coverage: float) -> tuple[Array, Array]:
        """Return ends of N(m, s²) given [0, 1], with shifted log odds, and the probability within.

        They are never nearer than those of N(m, s²) itself: a shift makes an average right, and
        would draw in the end beyond which a rare class is found where it is less rare.
        """
        p, half = self.probability(mean, std), std * ndtri((1.0 + coverage) / 2)
        low, high = (shifted(end, self.shift) for end in chance_interval(mean, std, coverage))
        return (
            np.minimum(np.minimum(low, p), np.maximum(mean - half, 0.0)),
            np.maximum(np.maximum(high, p), np.minimum(mean + half, 1.0)),
        )


AS_BELIEVED = LogOdds()
"""The mean of the belief within [0, 1] is the probability."""


def fitted_log_odds(mean: Array, std: Array, shares: Array, covariance: Array) -> LogOdds:
    """Return shift, a, b and τ of beliefs N(mean, covariance), ``shares`` of people having each."""
    error = np.sqrt(max(float(shares @ covariance @ shares), SMALLEST_ERROR**2))
    whole = float(chance(np.array([shares @ mean]), np.array([error]))[0])
    shift = level_of(logit(chance(mean, np.maximum(std, SMALLEST_ERROR))), shares, whole)
    spread = max(float(np.sqrt(shares @ std**2)), SMALLEST_ERROR)
    odds = logit(chance(mean, np.full_like(mean, spread)))
    slope = _slope(odds, mean, shares, covariance, whole)
    return LogOdds(shift, level_of(slope * odds, shares, whole), slope, spread)


def level_of(odds: Array, shares: Array, whole: float) -> float:
    """Return the a with Σwσ(a + odds) = P."""
    from scipy.optimize import brentq  # slow to import, and a fitted model needs it no more

    end = LARGEST_SHIFT + float(np.abs(odds).max())
    return float(brentq(lambda a: float(shares @ expit(a + odds)) - whole, -end, end))


def _slope(odds: Array, mean: Array, shares: Array, covariance: Array, whole: float) -> float:
    """Return the b with (S − Σwℓ̃p)·dΣwℓ̃p/db = v·b·var(ℓ), less what may be no slope at all."""
    from scipy.optimize import brentq

    centred = odds - shares @ odds
    along, variance = shares * centred, float(shares @ centred**2)
    S, v = float(along @ mean), UNTOLD_DOUBT * max(float(along @ covariance @ along), 0.0)
    if S <= 0.0:  # m is the same everywhere
        return 0.0

    def told(b: float) -> tuple[float, float]:
        """Σwℓ̃p − S and dΣwℓ̃p/db."""
        p = expit(level_of(b * odds, shares, whole) + b * odds)
        weights = shares * p * (1.0 - p)  # dp = p(1 − p)(ℓ − its mean under these weights)db
        rise = weights @ centred**2 - (weights @ centred) ** 2 / weights.sum()
        return float(along @ p) - S, float(rise)

    def gap(b: float) -> float:
        off, rise = told(b)
        return off * rise + v * b * variance

    most = LARGEST_DEVIATION / math.sqrt(variance)
    b = most if gap(most) <= 0.0 else float(brentq(gap, 0.0, most))
    return b if v == 0.0 else b * _chance_of_slope(b, S, v, variance, *told(b))


def _chance_of_slope(
    b: float, S: float, v: float, variance: float, off: float, rise: float
) -> float:
    """Return P(b > 0 | S) by Laplace's approximation about the mode b, with even odds before."""
    width = 1.0 / math.sqrt(rise**2 / v + variance)
    log_odds = (S**2 - off**2) / (2.0 * v) - b**2 * variance / 2.0
    log_odds += math.log(2.0 * math.sqrt(variance) * width) + float(log_ndtr(b / width))
    return float(expit(log_odds))
