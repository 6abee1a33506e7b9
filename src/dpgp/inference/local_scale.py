r"""How far observations scatter at each x: a private function of the scale.

A row's distance from the mean, in units of a public :math:`s_0`, is cut and centred,
:math:`q = 2\min(\max(|y - m(x)|/s_0 - T_0, 0)/(T_1 - T_0), 1) - 1`, and
:math:`a = \sum\varphi(x)q + \text{noise}` is released, once or twice with different features φ.
The scale is :math:`c(x)s(x)` with the model's own sd s and :math:`\log c = \ell = \sum_j g_j^\top
\xi_j`, a sum of Gaussian processes: a constant, and one function for every part, such as an input,
with :math:`\xi_j \sim N(0, v_jI)`. For Gaussian residuals :math:`E[q \mid x] = G(\ell(x) + \log
s(x)/s_0)`, so with weights :math:`p_g` of places :math:`x_g` that stand for the rows,

.. math:: a = \sum_g p_g\varphi_gG(\ell_g + \log s_g/s_0) + N(0, S), \qquad
          S = \sigma_a^2I + \sum_g p_gv_g\varphi_g\varphi_g^\top + F^\top(\Sigma_p \circ GG^\top)F

with the variance v of q and the covariance :math:`\Sigma_p` of the weights. Linearised at its mean,
this is a linear Gaussian model; every :math:`v_j` is averaged over by its evidence, given what is
expected of the others. docs/method.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from dpgp.features.base import UnitFeatures
from dpgp.features.inducing import InducingFeatures
from dpgp.inference import clipping
from dpgp.inference.pull_back import positive_part
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.inference.frame import InputModel

NEAR, FAR = 0.4, 1.4
"""Between which distances q grows from −1 to 1, in sds. The sign of |z| − 1 would tell most of a
scale near one, E|z² − 1| = 0.97 a row; this ramp tells 0.87, and more than half of that where the
scale is half or twice as large. From 0 to 1.5 sds it would be 0.72."""

LEVEL_SD = 0.3
"""Prior sd of the constant part of log c: the model's own sd is right to a factor 1.35."""

PART_SDS = np.array([0.02, 0.15, 0.3, 0.6])
"""Prior sds of a part of log c: none, or up to a factor 1.8."""

PART_ODDS = np.array([0.7, 0.1, 0.1, 0.1])
"""Their prior probabilities: most parts are none. By hand: with even ones, eight inputs that do
nothing make a scale of noise."""

FIRST = float(PART_ODDS @ PART_SDS**2)
"""The variance of a part before anything is known."""

SWEEPS = 5
"""Linearisations, each followed by new v_j; ℓ hardly moves in the last."""

LEAST = 1e-6
"""Smallest precision of a part: far below that of any prior, above rounding errors."""

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

    def typical(self, U: Array) -> Array:
        r"""Return :math:`e^{\bar\ell}` at the rows of ``U``, without what is not known of it."""
        return np.asarray(np.exp(self.w @ self.features.evaluate(U)))

    def factor(self, U: Array) -> Array:
        """Return c at the rows of ``U``, scaled inputs."""
        phi = self.features.evaluate(U)
        return np.asarray(np.exp(self.w @ phi + np.einsum("dn,dn->n", self.V @ phi, phi)))


@dataclass(frozen=True)
class Distances:
    """Released sums of φq, the features φ, and the standard deviation of the noise.

    ``fraction`` is the share of the rows that were asked: the sums stand for all.
    """

    features: UnitFeatures
    a: Array
    noise_std: float
    fraction: float = 1.0


class ScaleBelief(NamedTuple):
    """The function of the scale, and what is expected of v_j: the variance of every part."""

    scale: LocalScale
    variances: Array


def mean_distance(log_scale: Array) -> Array:
    r""":math:`G(\ell) = 2(M(T_1) - M(T_0))/(T_1 - T_0) - 1`, :math:`M(T) = E\min(|z|e^\ell, T)`."""
    return np.asarray(2 * _between(log_scale) / (FAR - NEAR) - 1.0)


def slope_of_distance(log_scale: Array) -> Array:
    r""":math:`G'(\ell) = 2\sqrt{2/\pi}\,e^\ell(e^{-b_0^2/2} - e^{-b_1^2/2})/(T_1 - T_0)`.

    With :math:`b = Te^{-\ell}`.
    """
    size = np.exp(log_scale)
    inside = np.exp(-0.5 * (NEAR / size) ** 2) - np.exp(-0.5 * (FAR / size) ** 2)
    return np.asarray(2 * np.sqrt(2 / np.pi) * size * inside / (FAR - NEAR))


def variance_of_distance(log_scale: Array) -> Array:
    r""":math:`v = 4(m_2(T_1) - m_2(T_0) - 2T_0D - D^2)/(T_1 - T_0)^2`, with D of M(T).

    :math:`m_2(T) = E\min(|z|e^\ell, T)^2` and :math:`D = M(T_1) - M(T_0)`.
    """
    size, D = np.exp(log_scale), _between(log_scale)
    square = clipping.second_moment(FAR, size) - clipping.second_moment(NEAR, size) - 2 * NEAR * D
    return np.asarray(np.maximum(4 * (square - D * D) / (FAR - NEAR) ** 2, 0.0))


def _between(log_scale: Array) -> Array:
    """M(T₁) − M(T₀)."""
    size = np.exp(log_scale)
    return _mean_cut(FAR, size) - _mean_cut(NEAR, size)


def _mean_cut(T: float, size: Array) -> Array:
    r"""E min(|z|s, T) = √(2/π) s(1 − e^{−b²/2}) + T P(|z| > b), b = T/s."""
    b = T / size
    return np.asarray(
        np.sqrt(2 / np.pi) * size * -np.expm1(-0.5 * b * b) + T * (1.0 - clipping.slope(T, size))
    )


def learn_scale(
    distances: Sequence[Distances],
    features: InducingFeatures,
    parts: Sequence[Array],
    inputs: InputModel,
    log_ratios: Array,
) -> ScaleBelief:
    """Return the posterior of ℓ, given all sums about it.

    ``parts`` are weights on ``features`` of the functions g_j of every part, a column a function;
    the first is the constant. ``log_ratios`` are log s(x)/s₀ at the places of the inputs.
    """
    values = features.evaluate(inputs.places)
    basis = np.hstack([values.T @ part for part in parts])
    release = _Release(
        np.concatenate([each.a for each in distances]),
        np.repeat([each.noise_std for each in distances], [len(each.a) for each in distances]),
        np.vstack([each.features.evaluate(inputs.places) for each in distances]).T,
        basis,
        inputs,
        log_ratios,
        _common_rows(distances),
    )
    found = _condition(release, [part.shape[1] for part in parts])
    L = np.hstack(list(parts))
    scale = LocalScale(features, L @ found.xi, positive_part(L @ found.V @ L.T))
    return ScaleBelief(scale, found.variances)


@dataclass(frozen=True)
class _Release:
    """What was released, with features, functions, rows and log s(x)/s₀ at places of the inputs."""

    a: Array
    noise_stds: Array
    F: Array
    basis: Array
    inputs: InputModel
    log_ratios: Array
    common: Array  # of the sampling errors of two sums, by the rows that both asked


def _common_rows(distances: Sequence[Distances]) -> Array:
    """Return 1 for sums over all rows; of parts 1/fraction for sums of one, 0 for those of two."""
    sweep = np.repeat(np.arange(len(distances)), [len(each.a) for each in distances])
    fraction = np.array([each.fraction for each in distances])[sweep]
    return np.where(sweep[:, None] == sweep, 1.0 / fraction, 1.0 * (fraction == 1.0))


class _Belief(NamedTuple):
    xi: Array
    V: Array
    variances: Array


def _condition(release: _Release, sizes: Sequence[int]) -> _Belief:
    """Condition ξ on the release, linearised again at every mean, with new v_j every time."""
    blocks = [slice(end - size, end) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]
    belief = _Belief(np.zeros(sum(sizes)), np.empty((0, 0)), np.full(len(sizes) - 1, FIRST))
    for _ in range(SWEEPS):
        prior = np.repeat(np.append(LEVEL_SD**2, belief.variances), sizes)
        precision, b = _information(release, belief.xi)
        V = np.asarray(np.linalg.inv(np.diag(1.0 / prior) + precision), dtype=np.float64)
        xi, parts = V @ b, zip(blocks[1:], belief.variances, strict=True)
        variances = [_variance_of_part(V[part, part], xi[part], v) for part, v in parts]
        belief = _Belief(xi, V, np.array(variances))
    return belief


def _information(release: _Release, xi: Array) -> tuple[Array, Array]:
    """Λ = JᵀS⁻¹J and JᵀS⁻¹(a − level) of the linearised model a ≈ level + Jξ + N(0, S)."""
    F, p, covariance = release.F, release.inputs.weights, release.inputs.covariance
    at = np.clip(release.basis @ xi, -FARTHEST, FARTHEST)
    log_scale = at + release.log_ratios
    G, slope = mean_distance(log_scale), slope_of_distance(log_scale)
    J = (F.T * (p * slope)) @ release.basis
    S = release.common * ((F.T * (p * variance_of_distance(log_scale))) @ F)
    if covariance is not None:
        S = S + F.T @ (covariance * np.outer(G, G)) @ F
    slight = 1e-9 * float(np.trace(S)) / len(S)
    S = S + np.diag(release.noise_stds**2 + slight)
    r = release.a - F.T @ (p * (G - slope * at))
    solved = cho_solve(cho_factor(S, lower=True), np.column_stack([r, J]))
    return J.T @ solved[:, 1:], J.T @ solved[:, 0]


def _variance_of_part(V: Array, mean: Array, variance: float) -> float:
    r"""Return the v that shrinks a part as the average over its sds does, by their evidence.

    Without its prior N(0, vI) the part has precision :math:`M = V^{-1} - I/v` and
    :math:`h = V^{-1}\bar\xi` from all else, so :math:`\log p(a \mid v) = -\tfrac12\log|I + vM| +
    \tfrac12 h^\top(M + I/v)^{-1}h`. A prior v leaves the share :math:`v\bar m/(1 + v\bar m)` of
    what was seen, :math:`\bar m` the average of M.
    """
    inverse = np.asarray(np.linalg.inv(V), dtype=np.float64)
    eigenvalues, Q = np.linalg.eigh(inverse - np.eye(len(V)) / variance)
    m, h, v = np.maximum(eigenvalues, LEAST), Q.T @ (inverse @ mean), PART_SDS**2
    kept = np.outer(v, m) / (1 + np.outer(v, m))
    log_evidence = 0.5 * np.sum(h * h / m * kept + np.log1p(-kept), axis=1)
    share = softmax(log_evidence + np.log(PART_ODDS)) @ (v * m.mean() / (1 + v * m.mean()))
    return float(share / (1 - share) / m.mean())
