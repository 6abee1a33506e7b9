"""Gaussian processes: ours with its defaults, and an ordinary one without privacy."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from dpgp.regressor import PrivateGPRegressor
from dpgp.types import Array
from dpgp_experiments.baselines.interface import Mixture, Prediction, Problem

LEARNING_ROWS = 1000  # the evidence costs n³, again and again
CONDITIONING_ROWS = 4000  # n³ once
BATCH = 2000  # predictions at a time, for memory


@dataclass(frozen=True)
class Ours:
    """Densities and calibrated intervals of a fitted estimator at the test rows."""

    model: PrivateGPRegressor
    X: Array

    def log_density(self, y: Array) -> Array:
        """Return the log density of every observation under its own prediction."""
        return self.model.log_predictive_density(self.X, y)

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """Return lower and upper ends of the calibrated intervals."""
        return self.model.predict_interval(self.X, coverage)


def fit_private(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict by ``PrivateGPRegressor``: bounds and a guarantee, and no other setting."""
    model = PrivateGPRegressor(
        problem.epsilon,
        problem.delta,
        bounds=list(problem.bounds),
        target_bounds=problem.target_bounds,
        neighbours=problem.neighbours.value,
        random_state=rng,
        n_jobs=1,
    ).fit(problem.X, problem.y)
    return Prediction(model.predict(X_test), Ours(model, X_test))


def fit_non_private(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict by an exact Gaussian process with a length scale for each input; not private.

    Hyperparameters maximise the evidence of at most 1,000 rows; at most 4,000 are conditioned on.
    """
    scale = np.std(problem.X, axis=0)
    centre, spread = float(np.mean(problem.y)), float(np.std(problem.y))
    order = rng.permutation(len(problem.y))[:CONDITIONING_ROWS]
    X, t = problem.X[order] / scale, (problem.y[order] - centre) / spread
    kernel = _learn_kernel(X[:LEARNING_ROWS], t[:LEARNING_ROWS])
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(X, t)
    batches = np.array_split(X_test / scale, -(-len(X_test) // BATCH))
    parts = [model.predict(batch, return_std=True) for batch in batches]
    mean, std = (np.concatenate(part) for part in zip(*parts, strict=True))
    mean = centre + spread * mean
    return Prediction(mean, Mixture.gaussian(mean, spread * std))


def _learn_kernel(X: Array, t: Array) -> object:
    # standardised columns: from far finer than the rows to as good as constant
    lengths = RBF(np.ones(X.shape[1]), (1e-2, 1e3))
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * lengths + WhiteKernel(0.1, (1e-5, 10.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an input that does not matter
        return GaussianProcessRegressor(kernel).fit(X, t).kernel_
