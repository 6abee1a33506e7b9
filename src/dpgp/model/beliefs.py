"""From beliefs about functions in the unit cube to means, intervals and laws of every target."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpgp.inference.conformal import Calibration
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Posterior
from dpgp.inference.predictive import Predictive, predictives
from dpgp.model.predictions import checked_coverage
from dpgp.options import Options
from dpgp.outcomes import ObservationLaw, OutcomeKind
from dpgp.outcomes.log_odds import AS_BELIEVED, LogOdds
from dpgp.types import Array


class TargetBeliefs:
    """What a fitted model, which has these fields, says of its targets at unit inputs U."""

    options: Options
    posteriors: tuple[Posterior, ...]
    calibrations: tuple[Calibration, ...]
    scales: tuple[LocalScale, ...]
    log_odds: tuple[LogOdds, ...]

    @property
    def outcome(self) -> OutcomeKind:
        """The kind of outcome that the targets are."""
        return self.options.outcome

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.posteriors)

    def mean_and_std(self, target: int, U: Array, latent: bool = False) -> tuple[Array, Array]:
        """Return mean, not yet cut, and standard deviation of one target at unit inputs."""
        if self.outcome.is_joint:
            return self.means_and_stds(U, latent)[target]
        return self._linked(target, U, latent)

    def means_and_stds(self, U: Array, latent: bool = False) -> list[tuple[Array, Array]]:
        """Return both of all targets; probabilities of classes add up."""
        own = [self._linked(k, U, latent) for k in range(self.n_targets)]
        if not self.outcome.is_joint:
            return own
        odds = [self.odds(k) for k in range(self.n_targets)]
        means = self.outcome.together(np.array([mean for mean, _ in own]), odds)
        return [
            (mean, std if latent else np.sqrt(mean * (1.0 - mean)))
            for mean, (_, std) in zip(means, own, strict=True)
        ]

    def _linked(self, target: int, U: Array, latent: bool) -> tuple[Array, Array]:
        """Return what one function predicts by itself."""
        return self.outcome.link(*self.belief(target, U, latent), latent, self.odds(target))

    def belief(self, target: int, U: Array, latent: bool = False) -> tuple[Array, Array]:
        """Return mean and sd of the Gaussian belief before its link, in units of the target.

        It is about f where ``latent`` or the law is known, else about an observation.
        """
        if latent or self.outcome.law_is_known:
            mean, std = self.posteriors[target].predict(U, latent=True)
        else:
            mean, std = self._predictives[target].at(U)
        return self._in_units(target, mean), self._scale(target) * std

    def odds(self, target: int) -> LogOdds:
        """Return how beliefs about a target become probabilities."""
        return self.log_odds[target] if self.log_odds else AS_BELIEVED

    def probability_of_mean(self, values: Array) -> Array:
        """Return the probabilities of yes of posterior means of f, which they rise with."""
        spread = np.full_like(values, self.odds(0).spread or 0.0)
        return self.odds(0).probability(self._in_units(0, values), spread)

    @cached_property
    def _predictives(self) -> tuple[Predictive, ...]:
        return predictives(self.posteriors, self.scales)

    def local_scale(self, target: int, U: Array) -> Array:
        """Return c(x), by which the model's own sd of an observation is multiplied."""
        return self.scales[target].factor(U) if self.scales else np.ones(len(U))

    def observations(self, target: int, U: Array) -> ObservationLaw:
        """Return the law of new observations of one target at unit inputs."""
        mean, std = self.mean_and_std(target, U)
        law = self.calibrations[target]
        return self.outcome.observations(mean, std, law, self._bounds(target))

    def observation_interval(self, target: int, U: Array, coverage: float) -> tuple[Array, Array]:
        """Return the central interval of new observations."""
        return self.observations(target, U).ends(checked_coverage(coverage))

    def function_interval(self, target: int, U: Array, coverage: float) -> tuple[Array, Array]:
        """Return the posterior's own interval for the function."""
        level = checked_coverage(coverage)
        centre, half_width = self.posteriors[target].half_width(U, level)
        mean, half_width = self._in_units(target, centre), self._scale(target) * half_width
        bounds, odds = self._bounds(target), self.odds(target)
        lower, upper = self.outcome.function_interval(mean, half_width, level, bounds, odds)
        if not self.outcome.is_joint:
            return lower, upper
        p, _ = self.mean_and_std(target, U, latent=True)
        return np.minimum(lower, p), np.maximum(upper, p)

    def within_bounds(self, target: int, values: Array) -> Array:
        """Return values cut to the public bounds of a target."""
        return np.asarray(np.clip(values, *self._bounds(target)))

    def _bounds(self, target: int) -> tuple[float, float]:
        return self.outcome.bounds(self.options.functions, target)

    def mean_and_covariance(self, target: int, U: Array, latent: bool) -> tuple[Array, Array]:
        """Return mean, not yet cut, and covariance of one target between unit inputs."""
        posterior, scale = self.posteriors[target], self._scale(target)
        mean, std = self.mean_and_std(target, U, latent)
        covariance = posterior.covariance(U)
        if not latent and not self.outcome.law_is_known:
            # cov(y, y') = c(x)c(x')(cov(f, f') + σ²1)
            c = self.local_scale(target, U)
            covariance = covariance + posterior.moments.noise**2 * np.eye(len(U))
            covariance = np.outer(c, c) * covariance
        # the variance of a known law, of new observations
        noise = std**2 if self.outcome.law_is_known and not latent else 0.0
        return mean, scale**2 * covariance + noise * np.eye(len(U))

    def _in_units(self, target: int, values: Array) -> Array:
        """Return values of the scaled target in its own units."""
        box = self.options.functions
        return np.asarray(box.centre[target] + box.half_width[target] * values)

    def _scale(self, target: int) -> float:
        return float(self.options.functions.half_width[target])
