"""DP-EBM: private boosting of one function for each input, by the package ``interpret``.

Nori et al. (2021), "Accuracy, interpretability, and differential privacy via explainable boosting".
A test in ``experiments/tests/baselines`` shows that a row can move it further than its noise is
scaled to, so what it promises does not hold; and its noise is for a row added or removed, which is
less than others here pay for a row replaced. It is run for its error alone.
"""

from __future__ import annotations

import warnings

import numpy as np

from dpgp.types import Array
from dpgp_experiments.baselines.interface import Prediction, Problem


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict with the package's settings and the problem's bounds; no distribution."""
    from interpret.privacy import DPExplainableBoostingRegressor

    low, high = problem.target_bounds
    model = DPExplainableBoostingRegressor(
        feature_types=["continuous"] * len(problem.bounds),
        epsilon=problem.epsilon,
        delta=problem.delta,
        privacy_bounds=np.array(problem.bounds),
        privacy_target_min=low,
        privacy_target_max=high,
        random_state=int(rng.integers(2**31)),
        n_jobs=1,
    )
    inside = np.clip(problem.X, *np.array(problem.bounds).T)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Privacy violation: using a fixed random_state")
        model.fit(inside, np.clip(problem.y, low, high))
    return Prediction(np.asarray(model.predict(np.clip(X_test, *np.array(problem.bounds).T))))
