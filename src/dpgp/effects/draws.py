"""Functions drawn from a posterior, their variance, and shares of it with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpgp.blas import symmetric_root
from dpgp.effects.functionals import MissedCovariance
from dpgp.effects.records import Range, Share
from dpgp.inference.posterior import Posterior
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


DRAWS = 200
SEED = 13
"""Of the draws: public, and the same for every model."""

TAILS = (0.025, 0.975)

SMALLEST_VARIANCE = 1e-18
"""Of f in units of the bounds scaled to [−1, 1]: anything below is rounding of a constant."""


@dataclass(frozen=True)
class DrawnFunctions:
    """The posterior mean, then draws of f = φᵀw around it, at raw inputs."""

    model: FittedModel
    target: int

    @property
    def posterior(self) -> Posterior:
        """The posterior that functions are drawn from."""
        return self.model.posteriors[self.target]

    @cached_property
    def missing(self) -> MissedCovariance:
        """What the draws miss of f."""
        return MissedCovariance(self.posterior)

    @cached_property
    def _weights(self) -> Array:
        """w̄, and draws of N(w̄, s_t V) for every t in turn, one a row."""
        moments, spreads = self.posterior.moments, self.posterior.spreads
        normal = np.random.default_rng(SEED).standard_normal((DRAWS, len(moments.w)))
        scales = np.sqrt(np.resize(spreads / spreads.mean(), DRAWS))
        noise = scales[:, None] * (normal @ symmetric_root(moments.V))
        return moments.w + np.vstack([np.zeros_like(moments.w), noise])

    def __call__(self, X: Array) -> Array:
        """Return values at raw inputs (…, D), a row for the mean and for every draw."""
        U = self.model.inputs(X.reshape(-1, X.shape[-1]))
        values = self._weights @ self.posterior.features.evaluate(U)
        return values.reshape(len(values), *X.shape[:-1])

    @staticmethod
    def plus_missing(squares: Array, missed: float) -> Array:
        """Return squares of draws with the expected square of what they miss; the mean as it is."""
        return np.append(squares[0], squares[1:] + max(missed, 0.0))


@dataclass(frozen=True)
class Variance:
    """The variance of f, for the mean and every draw."""

    values: Array
    scale: float

    @property
    def std(self) -> Range:
        """The standard deviation of f in units of the target."""
        value, low, high = _hull(np.sqrt(self.values))
        return Range(self.scale * value, self.scale * max(low, 0.0), self.scale * high)

    def share(self, part: Array) -> Share:
        """Return the share of a part, from 0 on where f may be constant."""
        varies = self.values > SMALLEST_VARIANCE
        shares = np.where(varies, part, 0.0) / np.where(varies, self.values, 1.0)
        value, low, high = np.clip(_hull(np.clip(shares, 0.0, 1.0)), 0.0, 1.0)
        return Share(float(value), float(low) if self.std.low > 0.0 else 0.0, float(high))

    def share_at_worst(self, known: float, unknown: Array) -> Share:
        """Return the share of a part of the mean, with all that is unknown of it at its worst.

        (√known ± √unknown)²: a prior shrinks small parts along themselves, unlike draws of them.
        """
        low, high = (
            np.square(np.maximum(np.sqrt(known) + sign * np.sqrt(unknown), 0.0)) for sign in (-1, 1)
        )
        varies = np.maximum(self.values, SMALLEST_VARIANCE)
        ends = np.quantile(low / varies[1:], TAILS[0]), np.quantile(high / varies[1:], TAILS[1])
        value = np.clip(known / varies[0], 0.0, 1.0)
        lower, upper = np.clip([min(ends[0], value), max(ends[1], value)], 0.0, 1.0)
        return Share(float(value), float(lower), float(upper))


def _hull(values: Array) -> tuple[float, float, float]:
    r"""Return the value of the mean function, and an interval from those of the draws.

    The hull of the percentile interval and of its mirror image at the value of the mean, the basic
    bootstrap interval: draws are rougher than the truth, so that the first alone would never hold
    a variance of 0. Davison & Hinkley (1997), sec. 5.2.
    """
    value, (low, high) = float(values[0]), np.quantile(values[1:], TAILS).tolist()
    return value, min(low, 2 * value - high), max(high, 2 * value - low)
