import numpy as np
import pytest

from dpgp.privacy.calibration import mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp_experiments.baselines.boosting import (
    fit_non_private,
    fit_private,
    offered_epsilon,
    offered_mu,
)
from dpgp_experiments.baselines.interface import Problem

DELTA = 1e-5


def additive(epsilon, n=3000):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 10.0, (n, 2))
    y = 100.0 + 20.0 * np.sin(X[:, 0]) + 2.0 * X[:, 1] + rng.standard_normal(n)
    return Problem(X, y, ((0.0, 10.0), (0.0, 10.0)), (70.0, 150.0), epsilon, DELTA)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_two_rows_use_all_of_the_budget_and_no_more(epsilon):
    asked = offered_epsilon(epsilon, DELTA, Neighbours.REPLACE)
    target = mu_of_epsilon_delta(epsilon, DELTA)
    assert 2 * offered_mu(asked, DELTA) <= target
    assert 2 * offered_mu(asked, DELTA) == pytest.approx(target, rel=1e-6)
    assert 0.4 * epsilon < asked < offered_epsilon(epsilon, DELTA, Neighbours.ADD_REMOVE)


def test_one_row_may_use_what_the_package_leaves():
    asked = offered_epsilon(1.0, DELTA, Neighbours.ADD_REMOVE)
    assert asked == 1.0
    assert offered_mu(asked, DELTA) <= mu_of_epsilon_delta(1.0, DELTA)


@pytest.mark.baselines
def test_the_package_draws_as_much_noise_as_we_count():
    from interpret.privacy import DPExplainableBoostingRegressor

    data = additive(1.0, n=500)
    model = DPExplainableBoostingRegressor(
        feature_types=["continuous"] * 2, epsilon=0.7, delta=DELTA, n_jobs=1,
        privacy_bounds=np.tile([0.0, 10.0], (2, 1)), privacy_target_min=70, privacy_target_max=150,
    ).fit(data.X, data.y)  # fmt: skip
    histograms = np.sqrt(2) / model.noise_scale_binning_
    steps = model.max_rounds * 2
    boosting = np.sqrt(steps) * 80.0 * model.learning_rate / model.noise_scale_boosting_
    assert np.hypot(histograms, boosting) == pytest.approx(offered_mu(0.7, DELTA), rel=1e-5)


@pytest.mark.baselines
def test_the_package_is_asked_for_less(monkeypatch):
    import interpret.privacy

    asked = {}

    class Recorder:
        def __init__(self, **options):
            asked.update(options)

        def fit(self, X, y):
            asked.update(low=X.min(), high=X.max())

        def predict(self, X):
            return np.zeros(len(X))

    monkeypatch.setattr(interpret.privacy, "DPExplainableBoostingRegressor", Recorder)
    found = fit_private(additive(1.0), np.zeros((4, 2)), np.random.default_rng(0))
    np.testing.assert_array_equal(found.mean, 110.0)
    assert asked["epsilon"] == offered_epsilon(1.0, DELTA, Neighbours.REPLACE)
    assert (asked["privacy_target_min"], asked["privacy_target_max"]) == (-1.0, 1.0)
    assert -1.0 <= asked["low"] < asked["high"] <= 1.0


@pytest.mark.baselines
def test_private_boosting_is_repeatable_and_learns():
    data, X_test = additive(10.0), additive(1.0, 500).X
    first, again = (fit_private(data, X_test, np.random.default_rng(1)).mean for _ in range(2))
    other = fit_private(data, X_test, np.random.default_rng(2)).mean
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.std(first - additive(1.0, 500).y) < 0.7 * np.std(data.y)


def test_ordinary_boosting_does_better_than_a_tenth_of_the_spread():
    data = additive(np.inf)
    found = fit_non_private(data, data.X, np.random.default_rng(0))
    assert found.distribution is None
    assert np.std(found.mean - data.y) < 0.1 * np.std(data.y)
