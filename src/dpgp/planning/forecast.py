r"""What a fit is expected to reach, before any of the data is seen.

Inputs are taken to be uniform on the public box, so :math:`B = nM`, :math:`M = E[\phi\phi^\top]`,
and the function to be drawn from the prior, :math:`w \sim N(0, C_\theta)`. Then the covariance of
every stage is known in advance. Means of beliefs are a martingale, so that
:math:`E[(w - w_k)(w - w_l)^\top] = V_{\max(k, l)}`, what was unknown before the later stage, and

.. math:: V_{k+1} = C - CB(BCB + (\sigma^2 + \sigma_R^2)B + Q)^{-1}BC, \quad
          Q = \sum_k\frac{\omega_k^2\sigma_{a,k}^2}{g_k^2} I
          + \Omega\Bigl(\sum_{kl}\omega_k\omega_lV_{\max(k,l)}\Bigr)

with the slopes, distortions and weights of :mod:`dpgp.inference.few.evidence`. docs/method.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dpgp.features.base import WhitenedMap
from dpgp.inference import clipping
from dpgp.inference.few.evidence import stage_weights
from dpgp.inference.few.gram_estimate import GramEstimate, IsotropicEstimate, density_estimate
from dpgp.inference.stage import LARGEST_RESIDUAL
from dpgp.planning.prior_functions import Functions
from dpgp.planning.setting import Setting
from dpgp.point_sets import regular_grid
from dpgp.privacy.mechanism import gram_noise
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.steps.base import AnyOutlook, Step


RIDGE = 3e-8
"""Ridge of the approximation of f by features where only its values matter; by hand: above
what rounding errors need."""

PLAUSIBLE = (0.1, 0.9)
"""Quantiles over plausible functions that are the ends of a forecast: eight in ten lie between."""
BEYOND_THEM = "one plausible function in ten has less, one more"
"""What is said of these ends wherever they are shown: nobody knows yet which function it is."""

JITTER = 1e-11
"""Of the mean eigenvalue of what is factorised: rounding errors, and fits without noise."""

_ATOMS = {1: 61, 2: 11}  # coarser than those of a fit: only their covariance is of interest


@dataclass(frozen=True)
class Errors:
    """Forecasts under every θ, in half-widths of the target: of f, its spread, the noise.

    ``missing`` is the part of the error that no release could take away: what features miss of f.
    """

    rmse: Array
    spread: Array
    noise: Array
    missing: Array


@dataclass(frozen=True)
class Prospect:
    r"""The best approximation of functions by features, :math:`w = M^{-1}E[\phi(x)f(x)]`.

    What the features miss of f is orthogonal to them over the cube: it acts as noise.
    """

    features: WhitenedMap
    functions: Functions

    @cached_property
    def phi(self) -> Array:
        """Features of the points, as columns."""
        return self.features.evaluate(self.functions.points)

    @cached_property
    def M(self) -> Array:
        """E[φφᵀ] over the cube."""
        return np.asarray(self.phi @ self.phi.T / self.phi.shape[1])

    @cached_property
    def C(self) -> Array:
        """Cov(w) for every θ."""
        return np.asarray(self.projection @ self.functions.K @ self.projection.T)

    @cached_property
    def projection(self) -> Array:
        """(M + ridge·I)⁻¹φ/m: w from the values of f at the m points."""
        ridge = RIDGE * np.eye(len(self.M))
        return np.asarray(np.linalg.solve(self.M + ridge, self.phi / self.phi.shape[1]))

    @cached_property
    def missing(self) -> Array:
        """E[(f(x) − φ(x)ᵀw)²] over the cube, for every θ."""
        m = self.phi.shape[1]
        H = self.phi.T @ self.projection
        # E f² − E[2fφᵀw − (φᵀw)²] = E f² − tr(K(2H − HᵀH))/m, H = φᵀ·projection
        seen = np.einsum("tij,ij->t", self.functions.K, (2 * H - H.T @ H) / m)
        return np.asarray(np.maximum(self.functions.mean_squares - seen, 0.0))

    @cached_property
    def atoms(self) -> tuple[Array, Array]:
        """Features of the atoms of a density of the inputs, and where they are."""
        columns = self.functions.columns
        positions = regular_grid([-1.0] * columns, [1.0] * columns, _ATOMS[columns]).points
        return self.features.evaluate(positions).T, positions


def expected_gram(n: float, prospect: Prospect, sigma_b: float) -> GramEstimate:
    """Return B = nM with the error that an estimate from noise of ``sigma_b`` will have."""
    B = n * prospect.M
    if sigma_b == 0.0:
        return IsotropicEstimate(B, sigma_b)
    F, positions = prospect.atoms
    return density_estimate(n * F.T @ F / len(F), sigma_b, F, positions, n)


@dataclass(frozen=True)
class ExpectedStage:
    """Noise of A for residuals clipped at one, what is known of B, and Γ/d, tr Ω(W) = tr(ΓW)."""

    sigma_a: float
    gram: GramEstimate
    Gamma: Array


@dataclass(frozen=True)
class Belief:
    """What is unknown of the weights under one θ, V, and how it came to that, stage by stage.

    ``before`` holds V before every stage, ``noises`` its σ_a/g, ``added`` the variance that
    clipping adds.
    """

    C: Array
    noise_variance: float
    V: Array
    before: tuple[Array, ...] = ()
    noises: tuple[float, ...] = ()
    added: tuple[float, ...] = ()

    def after(self, stage: ExpectedStage, M: Array, kappa: float, n: float) -> Belief:
        """Return the belief after one more stage."""
        clip, slope, distorted = self._clipping(M, kappa)
        before, added = (*self.before, self.V), (*self.added, distorted)
        noises = np.array([*self.noises, stage.sigma_a * clip / slope])
        omega = _weights(noises, stage.Gamma, before)
        # Q = Ω(Σ_kl ω_kω_l V_max(k,l)) + Σ_k ω_k²σ_ak²/g_k² I
        Q = stage.gram.error_covariance(_moved(omega, before))
        Q += float(np.sum((omega * noises) ** 2)) * np.eye(len(M))
        # σ_R = Σ_k ω_k σ_Rk
        distortion = float(np.sum(omega * np.sqrt(added))) ** 2
        V = _posterior(self.C, n * M, self.noise_variance + distortion, Q)
        return replace(self, V=V, before=before, noises=tuple(noises.tolist()), added=added)

    def _clipping(self, M: Array, kappa: float) -> tuple[float, float, float]:
        """Return clip R, slope g and added variance of the next stage; the first is not clipped."""
        if not self.before:
            return 1.0, 1.0, 0.0
        # τ² = σ² + E[(f − m)²]
        tau = math.sqrt(self.noise_variance + max(float(np.sum(M * self.V)), 0.0))
        clip = min(LARGEST_RESIDUAL, kappa * tau)
        return clip, float(clipping.slope(clip, tau)), clipping.distortion(clip, tau)


@dataclass(frozen=True)
class Outlook:
    """What is expected to be known between the steps of a fit: one belief for every θ.

    ``precision`` is that of all noisy B so far.
    """

    setting: Setting
    prospect: Prospect
    kappa: float
    beliefs: tuple[Belief, ...]
    precision: float = 0.0

    @classmethod
    def before(cls, setting: Setting, prospect: Prospect, kappa: float) -> Outlook:
        """Return the outlook before the first step: the prior."""
        noises = prospect.functions.noise_variances + prospect.missing
        pairs = zip(prospect.C, noises, strict=True)
        beliefs = tuple(Belief(C, float(s2), C) for C, s2 in pairs)
        return cls(setting, prospect, kappa, beliefs)

    def after_stage(self, share: float, fraction: float = 1.0) -> Outlook:
        """Return the outlook after a Gram stage with a share of μ²; fixed features ask all rows."""
        setting = self.setting
        noise = gram_noise(
            setting.mu * math.sqrt(share),
            1.0 / math.sqrt(setting.targets),
            setting.targets,
            setting.neighbours,
            setting.rows_per_unit,
        )
        # σ_b⁻² = Σ_k σ_bk⁻²
        own = math.inf if noise.feature_std == 0.0 else noise.feature_std**-2.0
        precision = self.precision + own
        gram = expected_gram(setting.n, self.prospect, precision**-0.5)
        wider = setting.outcome.largest_residual / LARGEST_RESIDUAL
        traces = gram.error_trace_matrix() / len(gram.B)
        stage = ExpectedStage(wider * noise.cross_std, gram, traces)
        beliefs = tuple(
            belief.after(stage, self.prospect.M, self.kappa, setting.n) for belief in self.beliefs
        )
        return replace(self, beliefs=beliefs, precision=precision)

    def errors(self) -> Errors:
        """Return the root mean square error of f that is left, for every θ."""
        prospect, functions = self.prospect, self.prospect.functions
        left = np.array([belief.V for belief in self.beliefs])
        # E[(f − m)²] = tr(MV) + what the features miss
        squares = np.einsum("tij,ij->t", left, prospect.M) + prospect.missing
        return Errors(
            np.sqrt(np.maximum(squares, 0.0)),
            np.sqrt(functions.spread),
            np.sqrt(functions.noise_variances),
            np.sqrt(prospect.missing),
        )


def after_steps(outlook: AnyOutlook, steps: Iterable[Step]) -> AnyOutlook:
    """Go through the steps of a fit as they are expected to turn out."""
    return reduce(lambda so_far, step: step.forecast(so_far), steps, outlook)


def _weights(noises: Array, Gamma: Array, before: Sequence[Array]) -> Array:
    """ω of the stages, S_kl = 1_kl σ_ak²/g_k² + tr(Γ V_max(k,l))/d."""
    if noises[-1] == 0.0:
        return np.asarray(np.eye(len(noises))[-1])
    traces = np.array([np.sum(Gamma * V) for V in before])
    later = np.maximum.outer(np.arange(len(traces)), np.arange(len(traces)))
    return stage_weights(np.diag(noises**2) + traces[later])


def _moved(omega: Array, before: Sequence[Array]) -> Array:
    """Σ_kl ω_kω_l V_max(k,l) = Σ_k (Ω_k² − Ω_{k−1}²) V_k with cumulative Ω."""
    cumulative = np.cumsum(omega) ** 2
    return np.tensordot(np.diff(cumulative, prepend=0.0), np.array(before), axes=1)


def _posterior(C: Array, B: Array, variance: float, Q: Array) -> Array:
    """C − CB(BCB + (σ² + σ_R²)B + Q)⁻¹BC."""
    BC = B @ C
    S = BC @ B + variance * B + Q
    jitter = JITTER * np.trace(S) / len(S)
    factor = cho_factor(S + jitter * np.eye(len(S)), lower=True, check_finite=False)
    V = C - BC.T @ cho_solve(factor, BC, check_finite=False)
    return np.asarray(V + V.T) / 2
