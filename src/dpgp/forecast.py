r"""What a fit is expected to reach, before any of the data is seen.

Inputs are taken to be uniform on the public box, so :math:`B = nM`, :math:`M = E[\phi\phi^\top]`,
and the function to be drawn from the prior, :math:`w \sim N(0, C_\theta)`. Then the covariance of
every stage is known in advance. Means of beliefs are a martingale, so that
:math:`E[(w - w_k)(w - w_l)^\top] = V_{\max(k, l)}`, what was unknown before the later stage, and

.. math:: V_{k+1} = C - CB(BCB + (\sigma^2 + \delta)B + Q)^{-1}BC, \quad
          Q = \sum_k\frac{\omega_k^2\sigma_{a,k}^2}{g_k^2} I
          + \Omega\Bigl(\sum_{kl}\omega_k\omega_lV_{\max(k,l)}\Bigr)

with the slopes, distortions and weights of :mod:`dpgp.inference.evidence`. docs/method.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from dpgp.features.placement import regular_grid
from dpgp.features.whitened import WhitenedMap
from dpgp.inference import clipping
from dpgp.inference.evidence import stage_weights
from dpgp.inference.gram_estimate import GramEstimate, IsotropicEstimate, density_estimate
from dpgp.inference.stage import LARGEST_RESIDUAL
from dpgp.plausible import Functions
from dpgp.privacy.mechanism import gram_noise
from dpgp.privacy.neighbours import Neighbours

Array = NDArray[np.float64]

RIDGE = 3e-8
"""Ridge of the approximation of f by features where only its values matter."""

RIDGE_IN_NOISE = 0.1
"""The same beyond three inputs, in units of 1/nμ: large weights that no release could show."""

_ATOMS = {1: 61, 2: 11, 3: 5}  # coarser than those of a fit: only their covariance is of interest


@dataclass(frozen=True)
class Setting:
    """Public numbers that a fit starts from."""

    n: float
    columns: int
    mu: float
    neighbours: Neighbours = Neighbours.REPLACE
    rows_per_unit: int = 1
    targets: int = 1


@dataclass(frozen=True)
class Errors:
    """Forecasts under every θ, in half-widths of the target: of f, its spread, the noise."""

    rmse: Array
    spread: Array
    noise: Array


@dataclass(frozen=True)
class Prospect:
    r"""The best approximation of functions by features, :math:`w = M^{-1}E[\phi(x)f(x)]`.

    What the features miss of f is orthogonal to them over the cube: it acts as noise.
    """

    features: WhitenedMap
    functions: Functions
    ridge: float = RIDGE

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
        """(M + ρI)⁻¹φ/m: w from the values of f at the m points."""
        ridge = self.ridge * np.eye(len(self.M))
        return np.asarray(np.linalg.solve(self.M + ridge, self.phi / self.phi.shape[1]))

    @cached_property
    def missing(self) -> Array:
        """E[(f(x) − φ(x)ᵀw)²] over the cube, for every θ."""
        m = self.phi.shape[1]
        H = self.phi.T @ self.projection
        seen = np.einsum("tij,ij->t", self.functions.K, (2 * H - H.T @ H) / m)
        return np.asarray(np.maximum(self.functions.mean_squares - seen, 0.0))

    @cached_property
    def atoms(self) -> tuple[Array, Array] | None:
        """Features of the atoms of a density of the inputs, and where they are."""
        columns = self.functions.columns
        if columns not in _ATOMS:
            return None
        positions = regular_grid([-1.0] * columns, [1.0] * columns, _ATOMS[columns]).points
        return self.features.evaluate(positions).T, positions


def forecast_errors(
    setting: Setting,
    prospect: Prospect,
    shares: Sequence[float],
    kappa: float,
    target_weight: float = 1.0,
) -> Errors:
    """Forecast the root mean square error of f after stages with these shares of μ²."""
    stages = expected_stages(setting, prospect, shares, target_weight)
    noise = prospect.functions.noise_variances
    known = zip(prospect.C, noise + prospect.missing, strict=True)
    left = [_remaining(C, s2, prospect.M, stages, kappa, setting.n) for C, s2 in known]
    squares = np.einsum("tij,ij->t", np.array(left), prospect.M) + prospect.missing
    spread = prospect.functions.spread
    return Errors(np.sqrt(np.maximum(squares, 0.0)), np.sqrt(spread), np.sqrt(noise))


def prospect_of(setting: Setting, features: WhitenedMap, functions: Functions) -> Prospect:
    """Return the features' prospect, with the ridge that belongs to the way B is estimated."""
    by_density = functions.columns in _ATOMS or math.isinf(setting.mu)
    ridge = RIDGE if by_density else RIDGE_IN_NOISE / (setting.n * setting.mu)
    return Prospect(features, functions, ridge)


@dataclass(frozen=True)
class ExpectedStage:
    """Noise of A for residuals clipped at one, and what is known of B after the stage."""

    sigma_a: float
    gram: GramEstimate

    @cached_property
    def Gamma(self) -> Array:
        """Γ/d with tr Ω(W) = tr(ΓW)."""
        return self.gram.error_trace_matrix() / len(self.gram.B)


def expected_stages(
    setting: Setting, prospect: Prospect, shares: Sequence[float], target_weight: float
) -> list[ExpectedStage]:
    """Return the noise of every stage, and the error of B pooled over the stages so far."""
    stages, precision = [], 0.0
    for share in shares:
        noise = gram_noise(
            setting.mu * math.sqrt(share),
            target_weight / math.sqrt(setting.targets),
            setting.targets,
            setting.neighbours,
            setting.rows_per_unit,
        )
        precision += math.inf if noise.feature_std == 0.0 else noise.feature_std**-2.0
        gram = expected_gram(setting.n, prospect, precision**-0.5)
        stages.append(ExpectedStage(noise.cross_std, gram))
    return stages


def expected_gram(n: float, prospect: Prospect, sigma_b: float) -> GramEstimate:
    """Return B = nM with the error that an estimate from noise of ``sigma_b`` will have."""
    B = n * prospect.M
    if sigma_b == 0.0 or prospect.atoms is None:
        return IsotropicEstimate(B, sigma_b)
    F, positions = prospect.atoms
    return density_estimate(n * F.T @ F / len(F), sigma_b, F, positions, n)


def _remaining(
    C: Array,
    noise_variance: float,
    M: Array,
    stages: Sequence[ExpectedStage],
    kappa: float,
    n: float,
) -> Array:
    """Return the covariance of the weights after all stages, for one θ."""
    V, before = C, []
    noises, added = np.empty(len(stages)), np.empty(len(stages))
    for k, stage in enumerate(stages):
        tau = math.sqrt(noise_variance + max(float(np.sum(M * V)), 0.0))
        clip = 1.0 if k == 0 else min(LARGEST_RESIDUAL, kappa * tau)
        slope = 1.0 if k == 0 else float(clipping.slope(clip, tau))
        noises[k] = stage.sigma_a * clip / slope
        added[k] = 0.0 if k == 0 else clipping.distortion(clip, tau)
        before.append(V)
        omega = _weights(noises[: k + 1], stage.Gamma, before)
        Q = stage.gram.error_covariance(_moved(omega, before))
        Q += float(np.sum((omega * noises[: k + 1]) ** 2)) * np.eye(len(C))
        distortion = float(np.sum(omega * np.sqrt(added[: k + 1]))) ** 2
        V = _posterior(C, n * M, noise_variance + distortion, Q)
    return V


def _weights(noises: Array, Gamma: Array, before: Sequence[Array]) -> Array:
    """ω of the stages, S_kl = δ_kl σ_ak²/g_k² + tr(Γ V_max(k,l))/d."""
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
    """C − CB(BCB + (σ² + δ)B + Q)⁻¹BC."""
    BC = B @ C
    S = BC @ B + variance * B + Q
    jitter = 1e-11 * np.trace(S) / len(S)
    factor = cho_factor(S + jitter * np.eye(len(S)), lower=True, check_finite=False)
    V = C - BC.T @ cho_solve(factor, BC, check_finite=False)
    return np.asarray(V + V.T) / 2
