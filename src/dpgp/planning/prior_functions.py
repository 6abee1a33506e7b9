"""Functions that are plausible before data is seen: the weak prior, within the public bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from dpgp.inference.hyperparameters import WeightedPoints, hyper_prior, thin
from dpgp.kernels.formula import batch_diag, batch_gram
from dpgp.kernels.known import as_kernel
from dpgp.kernels.parameters import Measure
from dpgp.planning.setting import Assumption
from dpgp.point_sets import low_discrepancy_points, normal_points
from dpgp.types import Array

# Set by hand: the accuracy of a forecast against the time of a plan
CUBE_POINTS = 300  # that stand for the public box
CANDIDATES = 256  # draws of the prior, of which those are kept that respect the bounds
FUNCTIONS = 32  # equally plausible θ that a forecast is averaged over
DRAWS, VALUES = 131, 50  # functions under each θ, and values of each, that are held to the bounds

SPREAD_POINTS = 100  # of those that stand for the box, for the variance of a function over it

AT_ONCE = 8  # matrices of θ that are averaged at a time: large temporaries cost more than sums

TINY_CHANCE = 1e-100
"""Keeps the logarithm of a chance finite."""

LEAST_CHANCE = 1e-3
"""Weight that a θ keeps whatever its functions do: a prior that never fits is still a prior."""

ROUGHER = 0.45
"""By hand, on functions of `benchmarks/forecast_family.py`; others may be out of range."""

NEARLY_NO_NOISE = 0.01
"""In half-widths: what a probability may be beyond its bounds."""

JITTER = 1e-9
"""Of the mean variance: rounding errors of a Cholesky root."""


@dataclass(frozen=True)
class Functions:
    """Plausible functions: GP(0, k_θ) for every θ, at points that fill the cube."""

    kernel: Any
    thetas: Array
    columns: int

    @cached_property
    def points(self) -> Array:
        """Low-discrepancy points of the cube."""
        return low_discrepancy_points([-1.0] * self.columns, [1.0] * self.columns, CUBE_POINTS)

    def part(self, first: int, step: int) -> Functions:
        """Return functions of every ``step``-th θ."""
        return replace(self, thetas=self.thetas[first::step])

    @cached_property
    def K(self) -> Array:
        """K_θ at the points, for every θ."""
        shape = (len(self.thetas), CUBE_POINTS, CUBE_POINTS)
        gram = batch_gram(self.kernel, self.thetas[:, :-1], self.points, self.points)
        return np.broadcast_to(gram, shape)

    @cached_property
    def noise_variances(self) -> Array:
        """σ² for every θ."""
        return np.asarray(np.exp(2 * self.thetas[:, -1]))

    @cached_property
    def mean_squares(self) -> Array:
        """E[f(x)²] over the cube, for every θ."""
        return np.asarray(batch_diag(self.kernel, self.thetas[:, :-1], self.points).mean(axis=1))

    @cached_property
    def spread(self) -> Array:
        """E[variance of f over the cube] for every θ: the squared error of predicting the mean."""
        few = range(0, len(self.thetas), AT_ONCE)
        return np.concatenate(
            [_spread(self.kernel, self.thetas[k : k + AT_ONCE, :-1], self.points) for k in few]
        )


def plausible_functions(
    kernel: Any, columns: int, assumption: Assumption | None = None, count: int = FUNCTIONS
) -> Functions:
    """Return equally plausible θ of the weak prior, under which data would respect their bounds.

    Candidates are weighted by the chance that data stay within [−1, 1], and thinned.
    """
    prior = hyper_prior(kernel, columns)
    thetas = prior.mean + prior.sd * ndtri(_even_points(CANDIDATES, len(prior.mean)))
    drawn = Functions(kernel, thetas, columns)
    told = assumption or Assumption(1.0)
    noises = told.noise_variances(lambda: drawn.spread, drawn.noise_variances)
    assumed = replace(drawn, thetas=_with_noise(thetas, noises))
    bounded = _without_noise(drawn) if told.outcome.function_is_bounded else assumed
    weights = _chance_within_bounds(bounded)
    index = thin(WeightedPoints(thetas, weights / weights.sum(), 0.0), count)
    return replace(assumed, thetas=assumed.thetas[index])


def broad_functions(kernel: Any, columns: int, assumption: Assumption) -> Functions:
    """Return plausible functions, and as many whose lengths are ``ROUGHER`` times as long.

    A prior of smooth functions promises too little error for waves, bumps and steps. Features are
    chosen for smooth ones, forecasts are made for both.
    """
    smooth = plausible_functions(kernel, columns, assumption, FUNCTIONS // 2)
    is_length = [each.measure is Measure.LENGTH for each in as_kernel(kernel).learned()]
    shift = np.append(np.where(is_length, math.log(ROUGHER), 0.0), 0.0)
    return replace(smooth, thetas=np.concatenate([smooth.thetas, smooth.thetas + shift]))


def _spread(kernel: Any, thetas: Array, points: Array) -> Array:
    """Return E[sample variance of f at the first points], tr(K)/N − Σ K_ij/N², times N/(N − 1)."""
    few = points[:SPREAD_POINTS]
    sums = batch_gram(kernel, thetas, few, few).mean(axis=(1, 2))
    squares = batch_diag(kernel, thetas, few).mean(axis=1)
    return np.asarray(np.maximum(squares - sums, 0.0) * SPREAD_POINTS / (SPREAD_POINTS - 1))


def _with_noise(thetas: Array, variances: Array) -> Array:
    return np.column_stack([thetas[:, :-1], 0.5 * np.log(variances)])


def _without_noise(functions: Functions) -> Functions:
    """Return functions that respect their bounds by themselves, as probabilities do."""
    nearly_none = np.full(len(functions.thetas), NEARLY_NO_NOISE**2)
    return replace(functions, thetas=_with_noise(functions.thetas, nearly_none))


def _even_points(count: int, dimension: int) -> Array:
    """Additive recurrence with the powers of 1/φ, φ^{D+1} = φ + 1: even in any dimension."""
    # fixed point of φ = (1 + φ)^{1/(D+1)}, from anywhere: 60 steps are exact to rounding errors
    root = 1.5
    for _ in range(60):
        root = (1 + root) ** (1 / (dimension + 1))
    steps = root ** -np.arange(1.0, dimension + 1)
    return np.asarray((0.5 + np.outer(np.arange(1, count + 1), steps)) % 1.0)


def _chance_within_bounds(functions: Functions) -> Array:
    """Chance, for every θ, that at most one of fifty values of y = f + ε leaves [−1, 1].

    An average over draws of f; given f the values are independent, and the chance is exact.
    """
    U, sigma = functions.points[:VALUES], np.sqrt(functions.noise_variances)[:, None, None]
    f = _cholesky_roots(functions, U) @ normal_points(VALUES, DRAWS).T
    inside = np.maximum(ndtr((1 - f) / sigma) - ndtr((-1 - f) / sigma), TINY_CHANCE)
    # P(at most one outside) = Π q (1 + Σ (1 − q)/q), q the chance of a value to stay inside
    at_most_one = np.exp(np.log(inside).sum(axis=1)) * (1 + (1 / inside - 1).sum(axis=1))
    return np.asarray(at_most_one.mean(axis=1) + LEAST_CHANCE)


def _cholesky_roots(functions: Functions, U: Array) -> Array:
    """Lower L, LLᵀ = K_θ(U, U) + jitter·I: the same on every processor, as eigenvectors are not."""
    kernels, m = functions.thetas[:, :-1], len(U)
    gram = np.broadcast_to(batch_gram(functions.kernel, kernels, U, U), (len(kernels), m, m))
    size = np.diagonal(gram, axis1=1, axis2=2).mean(axis=1)[:, None, None]
    return np.asarray(np.linalg.cholesky(gram + JITTER * size * np.eye(m)))
