"""What a histogram of residuals says of the noise, once the error of the mean is taken out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.inference.evidence import mean_square
from dpgp.inference.gram_estimate import GramEstimate
from dpgp.inference.moments import Moments
from dpgp.inference.residual_law import ResidualLaw, gaussian_law
from dpgp.types import Array

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
