r"""Guard of the mean against skewed noise: widely clipped residuals on a few features.

Hard clipping estimates a Huber location :math:`f_H` of the target given x. Model
:math:`f = f_H + b(x)`, :math:`b(x) = \phi_s(x)^\top b` on constant and linear features, and let the
final release :math:`S = \sum\phi_s\,\mathrm{clip}(r, R_w)`, with a wide :math:`R_w`, speak about b:

.. math:: S = M(w - w_0) + B_sb + \Phi_s^\top\epsilon + \text{noise}

with the same sampling noise :math:`\epsilon` that the stages saw. b is zero with probability 0.8
(symmetric noise), else Gaussian, of the size of the bias that exponential noise would cause.
docs/method.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgp.inference.clipping import huber_bias
from dpgp.inference.evidence import Measurement, Moments, mean_square
from dpgp.inference.gram_estimate import GramEstimate
from dpgp.inference.stage import StageRelease

Array = NDArray[np.float64]

CONSTANT_SHARE = 0.75
"""Share of the squared norm of φ_s for the constant; the rest is for the linear features."""

SKEW_PROBABILITY = 0.2


def guard_kappa(n: float, mu: float) -> float:
    """κ_w = (3nμ)^¼, at least 3: balances the noise with a lognormal's mean beyond κ_w."""
    return max(3.0, float((3.0 * n * mu) ** 0.25))


@dataclass(frozen=True)
class Guarded:
    """Corrected beliefs, and the probability that the noise is skewed."""

    moments: Moments
    skew_probability: float


@dataclass(frozen=True)
class _Update:
    w: Array
    V: Array
    log_evidence: float


def apply_guard(
    guard: StageRelease,
    measurement: Measurement,
    gram: GramEstimate,
    moments: Moments,
    embedding: Array,
    kappa: float,
) -> Guarded:
    """Average over symmetric and skewed noise; ``embedding`` L holds φ_s ≈ Lᵀφ."""
    noise = wide_noise(guard, gram, moments)
    z, cross, total = _joint(guard, measurement, moments, embedding, noise)
    skewed = _skew_sds(embedding.shape[1], kappa, moments.noise)
    hypotheses = {1 - SKEW_PROBABILITY: np.zeros_like(skewed), SKEW_PROBABILITY: skewed}
    B_s = embedding.T @ gram.B @ embedding
    updates = [
        _condition(z, cross, total, B_s, np.diag(sds**2), embedding, moments)
        for sds in hypotheses.values()
    ]
    log_odds = np.log(list(hypotheses)) + [update.log_evidence for update in updates]
    P = np.exp(log_odds - np.logaddexp.reduce(log_odds))
    w = np.asarray(sum(p * u.w for p, u in zip(P, updates, strict=True)))
    V = sum(p * (u.V + np.outer(u.w - w, u.w - w)) for p, u in zip(P, updates, strict=True))
    return Guarded(Moments(w, np.asarray(V + np.transpose(V)) / 2, noise), float(P[1]))


def wide_noise(
    guard: StageRelease, gram: GramEstimate, moments: Moments, doubt: float = 0.5
) -> float:
    """Return σ from the wide second moment, shrunk to the core's: σ² ~ N(σ_core², (σ_core²/2)²)."""
    spread = mean_square(moments.w - guard.w0, moments.V, gram, guard.n)
    core = moments.noise**2
    variance = (guard.sigma_c / guard.n) ** 2 + 2 * (core + spread) ** 2 / guard.n
    gain = (doubt * core) ** 2 / ((doubt * core) ** 2 + variance)
    return math.sqrt(max(core + gain * (guard.c / guard.n - spread - core), 0.25 * core))


def embed(atoms: Array, simple: Array) -> Array:
    """Return L with φ_s ≈ Lᵀφ, by least squares over feature columns at public positions."""
    gram = atoms @ atoms.T
    ridge = 1e-8 * np.trace(gram) / len(gram)
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), atoms @ simple.T))


def _skew_sds(features: int, kappa: float, noise: float) -> Array:
    """Prior sds of b: the bias of exponential noise for the constant, half of it for the slopes."""
    slopes = np.full(features - 1, 0.5 / math.sqrt(1.0 - CONSTANT_SHARE))
    sds = np.append(1.0 / math.sqrt(CONSTANT_SHARE), slopes)
    return np.asarray(huber_bias(kappa) * noise * sds)


def _joint(
    guard: StageRelease, measurement: Measurement, moments: Moments, L: Array, noise: float
) -> tuple[Array, Array, Array]:
    """Return z = S − M(ŵ − w₀), Cov(w, z) and Cov(z) for b = 0."""
    B, core = measurement.B, moments.noise**2
    M = L.T @ B
    # w − ŵ contains −V B N⁻¹ζ, and Cov(ζ, ζ_s) = σ² ΦᵀΦ_s
    D = 1 + (core + measurement.distortion) * measurement.Lambda
    N_inverse = (measurement.U / D) @ measurement.U.T
    shared = core * moments.V @ B @ N_inverse @ M.T
    cross = moments.V @ M.T - shared
    MK = M @ shared
    total = M @ moments.V @ M.T - MK - MK.T + noise**2 * (M @ L)
    total = total + guard.sigma_a**2 * np.eye(len(M))
    floor = guard.sigma_a**2 + 1e-9 * noise**2 * guard.n
    return guard.A - M @ (moments.w - guard.w0), cross, _at_least(total, floor)


def _at_least(matrix: Array, floor: float) -> Array:
    """Return the symmetric matrix with its eigenvalues raised to ``floor``."""
    eigenvalues, Q = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((Q * np.maximum(eigenvalues, floor)) @ Q.T)


def _condition(
    z: Array, cross: Array, total: Array, B_s: Array, prior: Array, L: Array, moments: Moments
) -> _Update:
    """Condition w + Lb on z, for b ~ N(0, prior)."""
    S = total + B_s @ prior @ B_s
    c = cross + L @ prior @ B_s
    solved = np.linalg.solve(S, np.column_stack([z, c.T]))
    w = moments.w + c @ solved[:, 0]
    V = moments.V + L @ prior @ L.T - c @ solved[:, 1:]
    log_determinant = float(np.linalg.slogdet(S)[1])
    return _Update(w, V, float(-0.5 * z @ solved[:, 0]) - 0.5 * log_determinant)
