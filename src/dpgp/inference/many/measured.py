"""What one stage measured of one target: sums of clipped residuals, and what they were before.

All numbers are in units of the target's scale, sums are divided by the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.inference.many.records import Record, StageOperator
from dpgp.inference.residual_law import ResidualLaw
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.privacy.mechanism import GramRelease

SMALLER, LARGER = 0.3, 0.6
"""Log-normal sds of the residuals' sd about its forecast: surprises are mostly unpleasant. By
hand."""

NEARLY_ALL = 0.75
"""Mean clipped square from which on nearly all residuals were clipped; it is two thirds where half
of those of a bell were. By hand."""

LEAST_SQUARE = 0.02
"""Least mean clipped square of residuals that a noisy one is taken for, unless nothing is clipped
and residuals are far below the clip. By hand."""

CLEAR_NOISE = 0.15
"""Noise of a mean clipped square below which it tells that nearly all were clipped. By hand."""


class Corrected(NamedTuple):
    """What clipping left of the signal of a stage, and what its mean (clip(r)/R)² is taken for."""

    slope: float
    square: float


@dataclass(frozen=True)
class MeasuredSums:
    """One target's part of a stage's release."""

    cross: Array  # Σφ clip(r)/R / n, along the eigenvectors of B
    square: float  # Σ(clip(r)/R)² / n
    noise: float  # sd of the noise on ``cross``
    square_noise: float
    share: float  # of all stages that asked the same rows
    rows: float  # that were asked
    fraction: float  # of all rows

    @classmethod
    def of(
        cls, release: GramRelease, target: int, n: float, share: float, basis: Array
    ) -> MeasuredSums:
        """Take it from the release; the columns of ``basis`` are the eigenvectors."""
        if release.target_gram is None or release.target_std is None:
            raise ValueError("a stage needs the second moment of its residuals.")
        return cls(
            cross=basis.T @ release.cross[:, target] / n,
            square=float(release.target_gram[target, target]) / n,
            noise=release.cross_std / n,
            square_noise=release.target_std / n,
            share=share,
            rows=n * release.fraction,
            fraction=release.fraction,
        )

    @property
    def nearly_all_clipped(self) -> bool:
        """Whether it is clear that hardly a residual lies within the clip."""
        return self.square > NEARLY_ALL and self.square_noise < CLEAR_NOISE

    def residual_sd(self, clip: float, forecast: float, law: ResidualLaw | None) -> float:
        """Return the posterior of the residuals' sd about its forecast; no law: no clipping."""
        taus = forecast * np.exp(np.linspace(-1.5, 2.0, 141))
        m = np.asarray(taus**2 if law is None else law.second_moment(clip, taus)) / clip**2
        spread = np.where(taus < forecast, SMALLER, LARGER)
        doubt = 0.0 if law is None else law.doubt(clip, taus) / clip**2
        sampling = np.maximum(m * (1 - m), 0.0) / self.rows
        misfit = (self.square - m) ** 2 / (self.square_noise**2 + doubt**2 + sampling + 1e-12)
        log_p = -0.5 * (misfit + (np.log(taus / forecast) / spread) ** 2)
        p = np.exp(log_p - log_p.max())
        return float(np.exp(p @ np.log(taus) / p.sum()))

    def corrected(self, clip: float, tau: float, slope: float) -> Corrected:
        """Return what clipping residuals of sd τ did, their mean square within what it can be."""
        least = min(LEAST_SQUARE, (tau / clip) ** 2)
        return Corrected(slope, float(np.clip(self.square, least, 1.0)))

    def record(self, corrected: Corrected, clip: float, seen: StageOperator, f0: Array) -> Record:
        """Return a = Σφ clip(r)/(ng) as a measurement of H(f − f₀), with its variance."""
        scale = clip / corrected.slope
        sampling = corrected.square * seen.squares / (self.rows * self.share) * scale**2
        variance = (self.noise * scale) ** 2 + sampling
        return Record(seen.H, self.cross * scale, variance, f0, sampling, self.fraction)
