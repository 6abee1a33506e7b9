r"""How far observations scatter at each x: a private function of the scale.

A row's distance from the mean, in units of a public :math:`s_0`, is cut and centred,
:math:`q = 2\min(|y - m(x)|/Ts_0, 1) - 1`, and :math:`a = \sum\phi(x)q + \text{noise}` is released.
The scale is :math:`c(x)s(x)` with the model's own sd s and :math:`\log c = \ell = \phi^\top w`, a
Gaussian process. For Gaussian residuals :math:`E[q \mid x] = G(\ell(x) + \log s(x)/s_0)`, so with
weights :math:`p_g` of places :math:`x_g` that stand for the rows,

.. math:: a = \sum_g p_g\phi_gG(\ell_g + \log s_g/s_0) + N(0, S), \qquad
          S = \sigma_a^2I + \sum_g p_gv_g\phi_g\phi_g^\top + F^\top(\Sigma_p \circ GG^\top)F

with the variance v of q and the covariance :math:`\Sigma_p` of the weights. Linearised at its mean,
this is a linear Gaussian model; hyperparameters are averaged over by their evidence. docs/method.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from dpgp.features.inducing import InducingFeatures
from dpgp.inference import clipping
from dpgp.inference.pull_back import positive_part
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.inference.frame import InputModel

CUT = 1.5
"""Where distances are cut, in sds. Those of Gaussian residuals are then near the middle of their
range, so that a wrong number of rows at a place hardly matters; by hand."""

SWEEPS = 6
"""Linearisations: ℓ moves less than a hundredth in the last, for scales from a third to three."""

FARTHEST = 1.5
"""Largest |ℓ| at which the model is linearised: a factor 4.5, beyond which distances are all cut or
all zero."""


@dataclass(frozen=True)
class LocalScale:
    r"""A factor of the standard deviation, :math:`c(x) = e^{\bar\ell(x) + v(x)}`.

    :math:`c^2 = E[e^{2\ell}]` for :math:`\ell(x) \sim N(\bar\ell, v)`, so that what is not known of
    the scale widens intervals. ``w`` and ``V`` are mean and covariance of the weights of ℓ.
    """

    features: InducingFeatures
    w: Array
    V: Array

    def factor(self, U: Array) -> Array:
        """Return c at the rows of ``U``, scaled inputs."""
        phi = self.features.evaluate(U)
        return np.asarray(np.exp(self.w @ phi + np.einsum("dn,dn->n", self.V @ phi, phi)))


@dataclass(frozen=True)
class Distances:
    """Released sums of φq, and the standard deviation of their noise.

    ``fraction`` is the share of the rows that were asked: the sums stand for all.
    """

    a: Array
    noise_std: float
    fraction: float = 1.0


def mean_distance(log_scale: Array) -> Array:
    r""":math:`G(\ell) = 2E\min(|z|e^\ell/T, 1) - 1`, z standard normal."""
    return np.asarray(slope_of_distance(log_scale) + 4 * _beyond(log_scale) - 1.0)


def slope_of_distance(log_scale: Array) -> Array:
    r""":math:`G'(\ell) = 2\sqrt{2/\pi}\,(1 - e^{-b^2/2})/b`, :math:`b = Te^{-\ell}`."""
    b = CUT * np.exp(-log_scale)
    return np.asarray(2 * np.sqrt(2 / np.pi) * -np.expm1(-0.5 * b * b) / b)


def variance_of_distance(log_scale: Array) -> Array:
    r""":math:`v = 4E\min(|z|e^\ell/T, 1)^2 - (G + 1)^2`."""
    square = 4 * clipping.second_moment(CUT, np.exp(log_scale)) / CUT**2
    return np.asarray(np.maximum(square - (mean_distance(log_scale) + 1.0) ** 2, 0.0))


def _beyond(log_scale: Array) -> Array:
    """P(z > b)."""
    return np.asarray(0.5 * (1.0 - clipping.slope(CUT, np.exp(log_scale))))


def learn_scale(
    distances: Distances,
    features: InducingFeatures,
    priors: Sequence[Array],
    inputs: InputModel,
    log_ratios: Array,
) -> LocalScale:
    """Average the posterior of w over prior covariances, weighted by their evidence.

    ``log_ratios`` are log s(x)/s₀ at the places of the inputs.
    """
    release = _Release(distances, features.evaluate(inputs.places).T, inputs, log_ratios)
    found = [_condition(release, C) for C in priors]
    omega = softmax([belief.log_evidence for belief in found])
    means = np.array([belief.w for belief in found])
    # w̄ = Σω w_θ, V̄ = Σω(V_θ + (w_θ − w̄)(w_θ − w̄)ᵀ)
    mean = omega @ means
    centred = means - mean
    V = np.tensordot(omega, [belief.V for belief in found], axes=1)
    return LocalScale(features, mean, positive_part(V + (omega * centred.T) @ centred))


@dataclass(frozen=True)
class _Belief:
    w: Array
    V: Array
    log_evidence: float


@dataclass(frozen=True)
class _Release:
    """What was released, with features, rows and log s(x)/s₀ at the places of the inputs."""

    distances: Distances
    F: Array
    inputs: InputModel
    log_ratios: Array


@dataclass(frozen=True)
class _Linearised:
    """a ≈ level + Jw + N(0, S)."""

    level: Array
    J: Array
    S: Array


def _condition(release: _Release, C: Array) -> _Belief:
    """Condition w ~ N(0, C) on the release, linearised again at every mean."""
    w = np.zeros(len(C))
    for _ in range(SWEEPS):
        belief = _gaussian(_linearise(release, w), release.distances.a, C)
        w = belief.w
    return belief


def _linearise(release: _Release, w: Array) -> _Linearised:
    F, p, covariance = release.F, release.inputs.weights, release.inputs.covariance
    at = np.clip(F @ w, -FARTHEST, FARTHEST)
    log_scale = at + release.log_ratios
    G, slope = mean_distance(log_scale), slope_of_distance(log_scale)
    J = (F.T * (p * slope)) @ F
    S = (F.T * (p * variance_of_distance(log_scale))) @ F / release.distances.fraction
    if covariance is not None:
        S = S + F.T @ (covariance * np.outer(G, G)) @ F
    S = S + (release.distances.noise_std**2 + _slight(S)) * np.eye(len(S))
    return _Linearised(F.T @ (p * (G - slope * at)), J, S)


def _slight(S: Array) -> float:
    return 1e-9 * float(np.trace(S)) / len(S)


def _gaussian(model: _Linearised, a: Array, C: Array) -> _Belief:
    """w̄ = CJᵀK⁻¹r, V = C − CJᵀK⁻¹JC with r = a − level, K = JCJᵀ + S."""
    r, JC = a - model.level, model.J @ C
    factor: Any = cho_factor(JC @ model.J.T + model.S, lower=True)
    solved = cho_solve(factor, np.column_stack([r, JC]))
    # log p(a) = −½ rᵀK⁻¹r − ½ log|K|
    log_determinant = 2 * np.log(np.diag(factor[0])).sum()
    log_evidence = -0.5 * float(r @ solved[:, 0] + log_determinant)
    return _Belief(JC.T @ solved[:, 0], C - JC.T @ solved[:, 1:], log_evidence)
