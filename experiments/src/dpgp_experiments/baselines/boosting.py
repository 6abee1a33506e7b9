"""Boosted trees: DP-EBM of the package ``interpret-core``, and ordinary gradient boosting.

DP-EBM (Nori et al. 2021) is a sum of functions of one input each. Its noise is scaled to one row
added or removed, while its number of rows is public. We ask it for less, such that what is promised
holds for one row replaced (see :func:`offered_epsilon`).
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import brentq
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from dpgp.privacy.calibration import compose, mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp_experiments.baselines.interface import Array, Prediction, Problem

BINNING_SHARE = 0.1  # the package's default share of ε for its histograms


def offered_mu(epsilon: float, delta: float) -> float:
    """Return the μ of all that DP-EBM draws when it is asked for (ε, δ), one row more or less.

    Histograms get (0.1 ε, δ/2) and boosting (0.9 ε, δ/2); either is a sequence of Gaussian
    mechanisms, calibrated as one in Gaussian DP.
    """
    histograms = mu_of_epsilon_delta(BINNING_SHARE * epsilon, delta / 2)
    boosting = mu_of_epsilon_delta((1 - BINNING_SHARE) * epsilon, delta / 2)
    return compose([histograms, boosting])


def offered_epsilon(epsilon: float, delta: float, neighbours: Neighbours) -> float:
    """Return the ε to ask DP-EBM for, at the same δ, such that (ε, δ) holds for the neighbours.

    A replaced row is one removed and one added, so what is μ-GDP for these is 2μ-GDP for it (Dong,
    Roth & Su 2022, theorem 2.14). Adding up μ instead of ε gives back what the package's own
    composition of its two parts leaves unused.
    """
    rows = 2 if neighbours is Neighbours.REPLACE else 1
    target = mu_of_epsilon_delta(epsilon, delta) / rows
    if offered_mu(epsilon, delta) <= target:
        return epsilon
    # looked for from far below any answer; the root is left on the private side
    root = brentq(lambda asked: offered_mu(asked, delta) - target, 1e-3 * epsilon, epsilon)
    return (1.0 - 1e-9) * float(root)


def fit_private(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict by DP-EBM with the package's own settings; no distribution."""
    from interpret.privacy import DPExplainableBoostingRegressor

    D = problem.X.shape[1]
    model = DPExplainableBoostingRegressor(
        feature_types=["continuous"] * D,
        epsilon=offered_epsilon(problem.epsilon, problem.delta, problem.neighbours),
        delta=problem.delta,
        bin_budget_frac=BINNING_SHARE,
        privacy_bounds=np.tile([-1.0, 1.0], (D, 1)),
        privacy_target_min=-1.0,
        privacy_target_max=1.0,
        random_state=int(rng.integers(2**31)),
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Privacy violation: using a fixed random_state")
        model.fit(problem.unit_inputs(problem.X), problem.unit_targets)
    mean = model.predict(problem.unit_inputs(X_test))
    return Prediction(problem.centre + problem.half_width * np.asarray(mean))


def fit_non_private(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
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
