import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from dpgp_experiments.baselines.interface import Problem
from dpgp_experiments.baselines.logistic import CURVATURE, fit_predict, perturbation, rows


def problem(epsilon, n=4000):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (n, 2))
    y = (rng.random(n) < expit(X[:, 0] - 5)).astype(float)
    return Problem(X, y, ((0.0, 10.0), (0.0, 10.0)), (0.0, 1.0), epsilon, 1e-6)


def test_rows_have_a_norm_of_at_most_one_and_reach_it():
    given = problem(1.0)
    corners = np.array([[0.0, 0.0], [10.0, 10.0], [99.0, -5.0], [5.0, 5.0]])
    norms = np.linalg.norm(rows(given, corners), axis=1)
    assert norms[:3] == pytest.approx(1.0)
    assert norms[3] < 1.0


def test_with_hardly_any_noise_it_is_logistic_regression():
    given = problem(1e6)
    Z = rows(given, given.X)
    exact = LogisticRegression(fit_intercept=False, C=1.0, tol=1e-8).fit(Z, given.y)
    p = fit_predict(given, given.X, np.random.default_rng(0)).mean
    assert p == pytest.approx(exact.predict_proba(Z)[:, 1], abs=1e-3)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 10.0])
def test_the_noise_is_that_of_the_algorithm(epsilon):
    n = 1000
    lam, rate = perturbation(epsilon, n)
    spent = np.log(1 + 2 * CURVATURE / (n * lam) + (CURVATURE / (n * lam)) ** 2)
    # the Jacobian and the noise together: at most ε
    assert spent + 2 * rate <= epsilon * (1 + 1e-9)


def test_more_privacy_is_more_error():
    losses = []
    for epsilon in (0.05, 10.0):
        given = problem(epsilon)
        ps = [fit_predict(given, given.X, np.random.default_rng(k)).mean for k in range(5)]
        losses.append(np.mean([(p - expit(given.X[:, 0] - 5)) ** 2 for p in ps]))
    assert losses[0] > 2 * losses[1]
