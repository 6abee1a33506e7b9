r"""What is known of f: weighted sums of its values, exactly, and functions that are drawn.

For weights c of all points, :math:`f = \phi^\top w + r` and :math:`\psi = \sum_j c_j\phi(x_j)`, the
mean is :math:`\psi^\top\bar w`, the variance :math:`\psi^\top V\psi + c^\top R c`, R the covariance
that the features miss. That the rows of an average are a sample adds the variance of a sample mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.blas import symmetric_root
from dpgp.effects.records import Range, Share
from dpgp.features.inducing import DictionaryValues
from dpgp.inference.posterior import Posterior, mixture_half_width
from dpgp.model.input_model import sample_size
from dpgp.model.predictions import checked_coverage
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


POINTS_AT_ONCE = 4096
"""Points whose features are in memory at the same time, about."""

MISSING_POINTS = 128
"""Points among which covariances are computed at the same time, at least one sum's."""

DRAWS = 200
SEED = 13
"""Of the draws: public, and the same for every model."""

TAILS = (0.025, 0.975)

SMALLEST_VARIANCE = 1e-18
"""Of f in units of the bounds scaled to [−1, 1]: anything below is rounding of a constant."""


class Averages(NamedTuple):
    """Averages over rows of Σ_j c_j f(x_j), at raw inputs (averages, rows, terms, D)."""

    points: Array
    weights: Array

    @property
    def flat_points(self) -> Array:
        """All points of every average, (averages, rows · terms, D)."""
        return self.points.reshape(len(self.points), -1, self.points.shape[-1])

    @property
    def flat_weights(self) -> Array:
        """Their weights."""
        rows = self.points.shape[1]
        return np.asarray(np.tile(self.weights, rows) / rows)


class Estimates(NamedTuple):
    """Mean, standard deviation and ends of an interval, in units of the target."""

    mean: Array
    std: Array
    lower: Array
    upper: Array

    def within(self, low: float, high: float) -> Estimates:
        """Return means and ends cut to bounds that the truth keeps."""
        mean, lower, upper = np.clip([self.mean, self.lower, self.upper], low, high)
        return self._replace(mean=mean, lower=lower, upper=upper)


def estimate(
    model: FittedModel, target: int, asked: Averages, thinned: Averages, coverage: float
) -> Estimates:
    """Return mean, sd and interval of averages; what features miss is taken from thinned ones."""
    level = checked_coverage(coverage)
    box, posterior = model.options.functions, model.posteriors[target]
    psi, sampling = _features_and_sampling(model, posterior, asked)
    known = np.maximum(np.einsum("dq,dq->q", posterior.moments.V @ psi, psi), 0.0)
    missing = missed_variances(posterior, _unit(model, thinned.flat_points), thinned.flat_weights)
    scale = float(box.half_width[target])
    std = scale * np.sqrt(known + missing + sampling)
    mean = box.centre[target] * asked.weights.sum() + scale * (posterior.moments.w @ psi)
    half_width = function_factor(posterior, level) * std
    return Estimates(mean, std, mean - half_width, mean + half_width)


def function_factor(posterior: Posterior, coverage: float) -> float:
    """Return how many sds of f an interval reaches to each side, over draws of θ."""
    scales = np.sqrt(posterior.spreads / posterior.spreads.mean())
    return float(mixture_half_width(scales[None], coverage)[0])


def _features_and_sampling(
    model: FittedModel, posterior: Posterior, asked: Averages
) -> tuple[Array, Array]:
    """Return ψ of every average as columns, and the variance that a sample of rows gives it."""
    points, weights = asked.flat_points, asked.flat_weights
    values = DictionaryValues(posterior.features)
    w, sums, sampling = values.weights(posterior.moments.w), [], []
    for part in _parts(points, max(1, POINTS_AT_ONCE // points.shape[1])):
        U = _unit(model, part)
        k = values.evaluate(U.reshape(-1, U.shape[-1]))
        sums.append(_summed(k, weights))
        rows = (w @ k).reshape(len(part), asked.points.shape[1], -1)
        sampling.append((rows @ asked.weights).var(axis=1))
    psi = values.whitened(np.concatenate(sums, axis=1))
    return psi, np.concatenate(sampling) / sample_size(model)


def missed_variances(posterior: Posterior, U: Array, weights: Array) -> Array:
    """Return cᵀRc of sums over unit inputs (sums, points, D), of what the features miss."""
    found = []
    for part in _parts(U, max(1, MISSING_POINTS // U.shape[1])):
        flat = part.reshape(-1, U.shape[-1])
        found.append(posterior.missing_variances_of_sums(flat, weights))
    return np.maximum(np.concatenate(found), 0.0)


def _summed(values: Array, weights: Array) -> Array:
    """Return weighted sums of columns, as many at a time as there are weights."""
    return np.asarray(values.reshape(len(values), -1, len(weights)) @ weights)


def _unit(model: FittedModel, points: Array) -> Array:
    """Return raw inputs of any shape (…, D) clipped, scaled, warped and as indicators."""
    U = model.inputs(points.reshape(-1, points.shape[-1]))
    return np.asarray(U.reshape(*points.shape[:-1], U.shape[1]))


def _parts(array: Array, size: int) -> Iterator[Array]:
    return (array[start : start + size] for start in range(0, len(array), size))


@dataclass(frozen=True)
class DrawnFunctions:
    """The posterior mean, then draws of f = φᵀw around it, at raw inputs."""

    model: FittedModel
    target: int

    @property
    def posterior(self) -> Posterior:
        """The posterior that functions are drawn from."""
        return self.model.posteriors[self.target]

    def missing(self, X: Array) -> Array:
        """Return the covariance of what the draws miss of f between raw inputs."""
        return self.posterior.missing_covariance(self.model.inputs(X))

    @cached_property
    def _weights(self) -> Array:
        """w̄, and draws of N(w̄, s_t V) for every t in turn, one a row."""
        moments, spreads = self.posterior.moments, self.posterior.spreads
        normal = np.random.default_rng(SEED).standard_normal((DRAWS, len(moments.w)))
        scales = np.sqrt(np.resize(spreads / spreads.mean(), DRAWS))
        noise = scales[:, None] * (normal @ symmetric_root(moments.V))
        return moments.w + np.vstack([np.zeros_like(moments.w), noise])

    @cached_property
    def _on_values(self) -> Array:
        return DictionaryValues(self.posterior.features).weights(self._weights)

    def __call__(self, X: Array) -> Array:
        """Return values at raw inputs (…, D), a row for the mean and for every draw."""
        U = self.model.inputs(X.reshape(-1, X.shape[-1]))
        values = self._on_values @ DictionaryValues(self.posterior.features).evaluate(U)
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
        value, low, high = hull(np.sqrt(self.values))
        return Range(self.scale * value, self.scale * max(low, 0.0), self.scale * high)

    def share(self, part: Array) -> Share:
        """Return the share of a part, from 0 on where f may be constant."""
        varies = self.values > SMALLEST_VARIANCE
        shares = np.where(varies, part, 0.0) / np.where(varies, self.values, 1.0)
        value, low, high = np.clip(hull(np.clip(shares, 0.0, 1.0)), 0.0, 1.0)
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


def hull(values: Array) -> tuple[float, float, float]:
    r"""Return the value of the mean function, and an interval from those of the draws.

    The hull of the percentile interval and of its mirror image at the value of the mean, the basic
    bootstrap interval: draws are rougher than the truth, so that the first alone would never hold
    a variance of 0. Davison & Hinkley (1997), sec. 5.2.
    """
    value, (low, high) = float(values[0]), np.quantile(values[1:], TAILS).tolist()
    return value, min(low, 2 * value - high), max(high, 2 * value - low)
