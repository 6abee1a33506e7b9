r"""Posterior and evidence of all stages together, for many hyperparameter vectors at once.

Stage k measured :math:`A_k = \sum\phi\,\mathrm{clip}(r_k, R_k)`, :math:`r_k = t - \phi^\top w_k`.
Corrected for clipping by the slope :math:`g_k`, and moved back,

.. math:: A_k/g_k + \tilde Bw_k = \tilde Bw + \Phi^\top\epsilon + \text{distortion}
          - E(w - w_k) + \text{noise}/g_k

where the sampling noise and the error E of :math:`\tilde B` are common to all stages. The stages
are combined by least squares; the rest is one linear Gaussian model,
:math:`a = \tilde Bw + N(0, (\sigma^2 + \sigma_R^2)\tilde B + Q)`. docs/method.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.lapack import dtrtrs

from dpgp.arithmetic import TINY
from dpgp.features.base import WhitenedMap
from dpgp.inference.few.before import ToldBefore
from dpgp.inference.few.gram_estimate import GramEstimate
from dpgp.inference.posterior import Moments
from dpgp.inference.residual_law import ResidualLaw, gaussian_law
from dpgp.inference.stage import StageRelease
from dpgp.kernels.formula import batch_gram
from dpgp.types import Array

SHAPE_DOUBT = 0.05
"""Relative error allowed for the Gaussian shape of tails in an earlier stage's second moment. By
hand: what heavier tails may do to σ, against what earlier stages tell of it."""

INFLATION_RANGE = (0.5, 4.0)
"""Factors by which the second moments may change the covariance of the weights. By hand: one noisy
c shall neither make f certain nor drown it."""

JITTER = 1e-11
"""Of 1 + tr(B)/d, on Q: keeps it positive definite where there is no noise."""

SUM_WEIGHT = 1e3
"""Weight of the equation Σω = 1 beside rows whose squares add up to one: large enough to hold,
small enough for the solver's digits. What is left of the error is divided out."""

RANK = 1e-10
"""Eigenvalues of an exact B below this share of the largest are rounding errors."""


@dataclass(frozen=True)
class Measurement:
    """All stages as one, a = Bw + N(0, (σ² + σ_R²)B + Q), diagonalised: UᵀQU = I, UᵀBU = Λ.

    ``law`` is that of the residuals which were clipped.
    """

    a: Array
    B: Array
    distortion: float
    U: Array
    Lambda: Array
    law: ResidualLaw = field(default_factory=gaussian_law)

    @cached_property
    def U_inverse(self) -> Array:
        """U⁻¹, which takes w to w' = U⁻¹w."""
        return np.asarray(np.linalg.inv(self.U))


@dataclass(frozen=True)
class Conditional:
    """Given each θ: mean and covariance of w' = U⁻¹w, and the log evidence."""

    mean: Array
    covariance: Array
    log_evidence: Array


def mean_square(v: Array, V: Array, gram: GramEstimate, n: float) -> float:
    """E[vᵀBv]/n for v of mean ``v`` and covariance V: how far two functions are apart."""
    return max(float(v @ gram.B @ v + np.sum(gram.B * V)) / n, 0.0)


def combine_stages(
    stages: Sequence[StageRelease],
    gram: GramEstimate,
    moments: Moments,
    law: ResidualLaw | None = None,
) -> Measurement:
    """Combine the stages by least squares, with the error of B shared between them."""
    law = gaussian_law() if law is None else law
    slopes, added = corrections(stages, gram, moments, law)
    return replace(combine_corrected(stages, slopes, added, gram, moments), law=law)


def corrections(
    stages: Sequence[StageRelease], gram: GramEstimate, moments: Moments, law: ResidualLaw
) -> tuple[Array, Array]:
    """Return what clipping left of the signal of every stage, and the variance that it added."""
    pairs = [_clipping(stage, moments.w - stage.w0, gram, moments, law) for stage in stages]
    slopes, added = np.transpose(pairs)
    return slopes, added


def combine_corrected(
    stages: Sequence[StageRelease],
    slopes: Array,
    added: Array,
    gram: GramEstimate,
    moments: Moments,
) -> Measurement:
    """Combine stages of which it is known what clipping did."""
    # v_k = w − w_k
    moved = np.stack([moments.w - stage.w0 for stage in stages])
    noise = np.array([stage.sigma_a for stage in stages]) / slopes
    omega = _combination(noise, gram, moments.V, moved)
    # a = Σ_k ω_k (A_k/g_k + B w_k)
    parts = [s.A / g + gram.B @ s.w0 for s, g in zip(stages, slopes, strict=True)]
    # Q = Ω(V + v̄v̄ᵀ) + Σ_k ω_k²σ_ak²/g_k² I,  v̄ = Σ_k ω_k v_k
    v_bar, d = omega @ moved, len(gram.B)
    Q = gram.error_covariance(moments.V + np.outer(v_bar, v_bar))
    Q += (np.sum((omega * noise) ** 2) + JITTER * (1.0 + np.trace(gram.B) / d)) * np.eye(d)
    # BU = QUΛ with UᵀQU = I
    Lambda, U = eigh(gram.B, Q)
    # clipping errs alike in all stages: σ_R = Σ_k ω_k σ_Rk
    distortion = float(np.sum(omega * np.sqrt(added))) ** 2
    return Measurement(omega @ parts, gram.B, distortion, U, np.maximum(Lambda, 0.0))


def _clipping(
    stage: StageRelease, v: Array, gram: GramEstimate, moments: Moments, law: ResidualLaw
) -> tuple[float, float]:
    """Return the slope g, and the variance that clipping adds, of residuals of sd τ."""
    if stage.is_unclipped:
        return 1.0, 0.0
    # τ² = σ² + E[(w − w_k)ᵀB(w − w_k)]/n
    tau = float(np.sqrt(moments.noise**2 + mean_square(v, moments.V, gram, stage.n)))
    return float(law.slope(stage.clip, tau)), law.distortion(stage.clip, tau)


def _combination(noise: Array, gram: GramEstimate, V: Array, moved: Array) -> Array:
    """Weights of the stages, S_kl = 1_kl σ_ak²/g_k² + tr Ω(E[(w − w_k)(w − w_l)ᵀ])/d."""
    if noise[-1] == 0.0:
        return np.asarray(np.eye(len(noise))[-1])
    Gamma = gram.error_trace_matrix() / len(V)
    return stage_weights(np.diag(noise**2) + moved @ Gamma @ moved.T + np.sum(Gamma * V))


def stage_weights(S: Array) -> Array:
    """argmin ωᵀSω over ω ≥ 0, Σω = 1.

    A negative weight would extrapolate along the error of B and trust its size too much.
    """
    # without the bound ω ∝ S⁻¹1, and mostly nothing is negative
    free = np.linalg.solve(S / np.trace(S), np.ones(len(S)))
    if free.min() >= 0.0:
        return np.asarray(free / free.sum())
    return _bounded_weights(S)


def _bounded_weights(S: Array) -> Array:
    from scipy.optimize import nnls  # slow to import, and seldom needed

    L = np.linalg.cholesky(S / np.trace(S))
    # min ‖Lᵀω‖² + SUM_WEIGHT² (Σω − 1)², S = LLᵀ of trace one
    rows = np.vstack([L.T, np.full(len(S), SUM_WEIGHT)])
    omega, _ = nnls(rows, np.append(np.zeros(len(S)), SUM_WEIGHT))
    return np.asarray(omega / omega.sum())


def condition(
    measurement: Measurement,
    stages: Sequence[StageRelease],
    features: WhitenedMap,
    kernel: Any,
    thetas: Array,
    before: ToldBefore | None = None,
) -> Conditional:
    r"""Return the posterior of w' and log p(a, c | θ) for every θ = (kernel.theta, log σ).

    In the coordinates :math:`w' = U^{-1}w`: :math:`a' = \Lambda w' + N(0, D)`,
    :math:`D = 1 + (\sigma^2 + \sigma_R^2)\Lambda`, so with :math:`H = \Lambda D^{-1/2}`,
    :math:`S = I + HC'H` is positive definite and :math:`V' = C' - C'HS^{-1}HC'`. What was
    told ``before`` leaves C' unknown, and all is about its mean.
    """
    lam, sigma2 = measurement.Lambda, np.exp(2 * thetas[:, -1])
    # C' = U⁻¹ C_θ U⁻ᵀ
    C = prior_covariances(features, kernel, thetas[:, :-1], measurement.U_inverse)
    start = np.zeros((len(C), len(lam)))
    if before is not None:
        start, C = before.given(C, measurement.U)
    D = 1 + (sigma2[:, None] + measurement.distortion) * lam
    H = lam / np.sqrt(D)
    HC = H[:, :, None] * C
    # LLᵀ = S = I + HC'H
    L = np.linalg.cholesky(_symmetric(HC * H[:, None, :]) + np.eye(len(lam)))
    # z = D^{−1/2} Uᵀa − Hw̄' ~ N(0, S)
    z = (measurement.U.T @ measurement.a) / np.sqrt(D) - H * start
    half = _solve_lower(L, np.concatenate([HC, z[:, :, None]], axis=2))
    gain, whitened = half[:, :, :-1], half[:, :, -1]
    # mean of w' = C'H S⁻¹ z,  V' = C' − C'H S⁻¹ HC',  gain = L⁻¹HC'
    mean = start + np.einsum("tij,ti->tj", gain, whitened)
    V = C - np.swapaxes(gain, 1, 2) @ gain
    # −½ zᵀS⁻¹z − ½ log|S| − ½ log|D|
    log_evidence = -0.5 * np.sum(whitened**2, axis=1) - _log_root(L) - 0.5 * np.log(D).sum(axis=1)
    log_c, inflation = second_moment_evidence(measurement, stages, mean, V, sigma2)
    return Conditional(mean, inflation[:, None, None] * V, log_evidence + log_c)


def prior_covariances(features: WhitenedMap, kernel: Any, thetas: Array, basis: Array) -> Array:
    """Return C_θ = P K_θ(Z, Z) Pᵀ for every θ, in the coordinates that ``basis`` leads to."""
    Z = features.anchors
    P = basis @ features.projection
    K = np.broadcast_to(batch_gram(kernel, thetas, Z, Z), (len(thetas), len(Z), len(Z)))
    return np.asarray(P @ K @ P.T)


def second_moment_evidence(
    measurement: Measurement,
    stages: Sequence[StageRelease],
    mean: Array,
    V: Array,
    sigma2: Array,
) -> tuple[Array, Array]:
    r"""Return log p(c_1..c_K | a, θ), :math:`c_k \approx n\,m_2(R_k, \tau_k)`, and a factor for V.

    :math:`\tau_k^2 = \sigma^2 + q_k/n`, :math:`q_k = (w - w_k)^\top B(w - w_k)`. Covariance: each
    stage's own noise, plus the sampling error :math:`\sqrt{n(m_4 - m_2^2)}` and the uncertainty of
    :math:`q_k`, both common to all stages. Earlier stages clip elsewhere in the tails: their
    :math:`m_2` is trusted to ``SHAPE_DOUBT`` only. Seeing c also tells whether f is further from
    its mean than V thinks: the factor is :math:`E[q \mid c]/E[q]`.
    """
    if stages[-1].is_exact:
        return _exact_residual_evidence(measurement, stages[-1], sigma2), np.ones(len(sigma2))
    if stages[-1].outcome.law_is_known:  # c tells nothing beyond a
        return np.zeros(len(sigma2)), np.ones(len(sigma2))
    stages = [stage for stage in stages if not stage.is_unclipped] or stages[-1:]
    n, R = stages[-1].n, np.array([stage.clip for stage in stages])
    q, q_sd = _distances(measurement, stages, mean, V)
    tau = np.sqrt(sigma2[:, None] + q / n)
    law = measurement.law
    m2, m4 = law.second_moment(R, tau), law.fourth_moment(R, tau)
    sampling = np.sqrt(n * np.maximum(m4 - m2**2, 0.0))
    spread = law.second_moment_slope(R, tau) * q_sd
    doubt = np.where(np.arange(len(R)) == len(R) - 1, 0.0, SHAPE_DOUBT) * n * m2
    shape = n * law.doubt(R, tau)
    # Cov(c) = diag(σ_c² + doubt²) + ssᵀ + uuᵀ + ddᵀ,
    # s = √(n(m₄ − m₂²)),  u = (dm₂/dτ²) sd(q),  d = n sd(m₂) of a law that is not quite known
    own = np.array([stage.sigma_c for stage in stages]) ** 2 + doubt**2
    covariance = own[:, :, None] * np.eye(len(R)) + _outer(sampling) + _outer(spread)
    covariance = covariance + _outer(shape)
    L = np.linalg.cholesky(covariance)
    misfit = np.array([stage.c for stage in stages]) - n * m2
    z, shift = np.moveaxis(np.linalg.solve(L, np.stack([misfit, spread], axis=2)), 2, 0)
    # q = E[q] + sd(q)·ξ with ξ ~ N(0, 1): E[ξ | c] = spreadᵀ Cov(c)⁻¹ misfit
    xi = np.sum(z * shift, axis=1)
    inflation = 1.0 + xi * q_sd[:, -1] / np.maximum(q[:, -1], TINY)
    # −½ misfitᵀ Cov(c)⁻¹ misfit − ½ log|Cov(c)|
    log_evidence = -0.5 * np.sum(z * z, axis=1) - _log_root(L)
    return log_evidence, np.clip(inflation, *INFLATION_RANGE)


def _distances(
    measurement: Measurement, stages: Sequence[StageRelease], mean: Array, V: Array
) -> tuple[Array, Array]:
    """Return mean and sd of q_k = (w − w_k)ᵀB(w − w_k) under every θ, (thetas, stages)."""
    lam = measurement.Lambda
    v = mean[:, None, :] - np.stack([measurement.U_inverse @ stage.w0 for stage in stages])
    # E[q] = vᵀΛv + tr(ΛV),  Var(q) = 2 tr(ΛVΛV) + 4 vᵀΛVΛv
    q = (v**2 + np.diagonal(V, axis1=1, axis2=2)[:, None, :]) @ lam
    Lv = v * lam
    variance = 2 * np.einsum("tij,tij,i,j->t", V, V, lam, lam)[:, None]
    variance = variance + 4 * np.sum((Lv @ V) * Lv, axis=2)
    return np.maximum(q, 0.0), np.sqrt(np.maximum(variance, 0.0))


def _exact_residual_evidence(measurement: Measurement, stage: StageRelease, sigma2: Array) -> Array:
    """Without noise c − AᵀB⁻¹A ~ σ²χ² with n − rank(B) degrees of freedom."""
    eigenvalues, Q = np.linalg.eigh(measurement.B)
    seen = eigenvalues > RANK * eigenvalues[-1]
    # AᵀB⁻¹A over the directions that rows have
    explained = np.sum((Q.T @ measurement.a)[seen] ** 2 / eigenvalues[seen])
    freedom = stage.n - int(seen.sum())
    left = max(stage.c - float(explained), 0.0)
    return np.asarray(-0.5 * freedom * np.log(sigma2) - 0.5 * left / sigma2)


def _solve_lower(L: NDArray[Any], rhs: Array) -> Array:
    """Return L⁻¹ rhs for a batch of triangular L: NumPy's own would factorise them again."""
    return np.stack([dtrtrs(l_t, r_t, lower=1)[0] for l_t, r_t in zip(L, rhs, strict=True)])


def _symmetric(matrices: Array) -> Array:
    return (matrices + np.swapaxes(matrices, -1, -2)) / 2


def _outer(rows: Array) -> Array:
    return rows[:, :, None] * rows[:, None, :]


def _log_root(L: NDArray[Any]) -> Array:
    """Return ½ log|LLᵀ|."""
    return np.asarray(np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1))
