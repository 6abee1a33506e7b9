"""The private mean: one Gaussian for everybody, whatever the inputs."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dpgp.privacy.calibration import gaussian_sigma, mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp.types import Array
from dpgp_experiments.baselines.interface import Mixture, Prediction, Problem

SENSITIVITY = 2.0  # proof: `moments`


def moments(t: Array) -> Array:
    r"""Return :math:`\sum_i (t_i, t_i^2)` of values in [−1, 1], by columns where there are some.

    A row that is replaced moves it by at most 2: with :math:`s = t + t'` and :math:`d = t - t'`,
    :math:`|s| + |d| \le 2`, the square of the change is
    :math:`d^2(1 + s^2) \le d^2(1 + (2 - |d|)^2) \le 4`, attained by :math:`t = -t' = 1`. So the
    second moment comes free.
    """
    return np.array([t.sum(axis=0), (t**2).sum(axis=0)])


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict N(m, v) everywhere, from the noisy mean and second moment of the targets.

    The number of rows is public: one row is replaced. The variance v is kept at or above the
    noise of the second moment, below which it cannot be told from zero.
    """
    if problem.neighbours is not Neighbours.REPLACE:
        raise ValueError("`neighbours` must be 'replace' for the private mean: it divides by n.")
    n = len(problem.y)
    mu = mu_of_epsilon_delta(problem.epsilon, problem.delta)
    noise = gaussian_sigma(SENSITIVITY, mu) / n
    mean, second_moment = moments(problem.unit_targets) / n + noise * rng.standard_normal(2)
    mean = float(np.clip(mean, -1.0, 1.0))
    variance = float(np.clip(second_moment - mean**2, noise, 1.0))
    spread = sqrt(variance + noise**2)
    means = np.full(len(X_test), problem.centre + problem.half_width * mean)
    return Prediction(means, Mixture.gaussian(means, problem.half_width * spread))
