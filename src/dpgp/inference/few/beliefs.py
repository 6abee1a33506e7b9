"""From beliefs given each θ to one posterior over all of them, and what residuals say of σ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.inference.few.evidence import Conditional, Measurement, mean_square
from dpgp.inference.few.gram_estimate import GramEstimate
from dpgp.inference.hyperparameters import WeightedPoints
from dpgp.inference.posterior import Moments
from dpgp.inference.pull_back import positive_part
from dpgp.inference.residual_law import ResidualLaw, gaussian_law
from dpgp.types import Array


@dataclass(frozen=True)
class MixedBeliefs:
    """Beliefs about w' under every θ: means, variances, and the average Σω V_θ of covariances."""

    mean: Array
    variances: Array
    covariance: Array


def mixed(points: WeightedPoints, conditionals: Iterable[Conditional]) -> MixedBeliefs:
    """Return what a posterior over all θ needs of them, whose covariances come some at a time."""
    mean, variances, covariance, seen = [], [], np.zeros(()), 0
    for some in conditionals:
        weights = points.weights[seen : seen + len(some.mean)]
        covariance = covariance + np.tensordot(weights, some.covariance, axes=1)
        mean.append(some.mean)
        variances.append(np.diagonal(some.covariance, axis1=1, axis2=2))
        seen += len(weights)
    return MixedBeliefs(np.concatenate(mean), np.concatenate(variances), covariance)


def collapse(points: WeightedPoints, mixture: MixedBeliefs, measurement: Measurement) -> Moments:
    """Return mean and covariance of w over θ, w̄ = Σω w_θ, V̄ = Σω(V_θ + (w_θ − w̄)(w_θ − w̄)ᵀ)."""
    omega, U = points.weights, measurement.U
    mean = omega @ mixture.mean
    centred = mixture.mean - mean
    V = mixture.covariance + (omega * centred.T) @ centred
    noise = np.sqrt(omega @ np.exp(2 * points.thetas[:, -1]))
    # w = Uw'
    # V_θ is a difference: with little noise its last digits may make it negative
    return Moments(np.asarray(U @ mean), positive_part(U @ V @ U.T), float(noise))


def relative_spread(
    points: WeightedPoints, mixture: MixedBeliefs, measurement: Measurement
) -> Array:
    """Return how much of f is unknown under each θ, tr(B(V_t + (w_t − w̄)(w_t − w̄)ᵀ)), of mean 1."""
    # UᵀBU = Λ: tr(Λ(V'_t + (w'_t − w̄')(w'_t − w̄')ᵀ))
    centred = mixture.mean - points.weights @ mixture.mean
    spread = np.maximum((centred**2 + mixture.variances) @ measurement.Lambda, TINY)
    return np.asarray(spread / (points.weights @ spread))


def clustered(moments: Moments, measurement: Measurement, rows_per_unit: int) -> Moments:
    r"""Return beliefs with the sampling error that m rows of a unit may share.

    Rows that are independent given f make sums of covariance :math:`\sigma^2B`. Whatever the
    correlation of m that are not, :math:`\mathrm{Var}\sum_{i \le m}\phi_i\epsilon_i \preceq
    m\sigma^2\sum_i\phi_i\phi_i^\top` by Cauchy's inequality, so theirs is at most
    :math:`m\sigma^2B`. The mean is :math:`\bar w = Ka`, :math:`K = VBN^{-1}`,
    :math:`N = (\sigma^2 + \sigma_R^2)B + Q`, so V grows by :math:`(m - 1)\sigma^2KBK^\top`.
    """
    if rows_per_unit == 1:
        return moments
    # N⁻¹ = U D⁻¹ Uᵀ with D = 1 + (σ² + σ_R²)Λ
    variance = moments.noise**2
    D = 1 + (variance + measurement.distortion) * measurement.Lambda
    K = moments.V @ measurement.B @ (measurement.U / D) @ measurement.U.T
    extra = (rows_per_unit - 1) * variance * K @ measurement.B @ K.T
    return replace(moments, V=np.asarray(moments.V + (extra + extra.T) / 2))


MOST_SPREAD, SPREAD_DOUBT = 0.75, 0.5
"""Largest part of the residuals' variance that the error of the mean may be, and how well half of
it is known; by hand."""

LEAST_ERROR = 0.05
"""Error of log σ from a histogram whose bins are exact; by hand."""


@dataclass(frozen=True)
class Residual:
    """The law of the residuals from f₀ = φᵀw₀, their sd τ, and what that says of log σ.

    Before a histogram they are Gaussian, and nothing is known of σ.
    """

    law: ResidualLaw = field(default_factory=gaussian_law)
    sd: float = 0.0
    w0: Array | float = 0.0
    log_noise: float = 0.0
    log_noise_error: float = math.inf

    @classmethod
    def measured(cls, law: ResidualLaw, unit: float, w0: Array, spread: float) -> Residual:
        """Return what a histogram in this unit says, with ``spread`` = E[(f − f₀)²]."""
        total = (unit * math.exp(law.log_sd)) ** 2
        spread = min(spread, MOST_SPREAD * total)
        # σ² = τ² − E(f − f₀)²
        noise = total - spread
        error = total / noise * math.hypot(law.log_sd_error, SPREAD_DOUBT * spread / total)
        # counts that do not tell a bell from others do not tell its tails, and so σ, either
        error = math.hypot(error, LEAST_ERROR) / max(law.clarity, TINY)
        return cls(law, math.sqrt(total), w0, math.log(noise) / 2, error)

    def log_density(self, thetas: Array) -> Array:
        """Return log p(histogram | σ) up to a constant, for every θ = (…, log σ)."""
        return np.asarray(-0.5 * ((thetas[:, -1] - self.log_noise) / self.log_noise_error) ** 2)

    def noise(self, moments: Moments, gram: GramEstimate, n: float) -> float:
        """Return the σ that was seen, σ² = τ² − E[(f − f₀)²] by what is known of f now."""
        explained = mean_square(moments.w - self.w0, moments.V, gram, n)
        return math.sqrt(max(self.sd**2 - explained, 0.0))
