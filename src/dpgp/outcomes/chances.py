r"""What is believed of a probability: the normal law N(m, s²), given that it lies in [0, 1].

Its mean is never 0 nor 1, so that no outcome is called impossible. It is too large wherever m is
within s of 0, and too small near 1; dpgp.outcomes.log_odds makes it right.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, expit, log_ndtr, logit, ndtri, ndtri_exp

from dpgp.types import Array

ONE_SD = (0.15865525393145707, 0.8413447460685429)
"""Probabilities of a normal law one standard deviation below and above its mean."""

SMALLEST_CHANCE = 1e-9
"""Below any probability that rows could show, and far from what rounding takes for 0."""

SMALLEST_ERROR = 1e-4
"""Of an average that was released without noise: sampling, of more rows than most tables have."""


def chance(mean: Array, std: Array) -> Array:
    r"""Return the mean of N(m, s²) given [0, 1].

    With :math:`\alpha = -m/s`, :math:`\beta = (1 - m)/s`, :math:`E = e^{(\alpha^2 - \beta^2)/2}`:
    :math:`m + s\sqrt{2/\pi}(1 - E)/(\mathrm{erfcx}(\alpha/\sqrt2) - E\,\mathrm{erfcx}(\beta/
    \sqrt2))`, for m below ½, and one minus that of 1 − m above.
    """
    m = np.minimum(mean, 1.0 - mean)
    alpha, beta = -m / std, (1.0 - m) / std
    log_E = (m - 0.5) / std**2
    with np.errstate(over="ignore"):
        mass = erfcx(alpha / np.sqrt(2.0)) - np.exp(log_E) * erfcx(beta / np.sqrt(2.0))
    below = m - std * np.sqrt(2.0 / np.pi) * np.expm1(log_E) / mass
    below = np.clip(below, SMALLEST_CHANCE, 0.5)
    return np.asarray(np.where(mean <= 0.5, below, 1.0 - below))


def chance_interval(mean: Array, std: Array, coverage: float) -> tuple[Array, Array]:
    """Return the central interval of N(m, s²) given [0, 1]."""
    tail = (1.0 - coverage) / 2
    lower, upper = (_quantile(mean, std, level) for level in (tail, 1.0 - tail))
    return lower, upper


def shifted(p: Array, shift: float) -> Array:
    """Return σ(a + logit p); p itself where the shift a is 0."""
    if shift == 0.0:
        return p
    with np.errstate(divide="ignore"):
        return np.asarray(expit(shift + logit(p)))


def chance_std(mean: Array, std: Array, shift: float = 0.0) -> Array:
    """Return half the length of the interval that a normal law has within one sd."""
    lower, upper = (shifted(_quantile(mean, std, level), shift) for level in ONE_SD)
    return np.asarray((upper - lower) / 2)


def _quantile(mean: Array, std: Array, level: float) -> Array:
    """Return m + s·x with Φ(x) = (1 − q)Φ(a) + qΦ(b), where a and b are the ends 0 and 1."""
    a, b = -mean / std, (1.0 - mean) / std
    # a law that lies above its mode is the mirror of one below, whose logarithms have more digits
    above = a >= 0.0
    low, high = np.where(above, -b, a), np.where(above, -a, b)
    q = np.where(above, 1.0 - level, level)
    log_low, log_high = log_ndtr(low), log_ndtr(high)
    x = ndtri_exp(log_high + np.log(q + (1.0 - q) * np.exp(log_low - log_high)))
    return np.asarray(np.clip(mean + std * np.where(above, -x, x), 0.0, 1.0))


def interval_std(half_width: Array, coverage: float) -> Array:
    """Return the sd of a normal law whose central interval has this half-width."""
    return np.asarray(half_width / ndtri((1.0 + coverage) / 2))
