r"""The fitted model: weights, their covariance, the noise, and predictions from them.

In the words of sparse Gaussian processes, :math:`f = \phi^\top w + r`,
:math:`w \sim N(\bar w, V)`, with r what the features miss. Before any data
:math:`w \sim N(0, I)` is as good a start as any other, since q(u) replaces it. That gives f the
*effective kernel* :math:`\tilde k(x, x') = \phi(x)^\top\phi(x') + \mathrm{cov}(r(x), r(x'))`, and
as many points Z as features give :math:`u = \phi(Z)^\top w`, independent of r, with

.. math:: \tilde k(x, Z) = \phi(x)^\top\Phi,\quad \tilde k(Z, Z) = \Phi^\top\Phi,\quad
   m = \Phi^\top\bar w,\quad S = \Phi^\top V\Phi,\qquad \Phi = \phi(Z).

The standard equations then return the model itself: :math:`\tilde k(x, Z)\tilde k(Z, Z)^{-1}m =
\phi(x)^\top\Phi\Phi^{-1}\Phi^{-\top}\Phi^\top\bar w = \phi(x)^\top\bar w`, and likewise
:math:`\tilde k(x, x) - \phi(x)^\top\phi(x) + \phi(x)^\top V\phi(x)` for the variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf

from dpgp.arithmetic import NUMPY, TINY
from dpgp.blas import in_order
from dpgp.features.base import WhitenedMap, missing_covariance, missing_variance
from dpgp.features.inducing import DictionaryValues
from dpgp.kernels.formula import mean_diagonal, specify, weighted_gram
from dpgp.point_sets import low_discrepancy_points
from dpgp.types import Array


@dataclass(frozen=True)
class Moments:
    """What is believed of the weights and the noise: mean, covariance, root mean square of σ."""

    w: Array
    V: Array
    noise: float


SHARE = 2**14
"""Points that a thread takes at a time: more than a block of rows, which has its thread already."""


def in_pieces(function: Callable[[Array], Array], U: Array, size: int) -> Array:
    """Return what a function gives the rows of ``U``, always for ``size`` of them at a time.

    The last piece is filled up: a point's numbers must not depend on how many others there are.
    """

    def of_piece(piece: Array) -> Array:
        filled = np.zeros((size, U.shape[1]))
        filled[: len(piece)] = piece
        return function(filled)[:, : len(piece)]

    def of_share(share: Array) -> Array:
        return np.concatenate([of_piece(piece) for piece in _cut(share, size)], axis=1)

    if len(U) <= SHARE:
        return of_share(U)
    return np.concatenate(list(in_order(_cut(U, SHARE), of_share)), axis=1)


def _cut(rows: Array, size: int) -> list[Array]:
    return [rows[start : start + size] for start in range(0, max(len(rows), 1), size)]


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
        K_xy = self._mean_gram(X, X if Y is None else Y)
        K_xz, a_x = self._anchors_with(X).T, self._weights(X)
        K_yz, a_y = (K_xz, a_x) if Y is None else (self._anchors_with(Y).T, self._weights(Y))
        return np.asarray(missing_covariance(K_xy, K_xz, K_yz, self._K_zz, a_x, a_y, NUMPY))

    def missing_variances_of_sums(self, U: Array, weights: Array) -> Array:
        """Return cᵀRc of sums, each over as many rows of ``U`` as there are weights.

        With the sums k_c of k(Z, x) and a_c of a(x), cᵀk(x, x)c − 2k_cᵀa_c + a_cᵀK_zz a_c.
        """

        def summed(columns: Array) -> Array:
            return np.asarray(columns.reshape(len(columns), -1, len(weights)) @ weights)

        values, own = DictionaryValues(self.features), summed(self._mean_gram(U, U))
        k_c = summed(self._anchors_with(U))
        a_c = self.features.projection.T @ values.whitened(summed(values.evaluate(U)))
        return np.asarray(
            np.diag(summed(own.T)) - np.einsum("zs,zs->s", 2.0 * k_c - self._K_zz @ a_c, a_c)
        )

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


WORST_CONDITION = 1e5
"""Largest condition number of φ(Z) with which the standard equations keep eight digits."""

EQUALLY_FAR = 1e-6
"""Relative difference of squared norms that counts as none: far above rounding errors."""

CANDIDATES = 20
"""Points of the box to choose from, for every point that is wanted; by hand."""


class Inducing(NamedTuple):
    """Inducing points in [−1, 1]^D, and mean and covariance of q(u)."""

    Z: Array
    m: Array
    S: Array


@dataclass(frozen=True)
class EffectiveKernel:
    r"""k̃(x, x') = φ(x)ᵀφ(x') + cov(r(x), r(x')) on inputs in [−1, 1]^D, called as in scikit-learn.

    Where ``Y`` is the whole array of inducing points, it stands for the inducing variables
    u = φ(Z)ᵀw, which have no part in r: ``kernel(U, Z)`` and ``kernel(Z, Z)`` are what the
    equations of sparse Gaussian processes ask for, and ``kernel(Z)`` is the covariance of f(Z).
    """

    posterior: Posterior
    Z: Array

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Return the matrix of covariances between the rows of ``X`` and those of ``Y``."""
        evaluate, missing = self.posterior.features.evaluate, self.posterior.missing_covariance
        if Y is None:
            return np.asarray(evaluate(X).T @ evaluate(X) + missing(X))
        shared = np.asarray(evaluate(X).T @ evaluate(Y))
        return shared if np.array_equal(Y, self.Z) else shared + missing(X, Y)

    def diag(self, X: Array) -> Array:
        """Return the variances at the rows of ``X``."""
        phi = self.posterior.features.evaluate(X)
        return np.asarray(np.einsum("dn,dn->n", phi, phi) + self.posterior.missing_variance(X))

    def is_stationary(self) -> bool:
        """Return False: features sit where their anchors are."""
        return False


def inducing(posterior: Posterior) -> Inducing:
    """Return Z, m = φ(Z)ᵀw̄ and S = φ(Z)ᵀVφ(Z)."""
    Z = inducing_points(posterior.features)
    phi = posterior.features.evaluate(Z)
    return Inducing(Z, posterior.moments.w @ phi, np.asarray(phi.T @ posterior.moments.V @ phi))


def inducing_points(features: WhitenedMap) -> Array:
    """Return as many points as features, φ(Z) invertible: the anchors, or points that serve."""
    anchors = features.anchors
    Z = anchors if len(anchors) == features.dimension else _independent_points(features)
    if not np.linalg.cond(features.evaluate(Z)) <= WORST_CONDITION:
        raise ValueError(
            "these features are too much alike for inducing points: their values at any points "
            "are close to linearly dependent. Use fewer or sparser points, or `dpgp.export`, which "
            "takes the weights of the features as inducing variables."
        )
    return Z


def _independent_points(features: WhitenedMap) -> Array:
    """Return anchors and points of the box whose features are least alike.

    A QR decomposition with pivots; of features that are equally far from those chosen before, as
    symmetric points are, the first is taken, so that rounding decides nothing.
    """
    anchors, d = features.anchors, features.dimension
    D = anchors.shape[1]
    spread = low_discrepancy_points([-1.0] * D, [1.0] * D, CANDIDATES * d)
    candidates = np.vstack([anchors, spread])
    rest, chosen = features.evaluate(candidates).copy(), []
    for _ in range(d):
        squares = np.einsum("dm,dm->m", rest, rest)
        chosen.append(int(np.argmax(squares >= (1 - EQUALLY_FAR) * squares.max())))
        q = rest[:, chosen[-1]] / np.sqrt(max(squares[chosen[-1]], TINY))
        rest -= np.outer(q, q @ rest)
    return np.asarray(candidates[np.sort(chosen)])
