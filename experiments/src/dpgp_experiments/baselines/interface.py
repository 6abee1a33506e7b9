"""What a method of the comparison is given, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from dpgp.domain import Box
from dpgp.privacy.neighbours import Neighbours
from dpgp.types import Array


@dataclass(frozen=True)
class Problem:
    """Training rows with what is public about them: bounds, and the guarantee asked for.

    Incomplete rows were removed before, the same for every method. ``epsilon`` is infinite for
    methods that are not private.
    """

    X: Array
    y: Array
    bounds: tuple[tuple[float, float], ...]
    target_bounds: tuple[float, float]
    epsilon: float
    delta: float
    neighbours: Neighbours = Neighbours.REPLACE

    def __repr__(self) -> str:
        return f"Problem(epsilon={self.epsilon:g}, delta={self.delta:g}, ...)"

    def unit_inputs(self, X: Array) -> Array:
        """Return inputs clipped to their bounds and scaled to [−1, 1]."""
        box = Box.from_bounds(list(self.bounds), len(self.bounds))
        return np.asarray((box.clip(X) - box.centre) / box.half_width)

    @property
    def centre(self) -> float:
        """Middle of the target's public interval."""
        return sum(self.target_bounds) / 2

    @property
    def half_width(self) -> float:
        """Half the length of the target's public interval."""
        return (self.target_bounds[1] - self.target_bounds[0]) / 2

    @property
    def unit_targets(self) -> Array:
        """Targets clipped to their bounds and scaled to [−1, 1]."""
        return np.clip((self.y - self.centre) / self.half_width, -1.0, 1.0)


class Distribution(Protocol):
    """Predictive distributions of new observations, one for every test row."""

    def log_density(self, y: Array) -> Array:
        """Return the log density of every observation under its own prediction."""
        ...

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """Return lower and upper ends of central intervals."""
        ...


class Prediction(NamedTuple):
    """Point predictions for the test rows, and distributions where a method has them."""

    mean: Array
    distribution: Distribution | None = None


class Method(Protocol):
    """Fits to the rows of a problem and predicts other rows; all chance comes from ``rng``."""

    def __call__(self, problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
        """Return the predictions for ``X_test``."""
        ...


@dataclass(frozen=True)
class Mixture:
    """Equally weighted Gaussians: a row of means for each component, and standard deviations."""

    means: Array
    stds: Array

    @classmethod
    def gaussian(cls, mean: Array, std: Array | float) -> Mixture:
        """Return a single Gaussian for every test row."""
        return cls(mean[None], np.broadcast_to(np.asarray(std, dtype=np.float64), mean.shape)[None])

    def log_density(self, y: Array) -> Array:
        """Return log mean_s N(y; m_s, σ_s²)."""
        densities = norm.logpdf(y, self.means, self.stds)
        return np.asarray(logsumexp(densities, axis=0) - np.log(len(self.means)))

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """Return the central interval, each end by bisection of the mixture's CDF."""
        tail = (1.0 - coverage) / 2
        return self._quantile(tail), self._quantile(1.0 - tail)

    def _quantile(self, probability: float, steps: int = 60) -> Array:
        # beyond ten deviations is less than any tail asked for; sixty halvings reach rounding
        low = (self.means - 10.0 * self.stds).min(axis=0)
        high = (self.means + 10.0 * self.stds).max(axis=0)
        for _ in range(steps):
            middle = (low + high) / 2
            below = norm.cdf(middle, self.means, self.stds).mean(axis=0) < probability
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray((low + high) / 2)
