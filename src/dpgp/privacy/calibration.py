r"""Gaussian differential privacy (GDP) and its conversions, rounded to the private side.

A mechanism is :math:`\mu`-GDP when no test tells two neighbours apart better than :math:`N(0, 1)`
from :math:`N(\mu, 1)` (Dong, Roth & Su 2022). It is the one currency in which budgets are kept:
:math:`\mu` composes as a Euclidean norm, and :math:`(\varepsilon, \delta)` follows once, at the
end. Every formula, and every bound on rounding errors, is in docs/proofs/gaussian_calibration.md.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import erfcx, ndtr

from dpgp.privacy.arguments import (
    as_finite_positive,
    as_non_negative,
    as_positive,
    as_probability,
)
from dpgp.privacy.rounding import FEW_ROUNDINGS, float_up, sqrt_up

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)  # −log φ(0) of a standard normal density
NODES, WEIGHTS = np.polynomial.legendre.leggauss(
    64
)  # exact to rounding errors for `_mills_integral`


# --- the privacy profile of the Gaussian mechanism -----------------------------------------------


def _mills(x: float) -> float:
    r"""Mills ratio :math:`m(x) = (1 - \Phi(x)) / \varphi(x) = \int_0^\infty e^{-t^2/2 - xt} dt`."""
    return math.sqrt(math.pi / 2.0) * float(erfcx(x / math.sqrt(2.0)))


def _mills_integral(x: float, mu: float) -> float:
    r""":math:`m(x) - m(x + \mu) = \int_0^\infty e^{-t^2/2 - xt}(1 - e^{-\mu t}) dt` by quadrature.

    No two terms cancel. The range ends where the first exponent has fallen to -40.
    """
    end = 80.0 / (x + math.sqrt(x * x + 80.0))
    t = 0.5 * end * (NODES + 1.0)
    values = np.exp(-0.5 * t * t - x * t) * -np.expm1(-mu * t)
    return 0.5 * end * float(WEIGHTS @ values)


def _mills_difference(x: float, mu: float) -> float:
    r""":math:`m(x) - m(x + \mu)`, subtracted only where at least half of the first term is left."""
    near, far = _mills(x), _mills(x + mu)
    return near - far if far < 0.5 * near else _mills_integral(x, mu)


def log_delta_of_mu(mu: float, epsilon: float) -> float:
    r"""Natural logarithm of the smallest :math:`\delta` that :math:`\mu`-GDP grants at `epsilon`.

    :math:`\delta = \Phi(\mu/2 - \varepsilon/\mu) - e^\varepsilon\Phi(-\mu/2 - \varepsilon/\mu)
    = \varphi(x)\,(m(x) - m(x + \mu))` with :math:`x = \varepsilon/\mu - \mu/2` and the Mills ratio
    :math:`m`. Balle & Wang (2018), theorem 8.
    """
    mu, epsilon = as_non_negative("mu", mu), as_non_negative("epsilon", epsilon)
    if mu == 0.0 or epsilon == math.inf:
        return -math.inf
    if mu == math.inf:
        return 0.0
    x = epsilon / mu - 0.5 * mu
    if x > 1e150:  # x² would overflow, and e^−x²/2 is zero long before
        return -math.inf
    log_density = -0.5 * x * x - LOG_SQRT_2PI
    if x < -1.0:
        # Φ(−x) − φ(x)·m(x + μ): the second term is less than a fifth of the first
        return min(0.0, math.log(float(ndtr(-x)) - math.exp(log_density) * _mills(x + mu)))
    return log_density + math.log(_mills_difference(x, mu))


def _log_delta_upper(mu: float, epsilon: float) -> float:
    r"""Upper bound on :math:`\log\delta` that includes the rounding errors of its computation."""
    log_delta = log_delta_of_mu(mu, epsilon)
    if not math.isfinite(log_delta):
        return log_delta
    ratio = epsilon / mu
    slope = 1.0 + max(ratio - 0.5 * mu, 0.0)
    return log_delta + FEW_ROUNDINGS * (1.0 - log_delta + slope * (ratio + 0.5 * mu))


def delta_of_mu(mu: float, epsilon: float) -> float:
    r"""Smallest :math:`\delta` that :math:`\mu`-GDP grants at `epsilon`, rounded up.

    The formula is that of :func:`log_delta_of_mu`; exactly zero only for :math:`\mu = 0` or
    :math:`\varepsilon = \infty`. Proof: docs/proofs/gaussian_calibration.md.
    """
    upper = _log_delta_upper(mu, epsilon)
    if mu == 0.0 or epsilon == math.inf:
        return 0.0
    return min(1.0, math.nextafter(math.exp(upper), math.inf))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes its sign between two ends, to the last bit, by halving."""
    is_positive = function(low) > 0.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if (function(middle) > 0.0) == is_positive else (low, middle)
    return high


def _leave_until(private: Callable[[float], bool], value: float, direction: float) -> float:
    """Move `value` up (+1) or down (-1), by steps that double, until `private` holds."""
    step = 2.0**-52
    while not private(value):
        value *= 1.0 + direction * step
        step *= 2.0
    return value


def epsilon_of_mu(mu: float, delta: float) -> float:
    r"""Smallest :math:`\varepsilon \ge 0` that :math:`\mu`-GDP grants at `delta`, rounded up.

    The root of :math:`\delta(\varepsilon) = \delta`, below :math:`\mu(\sqrt{2\log(1/\delta)} +
    \mu/2)`; zero if :math:`\delta(0) \le \delta`. Proof: docs/proofs/gaussian_calibration.md.
    """
    mu, delta = as_non_negative("mu", mu), as_probability("delta", delta)
    if mu == math.inf:
        return math.inf
    log_delta = math.log(delta)

    def excess(epsilon: float) -> float:
        return _log_delta_upper(mu, epsilon) - log_delta

    if excess(0.0) <= 0.0:
        return 0.0
    high = 2.0 * mu * (math.sqrt(-2.0 * log_delta) + 0.5 * mu)
    root = _root(excess, 0.0, high)
    return _leave_until(lambda epsilon: excess(epsilon) <= 0.0, root, 1.0)


def mu_of_epsilon_delta(epsilon: float, delta: float) -> float:
    r"""Largest :math:`\mu` whose GDP implies :math:`(\varepsilon, \delta)`-DP, rounded down.

    The root of :math:`\delta(\mu) = \delta`; infinite for :math:`\varepsilon = \infty`.
    Proof: docs/proofs/gaussian_calibration.md.
    """
    epsilon, delta = as_positive("epsilon", epsilon), as_probability("delta", delta)
    if epsilon == math.inf:
        return math.inf
    log_delta = math.log(delta)

    def excess(log_mu: float) -> float:
        return _log_delta_upper(math.exp(log_mu), epsilon) - log_delta

    # μ with x(μ) = √(2 log 1/δ), and μ with x(μ) = −40, where δ(μ) is one
    tail = math.sqrt(-2.0 * log_delta)
    low = 0.5 * max(2.0 * delta, 2.0 * epsilon / (tail + math.sqrt(tail**2 + 2.0 * epsilon)))
    high = 40.0 + math.sqrt(1600.0 + 2.0 * epsilon)
    root = _root(excess, math.log(low), math.log(high))
    return _leave_until(lambda mu: _log_delta_upper(mu, epsilon) <= log_delta, math.exp(root), -1.0)


# --- composition, zero-concentrated DP, noise ----------------------------------------------------


def compose(mus: Iterable[float]) -> float:
    r"""GDP parameter :math:`\sqrt{\sum_k \mu_k^2}` of adaptively composed mechanisms, rounded up.

    The :math:`\mu_k` must be fixed in advance. Dong, Roth & Su (2022), corollary 3.3.
    """
    parts = [as_non_negative("mus", mu) for mu in mus]
    if math.inf in parts:
        return math.inf
    return sqrt_up(sum((Fraction(mu) ** 2 for mu in parts), Fraction(0)))


def rho_of_mu(mu: float) -> float:
    r"""Zero-concentrated DP :math:`\rho = \mu^2/2` of a :math:`\mu`-GDP mechanism, rounded up.

    Proof: docs/proofs/gaussian_calibration.md.
    """
    mu = as_non_negative("mu", mu)
    return mu if mu == math.inf else float_up(Fraction(mu) ** 2 / 2)


def mu_of_rho(rho: float) -> float:
    r"""GDP budget :math:`\mu = \sqrt{2\rho}` whose Gaussian noise meets `rho`-zCDP, rounded down.

    For Gaussian mechanisms only: zCDP of another mechanism does not imply GDP.
    Proof: docs/proofs/gaussian_calibration.md.
    """
    rho = as_non_negative("rho", rho)
    if rho == math.inf:
        return rho
    mu = sqrt_up(2 * Fraction(rho))
    while Fraction(mu) ** 2 > 2 * Fraction(rho):
        mu = math.nextafter(mu, 0.0)
    return mu


@lru_cache(maxsize=1024, typed=True)
def gaussian_sigma(sensitivity: float, mu: float) -> float:
    r"""Standard deviation :math:`\Delta/\mu` of the :math:`\mu`-GDP Gaussian mechanism, rounded up.

    Zero for :math:`\mu = \infty`. Dong, Roth & Su (2022), theorem 2.7.
    """
    sensitivity, mu = as_finite_positive("sensitivity", sensitivity), as_positive("mu", mu)
    return 0.0 if mu == math.inf else float_up(Fraction(sensitivity) / Fraction(mu))
