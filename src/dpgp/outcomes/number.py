"""A number within public bounds, the plain kind of outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtr

from dpgp.numeric import numeric_targets
from dpgp.outcomes.base import Ends, OutcomeKind
from dpgp.outcomes.log_odds import AS_BELIEVED, LogOdds
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.inference.conformal import Calibration


LOG_ROOT = math.log(math.sqrt(2.0 * math.pi))
"""The logarithm of the density of a standard normal law at 0, but for its sign."""


@dataclass(frozen=True)
class ScaledLaw:
    """The law of new observations of one target at some inputs: m(x) + t·c(x)s(x).

    ``mean`` is within the bounds ``low`` and ``high``, ``law`` that of t.
    """

    mean: Array
    std: Array
    law: Calibration
    low: float
    high: float

    def quantile(self, level: float) -> Array:
        """Return the values that observations stay below with this probability."""
        return self.at(self.law.quantile(level))

    def ends(self, coverage: float) -> tuple[Array, Array]:
        """Return the ends of central intervals."""
        low, high = self.law.ends(coverage)
        return self.at(low), self.at(high)

    def draw(self, normal: Array) -> Array:
        """Return observations at the same inputs, with the given normal scores as columns."""
        return np.column_stack([self.at(t) for t in self.law.quantiles(ndtr(normal)).T])

    def at(self, t: float | Array) -> Array:
        """Return values that can be observed, t scaled residuals from the mean."""
        return np.clip(self.mean + t * self.std, self.low, self.high)


@dataclass(frozen=True)
class Number(OutcomeKind):
    """A number: its noise, scale and law are learned, and residuals are clipped."""

    scaled_law: ClassVar[type[ScaledLaw]] = ScaledLaw
    file_format: ClassVar[int] = 3  # the first with a law of signed residuals

    log_noise: ClassVar[tuple[float, float]] = math.log(0.07), 1.2
    """By hand: 0.006 to 0.8 half-widths of the target within two standard deviations."""

    explainable: ClassVar[tuple[float, float]] = 0.3, 0.95
    """By hand: from a weak regression to one with hardly any noise."""

    may_be_classes: ClassVar[bool] = True
    little_known_is: ClassVar[str] = "half the noise of one observation"
    cannot_be_told: ClassVar[Mapping[str, str]] = {
        "prevalence": "`prevalence` is that of the second of two `classes`; name them too."
    }

    def observations(self, mean: Array, std: Array, law: Calibration, bounds: Ends) -> ScaledLaw:
        """Return the released law of scaled residuals about the mean."""
        return self.scaled_law(np.clip(mean, *bounds), std, law, *bounds)

    def function_interval(
        self,
        mean: Array,
        half_width: Array,
        coverage: float,
        bounds: Ends,
        odds: LogOdds = AS_BELIEVED,
    ) -> tuple[Array, Array]:
        """Return the Gaussian interval, cut to the bounds."""
        return np.clip(mean - half_width, *bounds), np.clip(mean + half_width, *bounds)

    def log_density(self, y: Any, mean: Array, std: Array) -> Array:
        """Return the log density of a Gaussian, −z²/2 − log √(2π) − log s."""
        targets = checked_targets(y, mean)
        with np.errstate(over="ignore"):
            return np.asarray(-(((targets - mean) / std) ** 2) / 2.0 - LOG_ROOT - np.log(std))

    def decimals(self, noise: float) -> int:
        """Return how many decimals show a hundredth of the noise of an observation, or less."""
        return max(0, 2 - math.floor(math.log10(noise)))

    def little_known(self, noise: float) -> float:
        """Return half the noise of one observation."""
        return noise / 2


NUMBER = Number()


def checked_targets(y: Any, mean: Array) -> Array:
    """Return observed targets in the shape of their predictions."""
    targets = numeric_targets(y, len(mean))
    if targets.shape != mean.shape:
        raise ValueError("`y` must have as many targets as the model, for every row of `X`.")
    return targets
