import numpy as np
import pytest

from dpgp.privacy.calibration import mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp_experiments.baselines.interface import Problem
from dpgp_experiments.baselines.mean import SENSITIVITY, fit_predict, moments


def problem(y, epsilon=1.0, **options):
    X = np.zeros((len(y), 1))
    return Problem(
        X, np.asarray(y, float), ((-1.0, 1.0),), (100.0, 200.0), epsilon, 1e-5, **options
    )


def test_sensitivity_is_never_exceeded_and_attained():
    t = np.linspace(-1.0, 1.0, 201)
    sums = np.array([moments(np.array([value])) for value in t])
    changes = np.linalg.norm(sums[:, None] - sums[None], axis=2)
    assert changes.max() <= SENSITIVITY
    assert changes[0, -1] == SENSITIVITY


def test_noise_is_that_of_the_mechanism():
    n, mu = 50_000, mu_of_epsilon_delta(1.0, 1e-5)
    data = problem(np.full(n, 160.0))
    means = [fit_predict(data, data.X[:1], np.random.default_rng(k)).mean[0] for k in range(500)]
    assert np.std(means) == pytest.approx(50.0 * 2.0 / (mu * n), rel=0.12)


def test_without_privacy_it_is_the_mean_and_the_spread():
    y = np.random.default_rng(0).normal(150.0, 10.0, 20_000)
    found = fit_predict(problem(y, np.inf), np.zeros((3, 1)), np.random.default_rng(0))
    np.testing.assert_allclose(found.mean, y.mean())
    low, high = found.distribution.interval(0.95)
    assert np.mean((low[0] <= y) & (y <= high[0])) == pytest.approx(0.95, abs=0.01)


def test_few_rows_still_give_a_distribution():
    found = fit_predict(problem([150.0, 160.0], 0.1), np.zeros((1, 1)), np.random.default_rng(1))
    assert np.isfinite(found.distribution.log_density(np.array([150.0]))).all()
    assert 100.0 <= found.mean[0] <= 200.0


def test_other_neighbours_are_refused():
    data = problem([150.0, 160.0], neighbours=Neighbours.ADD_REMOVE)
    with pytest.raises(ValueError, match="replace"):
        fit_predict(data, data.X, np.random.default_rng(0))
