r"""Moments of a residual :math:`r \sim N(0, \tau^2)` that was clipped to :math:`[-R, R]`.

Clipping hard keeps a share g of the signal while the noise of the release falls with R. Everything
the inference knows about clipping is here. With :math:`a = R/\tau`. Numbers or arrays go in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf, ndtr


def slope(R: Any, tau: Any) -> Any:
    r"""Share of the signal that survives, :math:`g = \mathrm{erf}(a/\sqrt2)`.

    The derivative of :math:`E[\mathrm{clip}(N(t, \tau^2), R)]` at t = 0.
    """
    return erf(R / tau / np.sqrt(2.0))


def second_moment(R: Any, tau: Any) -> Any:
    r""":math:`m_2 = \tau^2(\mathrm{erf}(a/\sqrt2) - 2a\varphi(a)) + 2R^2\Phi(-a)`."""
    a = R / tau
    return tau**2 * second_moment_slope(R, tau) + 2 * R**2 * ndtr(-a)


def fourth_moment(R: Any, tau: Any) -> Any:
    r""":math:`m_4 = \tau^4(3\,\mathrm{erf}(a/\sqrt2) - (2a^3 + 6a)\varphi(a)) + 2R^4\Phi(-a)`."""
    a = R / tau
    core = 3 * erf(a / np.sqrt(2.0)) - (2 * a**3 + 6 * a) * _density(a)
    return tau**4 * core + 2 * R**4 * ndtr(-a)


def second_moment_slope(R: Any, tau: Any) -> Any:
    r""":math:`dm_2/d\tau^2 = \mathrm{erf}(a/\sqrt2) - 2a\varphi(a)` (Price's theorem)."""
    a = R / tau
    return erf(a / np.sqrt(2.0)) - 2 * a * _density(a)


def distortion(R: float, tau: float) -> float:
    r"""Variance :math:`\sigma_R^2 = m_2/g^2 - \tau^2` that clipping adds to corrected residuals."""
    return max(float(second_moment(R, tau) / slope(R, tau) ** 2 - tau**2), 0.0)


def huber_bias(kappa: float) -> float:
    """Rough bias, in noise sds, of the location clipped at κ sds for exponential noise.

    The exact b solves b = exp(b − 1 − κ); 0.4 exp(−0.6κ) is between it and four times as much for κ
    from 1 to 3, on the safe side as κ grows.
    """
    return float(0.4 * np.exp(-0.6 * kappa))


def largest_bias(R: float, tau: float) -> float:
    r"""Return the most that the location clipped at R is off the mean, for any law of sd τ.

    Let u be about the location, :math:`E\,\mathrm{clip}(u, R) = 0`, beyond R with probability p and
    by :math:`x = E(u - R)_+`. Then :math:`E u \le x`, and p ≤ ½, since what is within R balances
    pR. Those beyond R have the mean R + x/p, the others at most −pR/(1 − p). So
    :math:`\tau^2 \ge p(1 - p)(x/p + R/(1 - p))^2`, and with q = p/(1 − p) ≤ 1

    .. math:: E u \le \tau\sqrt q - Rq \le \frac{\tau^2}{4R}, \quad
        \text{or}\ \tau - R\ \text{where}\ R < \tau/2.

    Two values attain it.
    """
    return tau**2 / (4 * R) if tau <= 2 * R else tau - R


def _density(a: Any) -> Any:
    return np.exp(-0.5 * a * a) / np.sqrt(2 * np.pi)
