r"""Probabilities that add up, and whose expected log loss is least.

With places of shares :math:`w`, beliefs :math:`f \sim N(m, s^2)` there and :math:`\ell` the log
odds of the mean of :math:`N(m, \tau^2)` within [0, 1], :math:`\tau^2 = \sum w s^2`, probabilities
are

.. math:: p = \sigma(a + b\,\ell).

Log loss is linear in f, so that its posterior expectation is that at a mean:
:math:`-\sum w(\tilde f\log p + (1 - \tilde f)\log(1 - p))`. It is least where
:math:`\sum w p = \sum w\tilde f` and :math:`\sum w\tilde\ell p = \sum w\tilde\ell\tilde f`,
:math:`\tilde\ell = \ell - \sum w\ell`. The first is the average P of people, N(m̄, s̄²) within
[0, 1]. The second is what is known of the slope of f along :math:`\ell`: S with posterior variance
v, of which :math:`S^2/(S^2 + v)` counts, the share that has the least expected square error if S is
right. Where f may be constant that is little, and probabilities are P for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from dpgp.outcomes.chances import SMALLEST_CHANCE, SMALLEST_ERROR, chance, shifted
from dpgp.types import Array

LARGEST_SHIFT = 60.0
"""Of log odds: beyond what the smallest and the largest chance are apart, 41."""

LARGEST_DEVIATION = 6.0
"""Sd of log odds among people. With more, hardly one is between yes and no; reached only where m
leaves [0, 1] for most, and the expected log loss has no least value."""


class LogOdds(NamedTuple):
    """How a belief becomes a probability, and how far the ends of its intervals are moved.

    ``level`` and ``slope`` are a and b, ``spread`` is τ, each place's own sd where that is None.
    """

    shift: float = 0.0
    level: float = 0.0
    slope: float = 1.0
    spread: float | None = None

    def probability(self, mean: Array, std: Array) -> Array:
        """Return σ(a + bℓ), never 0 nor 1."""
        own = chance(mean, std if self.spread is None else np.full_like(mean, self.spread))
        p = expit(self.level + self.slope * logit(own))
        return np.asarray(np.clip(p, SMALLEST_CHANCE, 1.0 - SMALLEST_CHANCE))

    def interval(self, mean: Array, std: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Return ends with shifted log odds, the probability never beyond them."""
        p = self.probability(mean, std)
        return np.minimum(shifted(low, self.shift), p), np.maximum(shifted(high, self.shift), p)


AS_BELIEVED = LogOdds()
"""The mean of the belief within [0, 1] is the probability."""


def fitted_log_odds(mean: Array, std: Array, shares: Array, covariance: Array) -> LogOdds:
    """Return shift, a, b and τ of beliefs N(mean, covariance), ``shares`` of people having each."""
    error = np.sqrt(max(float(shares @ covariance @ shares), SMALLEST_ERROR**2))
    whole = float(chance(np.array([shares @ mean]), np.array([error]))[0])
    shift = _level(logit(chance(mean, np.maximum(std, SMALLEST_ERROR))), shares, whole)
    spread = max(float(np.sqrt(shares @ std**2)), SMALLEST_ERROR)
    odds = logit(chance(mean, np.full_like(mean, spread)))
    slope = _slope(odds, mean, shares, covariance, whole)
    return LogOdds(shift, _level(slope * odds, shares, whole), slope, spread)


def _level(odds: Array, shares: Array, whole: float) -> float:
    """Return the a with Σwσ(a + odds) = P."""
    from scipy.optimize import brentq  # slow to import, and a fitted model needs it no more

    end = LARGEST_SHIFT + float(np.abs(odds).max())
    return float(brentq(lambda a: float(shares @ expit(a + odds)) - whole, -end, end))


def _slope(odds: Array, mean: Array, shares: Array, covariance: Array, whole: float) -> float:
    """Return the b with Σwℓ̃p = S³/(S² + v)."""
    from scipy.optimize import brentq

    centred = odds - shares @ odds
    along, deviation = shares * centred, float(np.sqrt(shares @ centred**2))
    S, v = float(along @ mean), max(float(along @ covariance @ along), 0.0)
    if S <= 0.0:  # m is the same everywhere
        return 0.0

    def gap(b: float) -> float:
        return float(along @ expit(_level(b * odds, shares, whole) + b * odds)) - S**3 / (S**2 + v)

    most = LARGEST_DEVIATION / deviation
    return most if gap(most) <= 0.0 else float(brentq(gap, 0.0, most))
