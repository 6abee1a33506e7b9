r"""What discrete Gaussian noise costs beyond continuous Gaussian noise of the same scale.

Continuous noise rounded to integers leaves an integer-valued query exactly :math:`\mu`-GDP. The
discrete Gaussian (Canonne, Kamath & Steinke 2020) is so close to it that the likelihood ratio
stays within a factor :math:`e^\eta` outside a set of mass :math:`\beta`.
Proof: docs/proofs/discrete_gaussian.md.
"""

import math
from fractions import Fraction

import numpy as np

from dpgp.privacy.arguments import as_count, as_non_negative, as_positive, as_probability
from dpgp.privacy.rounding import FEW_ROUNDINGS, float_up

LOG_TAIL = -800.0  # the proof gives less than -899: what is between covers K stages and rounding
MIN_SCALE = 2.0**30  # makes η about 2·10⁻¹⁴ for 10⁵ numbers: docs/proofs/discrete_gaussian.md, §6


def discretisation_cost(coordinates: int, sigma_min: float) -> float:
    r"""Likelihood-ratio exponent :math:`\eta = (5N + 2000)/(24\sigma_{\min}^2)`, rounded up.

    N coordinates are released together, :math:`\sigma_{\min}` is the smallest of their scales in
    integer units; the costs of stages add up. Proof: docs/proofs/discrete_gaussian.md.
    """
    N, sigma_min = as_count("coordinates", coordinates), as_positive("sigma_min", sigma_min)
    if sigma_min < MIN_SCALE:
        raise ValueError(
            f"`sigma_min` must be at least 2**30, got {sigma_min}; multiply the query by a power "
            "of two before adding noise."
        )
    return (5 * N + 2000) / (24.0 * sigma_min**2) * (1.0 + FEW_ROUNDINGS)


def discrete_guarantee(epsilon: float, delta: float, eta: float) -> tuple[float, float]:
    r"""(ε, δ) of the discrete mechanism whose continuous twin is `epsilon`, `delta`-DP, rounded up.

    :math:`\varepsilon' = \varepsilon + \eta`,
    :math:`\delta' = e^\eta(\delta + e^\varepsilon\beta)`. Proof: docs/proofs/discrete_gaussian.md.
    """
    epsilon, eta = as_non_negative("epsilon", epsilon), as_non_negative("eta", eta)
    delta = as_probability("delta", delta)
    if epsilon == math.inf:
        return math.inf, delta
    # δ'/δ = e^η·(1 + e^ε·β/δ)
    log_growth = eta + float(np.logaddexp(0.0, epsilon + LOG_TAIL - math.log(delta)))
    grown = delta * math.exp(min(log_growth, 1.0 - math.log(delta)))
    return float_up(Fraction(epsilon) + Fraction(eta)), min(1.0, grown * (1.0 + FEW_ROUNDINGS))


def continuous_target(epsilon: float, delta: float, eta: float) -> tuple[float, float]:
    r"""(ε, δ) that the continuous mechanism must meet so that the discrete one meets the request.

    :math:`\varepsilon_c = \varepsilon - \eta`,
    :math:`\delta_c = e^{-\eta}\delta - e^{\varepsilon_c}\beta`, both rounded down.
    Proof: docs/proofs/discrete_gaussian.md.
    """
    epsilon, eta = as_positive("epsilon", epsilon), as_non_negative("eta", eta)
    delta = as_probability("delta", delta)
    if epsilon == math.inf:
        return math.inf, delta
    epsilon_c = -float_up(Fraction(eta) - Fraction(epsilon))
    if not epsilon_c > 0.0:
        raise ValueError(f"`epsilon` must be greater than `eta` = {eta}, got {epsilon}.")
    # δ_c/δ = e^−η − e^ε·β/δ
    log_leak = epsilon_c + LOG_TAIL - math.log(delta)
    kept = math.exp(-eta) - math.exp(min(log_leak, 1.0))
    if not kept > 0.0:
        raise ValueError(
            f"`delta` = {delta} is out of reach at `epsilon` = {epsilon}: it must be greater than "
            "exp(epsilon - 800); ask for a larger `delta` or a smaller `epsilon`."
        )
    return epsilon_c, delta * kept * (1.0 - FEW_ROUNDINGS)
