"""Ordinary boosting learns; and why DP-EBM is not among the private methods."""

import warnings

import numpy as np
import pytest

from dpgp_experiments.baselines.boosting import fit_predict
from dpgp_experiments.baselines.interface import Problem


def additive(n=3000):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 10.0, (n, 2))
    y = 100.0 + 20.0 * np.sin(X[:, 0]) + 2.0 * X[:, 1] + rng.standard_normal(n)
    return Problem(X, y, ((0.0, 10.0), (0.0, 10.0)), (70.0, 150.0), np.inf, 1e-5)


def test_it_does_better_than_a_tenth_of_the_spread():
    data = additive()
    found = fit_predict(data, data.X, np.random.default_rng(0))
    assert found.distribution is None
    assert np.std(found.mean - data.y) < 0.1 * np.std(data.y)


ROUNDS, STEP, WIDTH = 20, 0.5, 2.0


@pytest.mark.baselines
def test_a_row_moves_dp_ebm_further_than_its_noise_is_scaled_to():
    """Its noise is for residuals within the width of the target's bounds; they are not cut to it.

    Targets are all 0 in [−1, 1]. One row more in a bin may move the bin's score by ROUNDS times
    STEP times WIDTH over the bin's noisy weight, which is the same in both fits. A score that noise
    has taken out of the bounds is moved much further.
    """
    without, one_more = (_dp_ebm(rows) for rows in (0, 1))
    assert without.bin_weights_[0][1] == one_more.bin_weights_[0][1]
    place = np.array([[-0.7]])
    moved = abs(without.predict(place) - one_more.predict(place))[0]
    allowed = ROUNDS * STEP * WIDTH / without.bin_weights_[0][1]
    assert moved > 20.0 * allowed  # 59 times with interpret-core 0.7.8


def _dp_ebm(rows_left):
    from interpret.privacy import DPExplainableBoostingRegressor

    model = DPExplainableBoostingRegressor(
        feature_types=["continuous"], epsilon=0.01, delta=1e-5, bin_budget_frac=0.5, max_bins=3,
        privacy_bounds=np.array([[-1.0, 1.0]]), privacy_target_min=-1.0, privacy_target_max=1.0,
        max_rounds=ROUNDS, learning_rate=STEP, random_state=1, n_jobs=1,
    )  # fmt: skip
    X = np.where(np.arange(100) < rows_left, -0.7, 0.7)[:, None]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Privacy violation: using a fixed random_state")
        return model.fit(X, np.zeros(100))
