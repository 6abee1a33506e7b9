r"""A fitted model in the words of sparse Gaussian processes: inducing points, q(u), a kernel.

The model is :math:`f = \phi^\top w + r`, :math:`w \sim N(\bar w, V)`, with r what the features
miss. Before any data :math:`w \sim N(0, I)` is as good a start as any other, since q(u) replaces
it. That gives f the *effective kernel*
:math:`\tilde k(x, x') = \phi(x)^\top\phi(x') + \mathrm{cov}(r(x), r(x'))`, and as many points Z as
features give :math:`u = \phi(Z)^\top w`, independent of r, with

.. math:: \tilde k(x, Z) = \phi(x)^\top\Phi,\quad \tilde k(Z, Z) = \Phi^\top\Phi,\quad
   m = \Phi^\top\bar w,\quad S = \Phi^\top V\Phi,\qquad \Phi = \phi(Z).

The standard equations then return the model itself: :math:`\tilde k(x, Z)\tilde k(Z, Z)^{-1}m =
\phi(x)^\top\Phi\Phi^{-1}\Phi^{-\top}\Phi^\top\bar w = \phi(x)^\top\bar w`, and likewise
:math:`\tilde k(x, x) - \phi(x)^\top\phi(x) + \phi(x)^\top V\phi(x)` for the variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.features.base import WhitenedMap
from dpgp.features.placement import low_discrepancy_points
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.inference.posterior import Posterior


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
