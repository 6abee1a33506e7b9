r"""How much of new observations the mean explains, R², by what was released about residuals.

Of a mean m and an error :math:`e = f - m` that is known by draws, over the private model of the
inputs,

.. math:: R^2 = 1 - \frac{E(y - m)^2}{\mathrm{Var}\,y}
              = \frac{\mathrm{Var}f - E\,e^2}{\mathrm{Var}f + \sigma^2},

and on average over draws :math:`\mathrm{Var}\,m/(\mathrm{Var}\,m + E(y - m)^2)`. The squared
residuals :math:`E(y - m)^2 = \sigma^2 + E\,e^2` are those of the released law of scaled residuals
within the bounds of the target. Measured on held-out rows: docs/results/explained.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.effects.functionals import SEED, DrawnFunctions, hull
from dpgp.effects.records import Share
from dpgp.model.input_model import sample_size, weighted_rows
from dpgp.steps import Calibrate
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

LEVELS = (np.arange(1000) + 0.5) / 1000
"""Equally likely quantiles that stand for the law of an observation, in tails to one in 2,000."""

LAW_ERROR = 15.0
"""Relative error of the mean square of the law of residuals, over the noise of a bin of its
histogram as a share of the rows: 12 to 20 in 72 fits of simulated and real tables."""

LEAST_NOISE = 0.25
"""Part of the squared residuals that is noise at least, whatever is unknown of f; by hand."""


class SquaredResiduals(NamedTuple):
    """E(y − m)² of new observations, and its relative error."""

    mean: float
    error: float


@dataclass(frozen=True)
class DrawnMeans:
    """Means at places, the shares of rows there, and draws of f with shares of their own."""

    mean: Array
    shares: Array
    values: Array
    weights: Array

    @classmethod
    def of(cls, model: FittedModel, target: int, X: Array, shares: Array) -> DrawnMeans:
        """Return those of a model at raw inputs: places are a sample, by a Bayesian bootstrap."""
        mean, std = model.mean_and_std(target, model.inputs(X), latent=True)
        mean = model.within_bounds(target, mean)
        values = model.within_bounds(target, mean + std * _unit_errors(model, target, X))
        size = np.maximum(sample_size(model) * shares, TINY)
        weights = np.random.default_rng(SEED).gamma(size, size=values.shape)
        return cls(mean, shares, values, weights / weights.sum(axis=1, keepdims=True))

    @property
    def variance(self) -> float:
        """Var m."""
        return float(self.shares @ (self.mean - self.shares @ self.mean) ** 2)

    @property
    def variances(self) -> Array:
        """Var f of every draw."""
        return self.averages(self.values**2) - self.averages(self.values) ** 2

    @property
    def squares(self) -> Array:
        """E(f − m)² of every draw."""
        return self.averages((self.values - self.mean) ** 2)

    def averages(self, values: Array) -> Array:
        """Return averages over the places, a draw each."""
        return np.asarray(np.sum(self.weights * values, axis=1))


def explained(model: FittedModel, target: int) -> Share:
    """Return R² with an interval of 95 %, within 0 and 1."""
    X, shares = weighted_rows(model)
    f = DrawnMeans.of(model, target, X, shares)
    if model.outcome.law_is_known:  # the variance of yes and no with probability p is p(1 − p)
        residuals = float(shares @ (f.mean * (1.0 - f.mean)))
        noise = f.averages(f.values * (1.0 - f.values))
    else:
        residuals, error = squared_residuals(model, target, X, f)
        left = max(residuals - float(f.squares.mean()), LEAST_NOISE * residuals)
        normal = np.random.default_rng(SEED).standard_normal(len(f.values))
        noise = left * np.exp(error * normal)
    value = f.variance / max(f.variance + residuals, TINY)
    of_draws = (f.variances - f.squares) / np.maximum(f.variances + noise, TINY)
    value, low, high = np.clip(hull(np.append(value, of_draws)), 0.0, 1.0).tolist()
    return Share(value, low, high)


def squared_residuals(model: FittedModel, target: int, X: Array, f: DrawnMeans) -> SquaredResiduals:
    """Return E(y − m)², and what the noise of a histogram and the number of its rows leave unknown.

    n residuals know their mean square to a relative error of √((E r⁴/(E r²)² − 1)/n).
    """
    law = model.observations(target, model.inputs(X))
    squares = (np.array([law.quantile(level) for level in LEVELS]) - f.mean) ** 2
    second, fourth = (float(power.mean(axis=0) @ f.shares) for power in (squares, squares**2))
    rows = max(model.stages[target][0].n, 1.0)
    sampling = max(fourth / max(second**2, TINY) - 1.0, 0.0) / rows
    return SquaredResiduals(second, math.sqrt(sampling + _law_error(model, target, rows) ** 2))


def _law_error(model: FittedModel, target: int, rows: float) -> float:
    """Return the relative error of the law's mean square, or of σ² where no law was released."""
    noise = model.certificate.noise_of(Calibrate.label)
    if noise is None:
        return float(2.0 * np.std(np.log(model.noise_draws(target))))
    return LAW_ERROR * noise / rows


def _unit_errors(model: FittedModel, target: int, X: Array) -> Array:
    """Return draws of f about its mean in their own sds, a row each."""
    mean, *draws = DrawnFunctions(model, target)(X)
    errors = np.array(draws) - mean
    return np.asarray(errors / np.maximum(np.sqrt(np.mean(errors**2, axis=0)), TINY))
