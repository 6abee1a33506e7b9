r"""Private standardisation: the mean and the standard deviation of columns, from noisy moments.

Values are scaled to [−1, 1] by public bounds. :math:`\sum_i (u_i, u_i^2)` moves by at most 2 in a
column when a row is replaced (:func:`dpgp_experiments.baselines.mean.moments`), so by
:math:`2\sqrt D` in D columns. Where noise hides the answer, a broad guess takes its place: the
release is a prior's posterior mean.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from dpgp.privacy.calibration import gaussian_sigma, mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp.types import Array
from dpgp_experiments.baselines.interface import Prediction, Problem
from dpgp_experiments.baselines.mean import SENSITIVITY, moments

INPUT_SHARE = 0.05  # of μ²: training has 4 % more noise for it
TARGET_SHARE = 0.03
GUESS = 0.4  # of means and deviations before anything is known, in half widths of the bounds
SMALLEST = 0.05  # a deviation below it is taken for noise
FARTHEST = 3.0  # standardised values beyond are cut


class Scale(NamedTuple):
    """Private means and standard deviations, one for each column."""

    mean: Array
    std: Array

    def standardise(self, values: Array) -> Array:
        """Return values in standard deviations from the mean, cut at three."""
        return np.clip((values - self.mean) / self.std, -FARTHEST, FARTHEST)


def private_scale(
    values: Array, mu: float, neighbours: Neighbours, rng: np.random.Generator
) -> Scale:
    """Release the scale of columns in [−1, 1] with μ-GDP; the number of rows is public."""
    if neighbours is not Neighbours.REPLACE:
        raise ValueError("`neighbours` must be 'replace' for private moments: n divides them.")
    rows, columns = len(values), values[0].size
    noise = gaussian_sigma(SENSITIVITY * sqrt(columns), mu) / rows
    sums = moments(values)
    first, second = sums / rows + noise * rng.standard_normal(sums.shape)
    # posterior means under m ~ N(0, GUESS²) and v ~ N(GUESS², GUESS⁴)
    mean = np.clip(_shrunk(first, 0.0, GUESS, noise), -1.0, 1.0)
    variance = _shrunk(second - mean**2, GUESS**2, GUESS**2, sqrt(2.0) * noise)
    return Scale(mean, np.sqrt(np.clip(variance, SMALLEST**2, 1.0)))


class Standardised(NamedTuple):
    """A problem in private standard deviations: training rows, test inputs, and budgets."""

    X: Array
    y: Array
    X_test: Array
    target: Scale
    spent: float
    left: float

    def prediction(self, problem: Problem, output: Array) -> Prediction:
        """Return predictions in the target's own units."""
        unit = self.target.mean + self.target.std * output
        return Prediction(problem.centre + problem.half_width * unit)


def standardised(problem: Problem, X_test: Array, rng: np.random.Generator) -> Standardised:
    r"""Standardise inputs and target; μ that was spent and μ that is left add up in squares."""
    mu = mu_of_epsilon_delta(problem.epsilon, problem.delta)
    U, t = problem.unit_inputs(problem.X), problem.unit_targets
    inputs = private_scale(U, mu * sqrt(INPUT_SHARE), problem.neighbours, rng)
    target = private_scale(t, mu * sqrt(TARGET_SHARE), problem.neighbours, rng)
    share = INPUT_SHARE + TARGET_SHARE
    return Standardised(
        inputs.standardise(U),
        target.standardise(t),
        inputs.standardise(problem.unit_inputs(X_test)),
        target,
        mu * sqrt(share),
        mu * sqrt(1.0 - share),
    )


def _shrunk(value: Array, guess: float, spread: float, noise: float) -> Array:
    return guess + (value - guess) * spread**2 / (spread**2 + noise**2)
