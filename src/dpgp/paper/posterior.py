"""The sparse-GP posterior that HM21 publishes, and its predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import norm

from dpgp.blas import symmetric_root
from dpgp.kernels.base import takes_vectors
from dpgp.numeric import numeric_matrix, numeric_vector
from dpgp.paper.update import Update
from dpgp.privacy.certificate import Certificate
from dpgp.types import Array


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
            covariance = self._covariance(points)
            return mean, covariance if latent else covariance + self._observation_noise(points)
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
        cross, whitened = self._cross(points)
        explained = np.einsum("ji,ji->i", whitened, whitened)
        remaining = np.einsum("ij,ij->i", cross @ self.update.W, cross)
        variance = np.maximum(self.kernel.diag(points) - explained, 0.0) + remaining
        return np.asarray(variance + (0.0 if latent else self.noise_std**2))

    def _covariance(self, points: Any) -> Array:
        # Σ̂ = K_VV − K_VZ K_ZZ⁻¹ K_ZV + K_VZ W K_ZV   (HM21 eq. 20)
        cross, whitened = self._cross(points)
        return np.asarray(
            self.kernel(points) - whitened.T @ whitened + cross @ self.update.W @ cross.T
        )

    def _cross(self, points: Any) -> tuple[Array, Array]:
        """Return K_VZ and L⁻¹ K_ZV with L the Cholesky factor of K_ZZ."""
        cross = np.asarray(self.kernel(points, self.inducing_points))
        whitened = solve_triangular(cholesky_with_jitter(self._K_zz), cross.T, lower=True)
        return cross, np.asarray(whitened)

    def _observation_noise(self, points: Any) -> Array:
        return self.noise_std**2 * np.eye(len(points))


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
