"""Ordinary gradient boosting, without privacy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from dpgp.types import Array
from dpgp_experiments.baselines.interface import Prediction, Problem


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict by gradient boosting, stopped early on a tenth of the training rows; not private."""
    model = HistGradientBoostingRegressor(
        learning_rate=0.05,  # half the package's, as early stopping finds the number of trees
        max_iter=2000,
        early_stopping=True,
        n_iter_no_change=20,
        random_state=int(rng.integers(2**31)),
    )
    with threadpool_limits(1, user_api="openmp"):  # threads that wait for each other are slower
        mean = model.fit(problem.X, problem.y).predict(X_test)
    return Prediction(np.asarray(mean))


def fit_classes(
    X: Array, y: NDArray[np.int64], classes: int, new: Array, rng: np.random.Generator
) -> Array:
    """Return probabilities of all classes, 0 of those with a row at most; not private."""
    found, rows = np.unique(y, return_counts=True)
    enough = found[rows > 1]  # to be among the rows that stop early, and among the others
    kept = np.isin(y, enough)
    model = HistGradientBoostingClassifier(
        learning_rate=0.05, early_stopping=True, random_state=int(rng.integers(2**31))
    )
    P = np.zeros((len(new), classes))
    with threadpool_limits(1, user_api="openmp"):
        P[:, enough] = model.fit(X[kept], y[kept]).predict_proba(new)
    return P
