r"""The noise-aware update of HM21 §3.3: from noisy moments to the posterior at inducing points.

Everything here is post-processing of released values. All covariances have the form
:math:`K_{ZZ}\,W\,K_{ZZ}`, and so does the mean, :math:`m = K_{ZZ}\,\alpha`: this module works with
:math:`\alpha` and :math:`W`, which need no inverse of :math:`K_{ZZ}`.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dpgp.types import Array

CovarianceTerms = Literal["complete", "printed", "naive"]

FAILURE_PROBABILITY = 0.01
"""ρ of HM21 eq. 13, how often λ may be too small; theirs."""


class ReleasedMoments(NamedTuple):
    """The released A = Σ k_i y_i and B = Σ k_i k_iᵀ with the standard deviations of their noise."""

    A_hat: Array
    B_hat: Array
    sigma_a: float
    sigma_b: float


class Update(NamedTuple):
    """The posterior of the inducing values: m = K_ZZ α, S = K_ZZ W K_ZZ."""

    alpha: Array
    W: Array


def dp_update(
    moments: ReleasedMoments,
    K_zz: Array,
    noise_std: float,
    *,
    covariance: CovarianceTerms = "complete",
    failure_probability: float = FAILURE_PROBABILITY,
) -> Update:
    """Compute q(u) from noisy moments (HM21 eq. 12)."""
    regulariser = regularisation(len(K_zz), moments.sigma_b, noise_std, failure_probability)
    Sigma = regularised_inverse(K_zz + moments.B_hat / noise_std**2, regulariser)
    v = Sigma @ moments.A_hat
    W = Sigma
    if covariance != "naive":
        W = W + noise_of_A(Sigma, moments.sigma_a, noise_std)
        noise_of_B = {"complete": noise_of_B_complete, "printed": noise_of_B_printed}[covariance]
        W = W + noise_of_B(Sigma, v, moments.sigma_b, noise_std)
    return Update(alpha=v / noise_std**2, W=(W + W.T) / 2)


def regularisation(
    n_inducing: int, sigma_b: float, noise_std: float, failure_probability: float
) -> float:
    r"""Return λ of HM21 eq. 13: :math:`\sigma_b\sigma^{-2}\sqrt{d\log(2d^2/\rho)}\,(d+1)/2d`."""
    d = n_inducing
    return (sigma_b / noise_std**2 * math.sqrt(d * math.log(2 * d**2 / failure_probability))) * (
        (d + 1) / (2 * d)
    )


def regularised_inverse(matrix: Array, regulariser: float) -> Array:
    """Return (M + λI)⁻¹, with λ raised until the Cholesky factorisation exists.

    Differs from HM21: its λ does not guarantee a positive definite matrix, so it is checked.
    """
    identity = np.eye(len(matrix))
    # a first step above rounding errors, where λ is zero
    smallest = 1e-14 * float(np.trace(np.abs(matrix)))
    while True:
        try:
            factor = cho_factor(matrix + regulariser * identity, lower=True)
        except np.linalg.LinAlgError:
            regulariser = max(2 * regulariser, smallest)
        else:
            return np.asarray(cho_solve(factor, identity))


def noise_of_A(Sigma: Array, sigma_a: float, noise_std: float) -> Array:
    r"""S₂,₁ = K W K with :math:`W = \sigma_a^2\sigma^{-4}\tilde\Sigma^2` (HM21 eq. 14)."""
    return sigma_a**2 / noise_std**4 * Sigma @ Sigma


def noise_of_B_complete(Sigma: Array, v: Array, sigma_b: float, noise_std: float) -> Array:
    r"""S₂,₂ with the cross terms of a symmetric perturbation.

    .. math:: W = \tfrac12\sigma_b^2\sigma^{-8}
              (\|v\|^2\tilde\Sigma^2 + (\tilde\Sigma v)(\tilde\Sigma v)^\top)

    Differs from HM21 eq. 17, which drops them. Proof: docs/proofs/noise_aware_covariance.md.
    """
    Sigma_v = Sigma @ v
    scale = 0.5 * sigma_b**2 / noise_std**8
    return np.asarray(scale * (v @ v * Sigma @ Sigma + np.outer(Sigma_v, Sigma_v)))


def noise_of_B_printed(Sigma: Array, v: Array, sigma_b: float, noise_std: float) -> Array:
    r"""S₂,₂ as printed, its double sum in closed form (HM21 eq. 17).

    .. math:: W = \sigma_b^2\sigma^{-8}
              \tilde\Sigma\,\mathrm{diag}(\tfrac12 v_i^2 + \tfrac12\|v\|^2)\,\tilde\Sigma
    """
    middle = 0.5 * (v**2 + v @ v)
    return np.asarray(sigma_b**2 / noise_std**8 * (Sigma * middle) @ Sigma)
