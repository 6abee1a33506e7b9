r"""The posterior that HM21 publishes: the noise-aware update of §3.3, and predictions from it.

Everything here is post-processing of released values. All covariances at the inducing points have
the form :math:`K_{ZZ}\,W\,K_{ZZ}`, and so does the mean, :math:`m = K_{ZZ}\,\alpha`: the update
works with :math:`\alpha` and :math:`W`, which need no inverse of :math:`K_{ZZ}`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.stats import norm

from dpgp.blas import symmetric_root
from dpgp.kernels.base import takes_vectors
from dpgp.numeric import numeric_matrix, numeric_vector
from dpgp.privacy.certificate import Certificate
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
) -> Update:
    """Compute q(u) from noisy moments (HM21 eq. 12)."""
    regulariser = regularisation(len(K_zz), moments.sigma_b, noise_std, FAILURE_PROBABILITY)
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


@dataclass(frozen=True)
class SparsePosterior:
    r"""A Gaussian :math:`q(u) = N(m, S)` over the function's values at public inducing points.

    Holds public parameters and released values only.
    """

    kernel: Any
    inducing_points: Any
    update: Update = field(repr=False)
    noise_std: float
    prior_mean: float
    certificate: Certificate
    feature_names: tuple[str, ...] | None = None

    @property
    def mean(self) -> Array:
        """The posterior mean m at the inducing points."""
        return np.asarray(self.prior_mean + self._K_zz @ self.update.alpha)

    @property
    def covariance(self) -> Array:
        """The posterior covariance S at the inducing points."""
        return np.asarray(self._K_zz @ self.update.W @ self._K_zz)

    @cached_property
    def _K_zz(self) -> Array:
        return np.asarray(self.kernel(self.inducing_points))

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, latent: bool = True
    ) -> Array | tuple[Array, Array]:
        """Return the predictive mean at ``X``, with standard deviations or covariances if asked.

        ``latent=True`` is about the function, ``latent=False`` about new observations of it.
        """
        if return_std and return_cov:
            raise ValueError("`return_std` and `return_cov` cannot both be true; ask for one.")
        points = self._query(X)
        mean = self._mean(points)
        if return_std:
            return mean, np.sqrt(self._variance(points, latent))
        if return_cov:
            noise_variance = 0.0 if latent else self.noise_std**2
            return mean, self._covariance(points) + noise_variance * np.eye(len(points))
        return mean

    def log_predictive_density(self, X: Any, y: Any) -> Array:
        """Return the log density of every target under its own prediction (HM21 eq. 21)."""
        points = self._query(X)
        mean, std = self._mean(points), np.sqrt(self._variance(points, latent=False))
        with np.errstate(over="ignore"):
            return np.asarray(norm.logpdf(numeric_vector(y, len(mean)), mean, std))

    def sample(self, X: Any, n: int = 1, random_state: int | None = None) -> Array:
        """Draw ``n`` functions from the posterior at ``X``, one a column."""
        points = self._query(X)
        generator = np.random.default_rng(random_state)
        root = symmetric_root(self._covariance(points))
        draws = generator.standard_normal((len(root), n))
        return np.asarray(self._mean(points)[:, None] + root @ draws)

    def _query(self, X: Any) -> Any:
        if not takes_vectors(self.kernel):
            return X
        points, columns = numeric_matrix(X), self.inducing_points.shape[1]
        if points.shape[1] != columns:
            raise ValueError(f"`X` must have {columns} columns, got {points.shape[1]}.")
        return points

    def _mean(self, points: Any) -> Array:
        # μ̂ = K_VZ K_ZZ⁻¹ m = K_VZ α
        cross = self.kernel(points, self.inducing_points)
        return np.asarray(self.prior_mean + cross @ self.update.alpha)

    def _variance(self, points: Any, latent: bool) -> Array:
        # diag(K_VV) − diag(K_VZ K_ZZ⁻¹ K_ZV) + diag(K_VZ W K_ZV)   (HM21 eq. 20)
        cross = self.kernel(points, self.inducing_points)
        remaining = np.einsum("ij,ij->i", cross @ self.update.W, cross)
        variance = unexplained(self.kernel.diag(points), cross, self._K_zz) + remaining
        return np.asarray(variance + (0.0 if latent else self.noise_std**2))

    def _covariance(self, points: Any) -> Array:
        # Σ̂ = K_VV − K_VZ K_ZZ⁻¹ K_ZV + K_VZ W K_ZV   (HM21 eq. 20)
        cross = self.kernel(points, self.inducing_points)
        V = whitened(cross, self._K_zz)
        return np.asarray(self.kernel(points) - V.T @ V + cross @ self.update.W @ cross.T)


def unexplained(variances: Array, K_vz: Array, K_zz: Array) -> Array:
    """Return k(x, x) − k_xZ K_ZZ⁻¹ k_Zx for every row of K_VZ, not below 0."""
    V = whitened(K_vz, K_zz)
    return np.asarray(np.maximum(variances - np.einsum("ji,ji->i", V, V), 0.0))


def whitened(K_vz: Array, K_zz: Array) -> Array:
    """Return L⁻¹ K_ZV with L the Cholesky factor of K_ZZ."""
    return np.asarray(solve_triangular(cholesky_with_jitter(K_zz), K_vz.T, lower=True))


def cholesky_with_jitter(K_zz: Array) -> Array:
    """Return the lower Cholesky factor of K + ρI, with ρ = 4 d²·2⁻⁵² of the mean variance.

    Rounding cannot keep that factor of a covariance from existing (Higham 2002, theorem 10.7), so
    that ρ is the same on every processor; where K is no covariance, ρ grows until it serves.
    """
    d = len(K_zz)
    jitter = 4 * d**2 * np.finfo(np.float64).eps * float(np.trace(K_zz)) / d
    while True:
        try:
            return np.asarray(np.linalg.cholesky(K_zz + jitter * np.eye(d)))
        except np.linalg.LinAlgError:
            jitter *= 10.0
