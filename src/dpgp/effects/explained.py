r"""How much of new observations the mean explains, R², by what was released about residuals.

Of a mean m and an error :math:`e = f - m` that is known by draws, over the private model of the
inputs,

.. math:: R^2 = 1 - \frac{E(y - m)^2}{\mathrm{Var}\,y}
              = \frac{\mathrm{Var}f - E\,e^2}{\mathrm{Var}f + \sigma^2},

and on average over draws :math:`\mathrm{Var}\,m/(\mathrm{Var}\,m + E(y - m)^2)`. The squared
residuals :math:`E(y - m)^2 = \sigma^2 + E\,e^2` are those of the released law of scaled residuals
within the bounds of the target. Of yes and no the variance follows from the mean. Measured on
held-out rows: docs/results/explained.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.effects.functionals import SEED, DrawnFunctions, hull
from dpgp.effects.records import Share
from dpgp.inference.conformal import calibration_edges
from dpgp.model.input_model import sample_size, weighted_rows
from dpgp.steps import LAW_OF_RESIDUALS
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

LEVELS = (np.arange(1000) + 0.5) / 1000
"""Equally likely quantiles that stand for the law of an observation, in tails to one in 2,000."""

PRIOR_ERROR = 2.0
"""Sd of the mass of a bin of residuals before it is counted, in units of the mass: the widest bend
of a law, where it is two normal scores out (`dpgp.inference.noisy_law`)."""

UNKNOWN = 10.0
"""Relative error that says nothing: squares could be any."""

LEAST_NOISE = 0.25
"""Part of the squared residuals that is noise at least, whatever is unknown of f; by hand."""


class SquaredResiduals(NamedTuple):
    """E(y − m)² of new observations, and its relative error."""

    mean: float
    error: float


@dataclass(frozen=True)
class Believed:
    """What is predicted at places, f as it is believed there, and the shares of rows.

    ``predicted`` is a vector, ``f`` and ``weights`` have a row for the mean and for every draw:
    places are a sample, so that every draw weighs them by a Bayesian bootstrap.
    """

    predicted: Array
    f: Array
    weights: Array

    @classmethod
    def of(cls, model: FittedModel, target: int, X: Array, shares: Array) -> Believed:
        """Return those of a model at raw inputs."""
        U = model.inputs(X)
        predicted = model.within_bounds(target, model.mean_and_std(target, U, latent=True)[0])
        mean, std = model.belief(target, U, latent=True)
        errors = std * _unit_errors(model, target, X)
        size = np.maximum(sample_size(model) * shares, TINY)
        weights = np.random.default_rng(SEED).gamma(size, size=errors.shape)
        weights = np.vstack([shares, weights / weights.sum(axis=1, keepdims=True)])
        return cls(predicted, np.vstack([mean, mean + errors]), weights)

    def average(self, values: Array) -> Array:
        """Return averages over the places, one of the mean and one of every draw."""
        return np.asarray(np.sum(self.weights * values, axis=1))

    def variance(self, values: Array) -> Array:
        """Return variances over the places."""
        return self.average(values**2) - self.average(values) ** 2


def explained(model: FittedModel, target: int) -> Share:
    """Return R² with an interval of 95 %, within 0 and 1."""
    X, shares = weighted_rows(model)
    believed = Believed.of(model, target, X, shares)
    if model.outcome.law_is_known:
        found = _of_chances(believed)
    else:
        found = _of_numbers(believed, squared_residuals(model, target, X, believed))
    value, low, high = np.clip(hull(found), 0.0, 1.0).tolist()
    return Share(value, low, high)


def _of_numbers(believed: Believed, residuals: SquaredResiduals) -> Array:
    """Return (Var f − E(f − m)²)/(Var f + σ²): of f = m and σ² = E(y − m)², and of every draw."""
    m = believed.predicted
    f = np.vstack([m, believed.f[1:]])
    squares = believed.average((f - m) ** 2)
    left = max(residuals.mean - float(squares[1:].mean()), LEAST_NOISE * residuals.mean)
    normal = np.random.default_rng(SEED).standard_normal(len(f) - 1)
    noise = np.append(residuals.mean, left * np.exp(residuals.error * normal))
    variances = believed.variance(f)
    return np.asarray((variances - squares) / np.maximum(variances + noise, TINY))


def _of_chances(believed: Believed) -> Array:
    """Return 1 − E(y − p)²/Var y of yes and no, where E[y | x] = f and y² = y.

    E(y − p)² = E f − 2E fp + E p² and Var y = E f(1 − E f): linear in f, which may leave [0, 1].
    """
    p, f = believed.predicted, believed.f
    yes = believed.average(f)
    left = yes - 2.0 * believed.average(f * p) + believed.average(p**2)
    return np.asarray(1.0 - left / np.maximum(yes * (1.0 - yes), TINY))


def squared_residuals(
    model: FittedModel, target: int, X: Array, believed: Believed
) -> SquaredResiduals:
    """Return E(y − m)² by the law of residuals, and what is unknown of it.

    n residuals know their mean square to a relative error of √((E r⁴/(E r²)² − 1)/n).
    """
    law, rows = model.observations(target, model.inputs(X)), max(model.stages[target][0].n, 1.0)
    residuals = np.array([law.quantile(level) for level in LEVELS]) - believed.predicted
    second, fourth = (
        float(np.mean(residuals**power, axis=0) @ believed.weights[0]) for power in (2, 4)
    )
    sampling = max(fourth / max(second**2, TINY) - 1.0, 0.0) / rows
    error = _law_error(model, target, rows)
    return SquaredResiduals(second, min(math.sqrt(sampling + error**2), UNKNOWN))


def _law_error(model: FittedModel, target: int, rows: float) -> float:
    """Return the relative error of the law's mean square, or of σ² where no law was released."""
    noise = model.noise_of(LAW_OF_RESIDUALS)
    if noise is None:
        return float(2.0 * np.std(np.log(model.noise_draws(target))))
    t = model.calibrations[target].quantiles(LEVELS)
    return error_of_squares(t, calibration_edges(noise, rows), noise / rows)


def error_of_squares(t: Array, edges: Array, noise: float) -> float:
    """Return the relative error of the mean of t² whose masses q between edges were counted.

    A mass is known to 2q beforehand, and by its count to the noise: to 1/√(1/(2q)² + 1/noise²).
    The farther out it lies, the more squares are wrong with it.
    """
    places = np.searchsorted(edges[1:-1], t)
    masses, squares = (np.bincount(places, values) / len(t) for values in (np.ones_like(t), t**2))
    prior = PRIOR_ERROR * masses
    errors = PRIOR_ERROR * squares * noise / np.maximum(np.hypot(prior, noise), TINY)
    return float(np.linalg.norm(errors) / max(squares.sum(), TINY))


def _unit_errors(model: FittedModel, target: int, X: Array) -> Array:
    """Return draws of f about its mean in their own sds, a row each."""
    mean, *draws = DrawnFunctions(model, target)(X)
    errors = np.array(draws) - mean
    return np.asarray(errors / np.maximum(np.sqrt(np.mean(errors**2, axis=0)), TINY))
