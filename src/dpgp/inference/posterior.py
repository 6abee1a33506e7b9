"""The fitted model: weights, their covariance, the noise, and predictions from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erf

from dpgp.arithmetic import NUMPY
from dpgp.features.base import WhitenedMap, missing_covariance, missing_variance
from dpgp.inference.inducing import EffectiveKernel, Inducing, inducing, inducing_points
from dpgp.inference.moments import Moments
from dpgp.inference.pieces import in_pieces
from dpgp.kernels.formula import mean_diagonal, specify, weighted_gram
from dpgp.types import Array

POINTS = 512
"""Points that are predicted at a time: covariances for all draws of θ stay in the cache."""

HALVINGS = 40
"""Of an interval of ten standard deviations, to 10⁻¹¹ of one."""

DIGITS = 9
"""Decimals of cumulative weights that are compared: rounding errors are beyond them."""


@dataclass(frozen=True)
class Posterior:
    r"""f(x) = φ(x)ᵀw + what the features miss, w ~ N(w̄, V̄), marginal over hyperparameters.

    ``thetas`` are equally likely hyperparameters (kernel.theta, log σ); ``spreads`` how uncertain f
    is under each, relative to the average. Everything in units of inputs and target in [−1, 1].
    """

    features: WhitenedMap
    kernel: Any
    moments: Moments
    thetas: Array
    spreads: Array
    log_evidence: float

    @property
    def columns(self) -> int:
        """Number of inputs."""
        return int(self.features.anchors.shape[1])

    def predict(self, U: Array, latent: bool = False) -> tuple[Array, Array]:
        """Return mean and standard deviation of f (latent) or of a new observation."""
        mean, variance = self.latent(U)
        return mean, np.sqrt(variance if latent else variance + self.moments.noise**2)

    def covariance(self, U: Array) -> Array:
        """Return the covariance of f between the rows of ``U``."""
        phi = self.features.evaluate(U)
        return np.asarray(phi.T @ self.moments.V @ phi + self.missing_covariance(U))

    def inducing(self) -> Inducing:
        """Return (Z, m, S) for the equations of sparse GPs with :meth:`effective_kernel`."""
        return inducing(self)

    def effective_kernel(self) -> EffectiveKernel:
        """Return the covariance k̃ of f before any release, where w ~ N(0, I)."""
        return EffectiveKernel(self, inducing_points(self.features))

    def half_width(self, U: Array, coverage: float) -> tuple[Array, Array]:
        """Return centre and half-width of an interval for f over draws of θ, N(mean, s_t var f)."""
        mean, variance = self.latent(U)
        scales = np.sqrt(variance[:, None] * self.spreads / self.spreads.mean())
        return mean, mixture_half_width(scales, coverage)

    def latent(self, U: Array) -> Array:
        """Return mean and variance of f, one below the other."""
        return in_pieces(self._latent_of_points, U, POINTS)

    def _latent_of_points(self, U: Array) -> Array:
        """Return mean and variance of f at ``POINTS`` points, one below the other."""
        phi, k_xx = self.features.evaluate(U), mean_diagonal(self._tree, U, NUMPY)
        # φᵀVφ, and what φ misses: φᵀ(V + PK_zzPᵀ)φ − 2φᵀPk(Z, x) + k(x, x)
        reached = self._quadratic @ phi - self._twice_projection @ self._anchors_with(U)
        variance = k_xx + np.einsum("dn,dn->n", reached, phi)
        return np.stack([self.moments.w @ phi, np.maximum(variance, 0.0)])

    @cached_property
    def _quadratic(self) -> Array:
        P = self.features.projection
        return np.asarray(self.moments.V + P @ self._K_zz @ P.T)

    @cached_property
    def _twice_projection(self) -> Array:
        return np.asarray(2.0 * self.features.projection)

    def missing_variance(self, U: Array) -> Array:
        """Return the variance at the rows of ``U`` that the features miss."""
        return np.asarray(in_pieces(self._missing_of_points, U, POINTS)[0])

    def _missing_of_points(self, U: Array) -> Array:
        k_xx, K_xz = mean_diagonal(self._tree, U, NUMPY), self._anchors_with(U).T
        missing = missing_variance(k_xx, K_xz, self._K_zz, self._weights(U), NUMPY)
        return np.asarray(missing)[None]

    def missing_covariance(self, X: Array, Y: Array | None = None) -> Array:
        """Return the same between the rows of ``X`` and those of ``Y``, or among those of ``X``."""
        Y = X if Y is None else Y
        K_xy = self._mean_gram(X, Y)
        K_xz, K_yz = (self._anchors_with(points).T for points in (X, Y))
        a_x, a_y = map(self._weights, (X, Y))
        return np.asarray(missing_covariance(K_xy, K_xz, K_yz, self._K_zz, a_x, a_y, NUMPY))

    @cached_property
    def _tree(self) -> dict[str, Any]:
        return specify(self.kernel, self.thetas[:, :-1])

    @cached_property
    def _K_zz(self) -> Array:
        return self._anchors_with(self.features.anchors)

    def _anchors_with(self, U: Array) -> Array:
        """Return k(Z, x) averaged over θ, as columns."""
        return self._mean_gram(self.features.anchors, U)

    def _mean_gram(self, X: Array, Y: Array) -> Array:
        """Return K_θ(X, Y) averaged over θ."""
        weights = np.full(len(self.thetas), 1.0 / len(self.thetas))
        return weighted_gram(self._tree, weights, X, Y)

    def _weights(self, U: Array) -> Array:
        """Return a(x) = Pᵀφ(x), one point a row."""
        return np.asarray((self.features.projection.T @ self.features.evaluate(U)).T)


def mixture_half_width(scales: Array, coverage: float) -> Array:
    """Return h with mean_t erf(h/(√2·scale_t)) = coverage for each row of ``scales``."""
    low, high = np.zeros(len(scales)), 10.0 * scales.max(axis=1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = erf(middle[:, None] / (np.sqrt(2.0) * scales)).mean(axis=1) >= coverage
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.asarray(high)
