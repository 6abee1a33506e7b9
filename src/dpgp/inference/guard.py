r"""Guard of the mean against skewed noise: widely clipped residuals on a few features.

Hard clipping estimates a Huber location :math:`f_H` of the target given x. Model
:math:`f = f_H + b(x)`, :math:`b(x) = \phi_s(x)^\top b` on constant and linear features, and let the
final release, with a wide clip, speak about b:

.. math:: S = \sum\phi_s\,\mathrm{clip}(r, R_w)
          = M(w - w_0) + B_sb + \Phi_s^\top\epsilon + \text{noise}

with the same sampling noise :math:`\epsilon` that the stages saw. Two hypotheses are averaged: the
noise is Gaussian (b = 0, and the wide second moment is the core's), or it is not (b has twice the
size of the bias that exponential noise would cause, and the wide variance is free). The mean is
their average. The covariance is that of the second around it: a noisy release cannot clear the
noise of suspicion, and intervals should hold where it is guilty. It has the bias that is left by
the guard's own clip, too. docs/method.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgp.inference.clipping import huber_bias
from dpgp.inference.evidence import Measurement, Moments, mean_square
from dpgp.inference.gram_estimate import GramEstimate
from dpgp.inference.pull_back import positive_part
from dpgp.inference.stage import LARGEST_RESIDUAL, StageRelease

Array = NDArray[np.float64]

CONSTANT_SHARE = 0.75
"""Share of the squared norm of φ_s for the constant; the rest is for the linear features. By hand:
less noise on the constant against less on the slopes."""

DOUBT = 0.5
"""Prior probability that the noise is not Gaussian: even odds."""

BIAS_SIZE = 2.0
"""Prior sd of the bias, in units of the one that exponential noise would cause. By hand;
`dpgp reproduce successor` shows what it does for skewed noise."""

TAIL_SD = 0.7
"""Relative sd of the variance beyond the core's where the noise is not Gaussian; by hand."""

SLOPE_SIZE = 0.5
"""Prior sd of the slopes of the bias, relative to that of its constant; by hand."""

CORE_ERROR = 0.1
"""Relative error of the core's σ² that is not yet called a tail; by hand."""

LEAST_VARIANCE = 0.5
"""Share of the core's σ² below which a noisy wide second moment cannot take it; by hand."""

RIDGE = 1e-8
"""Of the mean eigenvalue, in the least squares of `embed`: features may be nearly dependent."""

JITTER = 1e-9
"""Of the sampling variance nσ², where there is no privacy noise."""


@dataclass(frozen=True)
class Guarded:
    """Corrected beliefs, and the probability that the noise is not Gaussian."""

    moments: Moments
    probability: float


@dataclass(frozen=True)
class _Hypothesis:
    """Beliefs under one hypothesis about the noise, and its log evidence."""

    w: Array
    V: Array
    noise_variance: float
    log_evidence: float


def guard_kappa(n: float, mu: float) -> float:
    """κ_w = (3nμ)^¼, at least 3: balances the noise with a lognormal's mean beyond κ_w.

    Three standard deviations hold nearly all of Gaussian noise; 3 and ¼ were set by hand.
    """
    return max(3.0, float((3.0 * n * mu) ** 0.25))


def embed(atoms: Array, simple: Array) -> Array:
    """Return L with φ_s ≈ Lᵀφ, by least squares over feature columns at public positions."""
    # L = (ΦΦᵀ + ridge·I)⁻¹ ΦΦ_sᵀ
    gram = atoms @ atoms.T
    ridge = RIDGE * np.trace(gram) / len(gram)
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), atoms @ simple.T))


def apply_guard(
    guard: StageRelease,
    measurement: Measurement,
    gram: GramEstimate,
    moments: Moments,
    L: Array,
    kappa: float,
) -> Guarded:
    """Average the mean over Gaussian and other noise; L embeds φ_s ≈ Lᵀφ."""
    sds = _bias_sds(L.shape[1], BIAS_SIZE * huber_bias(kappa) * moments.noise)
    gaussian = _hypothesis(guard, measurement, gram, moments, L, np.zeros_like(sds), 0.0)
    other = _hypothesis(guard, measurement, gram, moments, L, sds, TAIL_SD)
    P = _probability(DOUBT, other.log_evidence - gaussian.log_evidence)
    step = other.w - gaussian.w
    # what is unknown if the noise is not Gaussian, around the mean at P
    V = other.V + (1 - P) ** 2 * np.outer(step, step) + _beyond(guard, moments, L)
    noise = math.sqrt((1 - P) * gaussian.noise_variance + P * other.noise_variance)
    # Cov(w, z) is that of an average θ: with hardly any noise it can exceed what V leaves
    return Guarded(Moments(gaussian.w + P * step, positive_part(V), noise), P)


def _beyond(guard: StageRelease, moments: Moments, L: Array) -> Array:
    """Return the prior covariance of the bias that remains because the guard clips too."""
    if guard.clip >= LARGEST_RESIDUAL:
        return np.zeros_like(moments.V)
    size = BIAS_SIZE * huber_bias(guard.clip / moments.noise) * moments.noise
    return np.asarray((L * _bias_sds(L.shape[1], size) ** 2) @ L.T)


def _bias_sds(features: int, size: float) -> Array:
    """Return prior sds of b: all of ``size`` for the constant, half of it for the slopes."""
    slopes = np.full(features - 1, SLOPE_SIZE / math.sqrt(1.0 - CONSTANT_SHARE))
    return np.asarray(size * np.append(1.0 / math.sqrt(CONSTANT_SHARE), slopes))


def _probability(prior: float, log_bayes_factor: float) -> float:
    # ±500: what exp can take, and certain either way
    log_odds = math.log(prior / (1 - prior)) + min(max(log_bayes_factor, -500.0), 500.0)
    return 1 / (1 + math.exp(-log_odds))


def _hypothesis(
    guard: StageRelease,
    measurement: Measurement,
    gram: GramEstimate,
    moments: Moments,
    L: Array,
    bias_sds: Array,
    tail_sd: float,
) -> _Hypothesis:
    """Condition w + Lb on S, b ~ N(0, bias_sds²), and σ² on the wide second moment."""
    noise_variance, log_tail = _wide_noise(guard, gram, moments, tail_sd)
    z, cross, total = _joint(guard, measurement, moments, L, noise_variance)
    prior, B_s = np.diag(bias_sds**2), L.T @ gram.B @ L
    # Cov(z) with b free, Cov(w + Lb, z)
    S = total + B_s @ prior @ B_s
    c = cross + L @ prior @ B_s
    # E[w + Lb | z] = ŵ + cS⁻¹z,  Cov = V + L·prior·Lᵀ − cS⁻¹cᵀ
    solved = np.linalg.solve(S, np.column_stack([z, c.T]))
    return _Hypothesis(
        w=moments.w + c @ solved[:, 0],
        V=moments.V + L @ prior @ L.T - c @ solved[:, 1:],
        noise_variance=noise_variance,
        log_evidence=log_tail - 0.5 * float(z @ solved[:, 0] + np.linalg.slogdet(S)[1]),
    )


def _wide_noise(
    guard: StageRelease, gram: GramEstimate, moments: Moments, tail_sd: float
) -> tuple[float, float]:
    """Return the mean of σ² ~ N(σ_core², (tail_sd σ_core²)²) given c, and the evidence of c.

    c = n(σ² + spread) + noise, known to ``CORE_ERROR`` of the core beyond its own noise.
    """
    core, n = moments.noise**2, guard.n
    spread = mean_square(np.zeros(len(moments.w)), moments.V, gram, n)
    surprise = guard.c / n - spread - core
    # Var(c/n) = σ_c²/n² + 2(σ_core² + spread)²/n + (CORE_ERROR σ_core²)²
    known = (guard.sigma_c / n) ** 2 + 2 * (core + spread) ** 2 / n + (CORE_ERROR * core) ** 2
    total = known + (tail_sd * core) ** 2
    estimate = core + surprise * (tail_sd * core) ** 2 / total
    return max(estimate, LEAST_VARIANCE * core), -0.5 * surprise**2 / total - 0.5 * math.log(total)


def _joint(
    guard: StageRelease, measurement: Measurement, moments: Moments, L: Array, noise_variance: float
) -> tuple[Array, Array, Array]:
    """Return z = S − M(ŵ − w₀), Cov(w, z) and Cov(z) for b = 0."""
    B, core = measurement.B, moments.noise**2
    M = L.T @ B
    # w − ŵ contains −V B N⁻¹ζ with N = (σ² + σ_R²)B + Q, and Cov(ζ, ζ_s) = σ² ΦᵀΦ_s
    D = 1 + (core + measurement.distortion) * measurement.Lambda
    shared = core * moments.V @ B @ (measurement.U / D) @ measurement.U.T @ M.T
    # Cov(z) = MVMᵀ − M·shared − sharedᵀMᵀ + σ² LᵀBL + (privacy noise) I
    MK = M @ shared
    total = M @ moments.V @ M.T - MK - MK.T + noise_variance * (M @ L)
    privacy = guard.sigma_a**2 + JITTER * noise_variance * guard.n
    z = guard.A - M @ (moments.w - guard.w0)
    return z, moments.V @ M.T - shared, positive_part(total) + privacy * np.eye(len(M))
