r"""Guard of the mean against skewed noise: widely clipped residuals on a few features.

Hard clipping estimates a Huber location :math:`f_H` of the target given x. Model
:math:`f = f_H + b(x)`, :math:`b(x) = \phi_s(x)^\top b` on constant and linear features, and let the
final release, with a wide clip, speak about b:

.. math:: S = \sum\phi_s\,\mathrm{clip}(r, R_w)
          = M(w - w_0) + B_sb + \Phi_s^\top\epsilon + \text{noise}

with the same sampling noise :math:`\epsilon` that the stages saw. The prior of b is what the law of
the residuals, with its own uncertainty, says of clipping at R; what it says of clipping at
:math:`R_w`, and of a skewness that no line over x follows, is added to the covariance. A bell has
no bias, and neither clip hides anything of it: b is 0 or of that prior, and S, which is likelier
under one of them, tells how far each moves the mean. The covariance is that of the prior: a law may
have been taken for a bell. docs/method.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from dpgp.arithmetic import TINY
from dpgp.inference.few.evidence import Measurement, mean_square
from dpgp.inference.few.gram_estimate import GramEstimate
from dpgp.inference.posterior import Moments
from dpgp.inference.pull_back import positive_part
from dpgp.inference.residual_law import ResidualLaw
from dpgp.inference.stage import LARGEST_RESIDUAL, StageRelease
from dpgp.types import Array

CONSTANT_SHARE = 0.75
"""Share of the squared norm of φ_s for the constant; the rest is for the linear features. By hand:
less noise on the constant against less on the slopes."""

TAIL_SD = 0.7
"""Relative sd of the variance beyond what the stages saw; by hand."""

UNEVEN_SIZE = 1.0
"""Prior sd of a bias that changes with x, in units of the largest that the law allows; by hand."""

CORE_ERROR = 0.1
"""Relative error of the core's σ² that is not yet called a tail; by hand."""

LEAST_VARIANCE = 0.5
"""Share of the core's σ² below which a noisy wide second moment cannot take it; by hand."""

LEAST_LEFT = 0.1
"""Smallest share of the features' variance that a line leaves, by which the rest is enlarged: few
features have hardly more than a line. By hand."""

LEAST_ODDS = 0.05
"""Least probability that a law is no bell. By hand: no histogram makes sure of a bell."""

RIDGE = 1e-8
"""Of the mean eigenvalue, in the least squares of `embed`: features may be nearly dependent."""

JITTER = 1e-9
"""Of the sampling variance nσ², where there is no privacy noise."""


@dataclass(frozen=True)
class BiasPrior:
    """What is expected of the bias of a clipped location, in units of the target.

    ``mean`` and ``sd`` of one that is the same at every x, ``uneven`` the sd of one that changes.
    """

    mean: float
    sd: float
    uneven: float

    @classmethod
    def at(cls, law: ResidualLaw, clip: float, noise: float) -> BiasPrior:
        """Return what a law says of a clip; there is no bias where nothing can be clipped."""
        if clip >= LARGEST_RESIDUAL:
            return cls(0.0, 0.0, 0.0)
        mean, sd, uneven = (noise * part for part in law.bias_at(clip / noise))
        return cls(mean, sd, UNEVEN_SIZE * uneven)

    def of_line(self, features: int) -> tuple[Array, Array]:
        """Return means and sds of b, its constant first."""
        unit = np.append(
            1.0 / math.sqrt(CONSTANT_SHARE),
            np.full(features - 1, 1.0 / math.sqrt(1.0 - CONSTANT_SHARE)),
        )
        mean, sds = np.zeros(features), np.full(features, self.uneven)
        mean[0], sds[0] = self.mean, math.hypot(self.sd, self.uneven)
        return mean * unit, sds * unit

    @property
    def size(self) -> float:
        """Root mean square of all of it."""
        return math.sqrt(self.mean**2 + self.sd**2 + self.uneven**2)

    def at_most(self, size: float) -> BiasPrior:
        """Return the same bias, no larger than this."""
        times = min(1.0, size / max(self.size, TINY))
        return BiasPrior(times * self.mean, times * self.sd, times * self.uneven)


NO_BIAS = BiasPrior(0.0, 0.0, 0.0)  # of what is not clipped


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
    *,
    bias: BiasPrior,
    beyond: float,
    odds: float,
) -> Moments:
    """Condition w + Lb on S; φ_s ≈ Lᵀφ.

    ``bias`` is what the stages' clip is expected to cause, ``beyond`` the rms of what the guard's
    own does, ``odds`` the probability that the law is no bell.
    """
    noise_variance = _wide_noise(guard, gram, moments)
    seen = _Seen(*_joint(guard, measurement, moments, L, noise_variance), moments, gram, L)
    bell, other = seen.given(NO_BIAS, 0.0), seen.given(bias, beyond)
    odds = min(max(odds, LEAST_ODDS), 1.0)  # weights that add up to one may exceed it by rounding
    weight = float(expit(logit(odds) + other.log_likelihood - bell.log_likelihood))
    # E over both; a covariance that stays true where a law was taken for a bell and is none
    moved = (1.0 - weight) * (bell.w - other.w)
    return Moments(other.w + moved, other.V + np.outer(moved, moved), math.sqrt(noise_variance))


class _Given(NamedTuple):
    """Mean and covariance of w + Lb given S, and how likely S was."""

    w: Array
    V: Array
    log_likelihood: float


class _Seen(NamedTuple):
    """z = S − M(ŵ − w₀), its covariances for b = 0, and what was believed before."""

    z: Array
    cross: Array
    total: Array
    moments: Moments
    gram: GramEstimate
    L: Array

    def given(self, bias: BiasPrior, beyond: float) -> _Given:
        """Condition w + Lb on z under one prior of b, and one rms of what the guard's clip hid."""
        L, before = self.L, self.moments
        mean, sds = bias.of_line(L.shape[1])
        prior, B_s = np.diag(sds**2), L.T @ self.gram.B @ L
        cut = B_s[:, 0] * beyond / math.sqrt(CONSTANT_SHARE)
        # Cov(z), Cov(w + Lb, z)
        S = self.total + B_s @ prior @ B_s + np.outer(cut, cut)
        c = self.cross + L @ prior @ B_s
        # E[w + Lb | z] = ŵ + L·mean + cS⁻¹(z − B_s·mean),  Cov = V + L·prior·Lᵀ − cS⁻¹cᵀ
        surprise = self.z - B_s @ mean
        solved = np.linalg.solve(S, np.column_stack([surprise, c.T]))
        w = before.w + L @ mean + c @ solved[:, 0]
        V = before.V + L @ prior @ L.T - c @ solved[:, 1:]
        # Cov(w, z) is that of an average θ: with hardly any noise it can exceed what V leaves
        V = positive_part(V) + _uneven(bias.uneven, L, self.gram.B)
        # log N(z; B_s·mean, S) up to a constant
        log_likelihood = -0.5 * (surprise @ solved[:, 0] + np.linalg.slogdet(S)[1])
        return _Given(w, V, float(log_likelihood))


def expect_bias(moments: Moments, bias: BiasPrior, L: Array) -> Moments:
    """Return what is believed where no guard speaks of the bias: all of its prior."""
    mean, sds = bias.of_line(L.shape[1])
    # E[w + Lb] and its covariance, and that of a bias that no line follows
    root = L * sds
    V = moments.V + root @ root.T + bias.uneven**2 * np.eye(len(L))
    return Moments(moments.w + L @ mean, V, moments.noise)


def _uneven(size: float, L: Array, B: Array) -> Array:
    """Covariance ∝ QQᵀ of a bias that no line follows, Q = I − L(LᵀBL)⁻¹LᵀB, as large as u²I.

    Its sums with φ_s are nothing: those are what the guard tells.
    """
    M = L.T @ B
    Q = np.eye(len(L)) - L @ np.linalg.pinv(M @ L, rcond=RIDGE, hermitian=True) @ M
    left = Q @ Q.T
    # where noise left nothing of B, Q is I
    share = float(np.sum(left * B)) / float(np.trace(B)) if B.any() else 1.0
    return np.asarray(size**2 / max(share, LEAST_LEFT) * left)


def _wide_noise(guard: StageRelease, gram: GramEstimate, moments: Moments) -> float:
    """Return the mean of σ² ~ N(σ_core², (TAIL_SD σ_core²)²) given c = n(σ² + spread) + noise."""
    core, n = moments.noise**2, guard.n
    spread = mean_square(np.zeros(len(moments.w)), moments.V, gram, n)
    # Σr² = Σ(r − m)² + 2mΣ(r − m) + nm²
    m, unit = guard.middle, math.sqrt(CONSTANT_SHARE)
    square = guard.c + 2 * m * guard.A[0] / unit + n * m**2
    noise = math.hypot(guard.sigma_c, 2 * m * guard.sigma_a / unit)
    surprise = square / n - spread - core
    # Var(c/n) = σ_c²/n² + 2(σ_core² + spread)²/n + (CORE_ERROR σ_core²)²
    known = (noise / n) ** 2 + 2 * (core + spread) ** 2 / n + (CORE_ERROR * core) ** 2
    tail = (TAIL_SD * core) ** 2
    return max(core + float(surprise) * tail / (known + tail), LEAST_VARIANCE * core)


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
    # residuals are about w₀ + m, and φ_s has √share as its constant
    about = guard.w0 + guard.middle / math.sqrt(CONSTANT_SHARE) * L[:, 0]
    z = guard.A - M @ (moments.w - about)
    return z, moments.V @ M.T - shared, positive_part(total) + privacy * np.eye(len(M))


@dataclass(frozen=True)
class EarlyMean:
    r"""The average of f as the first stages saw it, with hardly a residual clipped.

    Stages that clip hard draw the mean to where most values are. Where the law of the residuals is
    no bell, what was believed of :math:`m = a^\top w`, a the average features of the n rows, before
    the hard clips is one more measurement of the guarded weights, with the variance

    .. math:: d = (a^\top V_0a + \beta_0^2)/s^2

    for the bias :math:`\beta_0` of the early clip and the suspicion s against a bell. Early and
    late stages saw the same rows: their errors share the sampling variance :math:`\sigma^2/n` of
    an average. docs/method.md.
    """

    moments: Moments
    clip: float
    n: float

    def correct(
        self, guarded: Moments, gram: GramEstimate, L: Array, bias: BiasPrior, suspicion: float
    ) -> Moments:
        """Condition the guarded weights on the early average; ``bias`` is that of its clip."""
        if suspicion == 0.0:
            return guarded
        # φ_s has √share as its constant, so that BL e₀ ≈ √share Σφ
        a = gram.B @ L[:, 0]
        reached = float(L[:, 0] @ a)
        if reached <= 0.0:  # noise left nothing of B, and no average to speak of
            return guarded
        a = a * (math.sqrt(CONSTANT_SHARE) / reached)
        early, late = float(a @ self.moments.V @ a), float(a @ guarded.V @ a)
        shared = min(guarded.noise**2 / self.n, early, late)
        doubt = (early + bias.size**2) / suspicion**2
        # Cov(w, m₀ − aᵀŵ) = Va(1 − shared/aᵀVa),  Var(m₀ − aᵀŵ) = aᵀVa + d − 2·shared
        c = guarded.V @ a * (1.0 - shared / late)
        gain = c / (late + doubt - 2.0 * shared)
        w = guarded.w + gain * (a @ (self.moments.w - guarded.w))
        return Moments(w, positive_part(guarded.V - np.outer(gain, c)), guarded.noise)
