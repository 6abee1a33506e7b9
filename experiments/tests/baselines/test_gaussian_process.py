import numpy as np
import pytest

from dpgp.regressor import PrivateGPRegressor
from dpgp_experiments.baselines import gaussian_process
from dpgp_experiments.baselines.gaussian_process import fit_non_private, fit_private
from dpgp_experiments.baselines.interface import Problem

BOUNDS, TARGET_BOUNDS = ((0.0, 10.0),), (-20.0, 20.0)


def wave(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 10.0, (n, 1))
    return X, 10.0 * np.sin(X[:, 0]) + rng.standard_normal(n)


def problem(n, epsilon):
    return Problem(*wave(n), BOUNDS, TARGET_BOUNDS, epsilon, 1e-5)


def test_ours_is_the_estimator_with_its_defaults():
    data, (X_test, y_test) = problem(500, 2.0), wave(100, seed=1)
    found = fit_private(data, X_test, np.random.default_rng(3))
    gp = PrivateGPRegressor(
        2.0, 1e-5, bounds=[*BOUNDS], target_bounds=TARGET_BOUNDS,
        random_state=np.random.default_rng(3),
    ).fit(data.X, data.y)  # fmt: skip
    np.testing.assert_array_equal(found.mean, gp.predict(X_test))
    np.testing.assert_array_equal(
        found.distribution.interval(0.9), gp.predict_interval(X_test, 0.9)
    )
    np.testing.assert_array_equal(
        found.distribution.log_density(y_test), gp.log_predictive_density(X_test, y_test)
    )


def test_the_ceiling_finds_the_function_and_its_noise(monkeypatch):
    monkeypatch.setattr(gaussian_process, "LEARNING_ROWS", 150)
    monkeypatch.setattr(gaussian_process, "CONDITIONING_ROWS", 300)
    monkeypatch.setattr(gaussian_process, "BATCH", 64)
    X_test, y_test = wave(400, seed=1)
    found = fit_non_private(problem(500, np.inf), X_test, np.random.default_rng(0))
    assert np.std(found.mean - y_test) < 1.15
    low, high = found.distribution.interval(0.95)
    assert np.mean((low <= y_test) & (y_test <= high)) == pytest.approx(0.95, abs=0.03)
