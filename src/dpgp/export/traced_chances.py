r"""Probabilities and their intervals in operations that any runtime has in double precision.

The formulas of :mod:`dpgp.outcomes.chances` and :mod:`dpgp.outcomes.log_odds`, on traces or arrays.
Runtimes have erf in single precision at best, and no inverse of Φ: here are a series for
:math:`\mathrm{erfcx}(z) = e^{z^2}\mathrm{erfc}(z)`, and Newton's method from a series.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate, chebval
from scipy.special import erfcx, ndtri, ndtri_exp

from dpgp.arithmetic import TRACE, where
from dpgp.outcomes.chances import SMALLEST_CHANCE
from dpgp.outcomes.log_odds import Cut, LogOdds
from dpgp.types import Array

ROOT_TWO = np.sqrt(2.0)

DEGREE = 24
"""Of both series: that of erfcx has 14 digits from here on."""

FARTHEST = 8.0
"""Where Φ is 1 to all digits."""

LARGEST_LEVEL = 0.99
"""Probability up to which quantiles are found: those of a law that is cut below 0 at the latest
are below (1 + q)/2, for q = 0.975."""

NEWTON_STEPS = 2
"""Each doubles the digits of the series, two or more at 10⁴ standard deviations."""


def traced_probability(mean: Any, std: Any, odds: LogOdds) -> Any:
    """Return σ(a + bℓ), never 0 nor 1, as :meth:`LogOdds.probability`."""
    own = _log_odds_within(mean, std if odds.spread is None else odds.spread)
    p = 1.0 / (1.0 + TRACE.exp(-odds.level - odds.slope * own))
    return TRACE.clip(p, SMALLEST_CHANCE, 1.0 - SMALLEST_CHANCE)


def traced_order(shares: Sequence[Any], cuts: Sequence[Cut]) -> list[Any]:
    """Return what one function makes of classes that have an order; of others what they are."""
    if not cuts:
        return list(shares)
    lower, upper = list(accumulate(shares))[:-1], list(accumulate(shares[::-1]))[-2::-1]
    trust = [low * high for low, high in zip(lower, upper, strict=True)]
    odds = [
        trusted * (np.log(high / low) - cut.offset)
        for trusted, low, high, cut in zip(trust, lower, upper, cuts[:-1], strict=True)
    ]
    rank = sum(odds[1:], start=odds[0]) / sum(trust[1:], start=trust[0])
    pull = cuts[0].slope * rank
    below = [1.0 / (1.0 + TRACE.exp(pull - cut.threshold)) for cut in cuts[:-1]]
    ends = zip([0.0, *below], [*below, 1.0], strict=True)
    parts = [np.maximum(high - low, SMALLEST_CHANCE) for low, high in ends]
    whole = sum(parts[1:], start=parts[0])
    return [part / whole for part in parts]


def traced_interval(mean: Any, std: Any, coverage: float, odds: LogOdds, p: Any) -> tuple[Any, Any]:
    """Return the interval that ``LogOdds.interval`` has, with the probability p in it."""
    tail, half = (1.0 - coverage) / 2, std * normal_factor(coverage)
    low, high = (_moved(end, odds.shift) for end in _quantiles(mean, std, (tail, 1.0 - tail)))
    return (
        np.minimum(np.minimum(low, p), np.maximum(mean - half, 0.0)),
        np.maximum(np.maximum(high, p), np.minimum(mean + half, 1.0)),
    )


def normal_factor(coverage: float) -> float:
    """Return half the width of a standard normal law's central interval."""
    return float(ndtri((1.0 + coverage) / 2))


def _log_odds_within(mean: Any, std: Any) -> Any:
    """Return the log odds of the mean of N(m, s²) given [0, 1]: dpgp.outcomes.chances.chance."""
    m = np.minimum(mean, 1.0 - mean)
    alpha, beta = -1.0 * m / std, (1.0 - m) / std
    E = TRACE.exp((m - 0.5) / (std * std))
    mass = traced_erfcx(alpha / ROOT_TWO) - E * traced_erfcx(beta / ROOT_TWO)
    below = m + std * np.sqrt(2.0 / np.pi) * (1.0 - E) / mass
    below = TRACE.clip(below, SMALLEST_CHANCE, 0.5)
    odds = np.log(below / (1.0 - below))
    return where(mean <= 0.5, odds, -1.0 * odds)


def _moved(p: Any, shift: float) -> Any:
    """Return σ(a + logit p) = pe^a/(1 − p + pe^a)."""
    odds = float(np.exp(shift))
    return p * odds / (1.0 - p + p * odds)


def _quantiles(mean: Any, std: Any, levels: tuple[float, float]) -> list[Any]:
    """Return m + s·x with Φ(x) = (1 − q)Φ(a) + qΦ(b), where a and b are the ends 0 and 1."""
    a, b = -1.0 * mean / std, (1.0 - mean) / std
    # a law that lies above its mode is the mirror of one below
    above = a >= 0.0
    low = where(above, -1.0 * b, a)
    high = np.minimum(where(above, -1.0 * a, b), FARTHEST)
    log_high = _log_ndtr(high)
    ratio = TRACE.exp(_log_ndtr(low) - log_high)
    found = []
    for level in levels:
        q = where(above, 1.0 - level, level)
        x = _inverse_log_ndtr(log_high + np.log(q + (1.0 - q) * ratio))
        found.append(TRACE.clip(mean + std * where(above, -1.0 * x, x), 0.0, 1.0))
    return found


def _log_ndtr(x: Any) -> Any:
    """Return log Φ(x) = log(erfcx(−x/√2)/2) − x²/2, for x up to ``FARTHEST``."""
    return np.log(0.5 * traced_erfcx(x * (-1.0 / ROOT_TWO))) - 0.5 * x * x


def _inverse_log_ndtr(L: Any) -> Any:
    """Return x with log Φ(x) = L, by steps (log Φ(x) − L)Φ(x)/φ(x)."""
    u = TRACE.sqrt(-2.0 * L)
    x = (1.0 + u) * chebval(2.0 / (_SPAN * (1.0 + u)) - 1.0, _inverse_series())
    for _ in range(NEWTON_STEPS):
        scaled = traced_erfcx(x * (-1.0 / ROOT_TWO))
        excess = np.log(0.5 * scaled) - 0.5 * x * x - L
        x = x - excess * (np.sqrt(np.pi / 2.0) * scaled)
    return x


def traced_erfcx(z: Any) -> Any:
    r"""Return e^{z²}erfc(z): :math:`te^{P(2t - 1)}`, t = 2/(2 + z), or 2e^{z²} − erfcx(−z)."""
    t = 2.0 / (2.0 + np.maximum(z, -1.0 * z))
    tail = t * TRACE.exp(chebval(2.0 * t - 1.0, _erfcx_series()))
    return where(z < 0.0, 2.0 * TRACE.exp(z * z) - tail, tail)


@cache
def _erfcx_series() -> Array:
    """Return Chebyshev coefficients of log(erfcx(z)/t) at 2t − 1."""

    def logarithm(s: Any) -> Any:
        t = (1.0 + s) / 2.0
        return np.log(erfcx(2.0 / t - 2.0) / t)

    return np.asarray(chebinterpolate(logarithm, DEGREE))


_SPAN = float(1.0 / (1.0 + np.sqrt(-2.0 * np.log(LARGEST_LEVEL))))
"""The largest 1/(1 + u), that of the largest level."""


@cache
def _inverse_series() -> Array:
    """Return Chebyshev coefficients of x/(1 + u), u = √(−2 log Φ(x)), at 2/(span·(1 + u)) − 1."""

    def ratio(s: Any) -> Any:
        u = 2.0 / (_SPAN * (1.0 + s)) - 1.0
        return ndtri_exp(-0.5 * u * u) / (1.0 + u)

    return np.asarray(chebinterpolate(ratio, DEGREE))
