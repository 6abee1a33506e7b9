from itertools import product

import numpy as np
import pytest

from dpgp.privacy.calibration import mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp_experiments.baselines.adassp import (
    EIGENVALUE_SENSITIVITY,
    adassp,
    cross_sensitivity,
    fit_linear,
    fit_quadratic,
    linear_features,
    quadratic_features,
    symmetric_noise,
)
from dpgp_experiments.baselines.interface import Problem

REPLACE, ADD_REMOVE = Neighbours.REPLACE, Neighbours.ADD_REMOVE


def lowest(Phi):
    return np.linalg.eigvalsh(Phi.T @ Phi)[0]


def unit_rows(rng, n, d):
    rows = rng.standard_normal((n, d))
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize(("features", "count"), [(linear_features, 4), (quadratic_features, 10)])
def test_features_have_norm_at_most_one_and_one_in_a_corner(features, count):
    inside = np.random.default_rng(0).uniform(-1.0, 1.0, (500, 3))
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))
    assert features(inside).shape == (500, count)
    assert np.linalg.norm(features(inside), axis=1).max() <= 1.0
    np.testing.assert_allclose(np.linalg.norm(features(corners), axis=1), 1.0, rtol=1e-14)


def test_quadratic_features_are_all_monomials():
    (row,) = quadratic_features(np.array([[0.5, -0.2]])) * np.sqrt(6)
    np.testing.assert_allclose(sorted(row), sorted([1, 0.5, -0.2, 0.25, -0.1, 0.04]))


def test_eigenvalue_moves_by_no_more_than_its_sensitivity():
    rng = np.random.default_rng(0)
    for n, d in product((1, 2, 5, 30), (1, 2, 4)):
        for _ in range(200):
            Phi, row = unit_rows(rng, n, d), unit_rows(rng, 1, d)
            replaced = np.vstack([Phi[1:], row])
            added = np.vstack([Phi, row])
            changes = lowest(Phi) - lowest(replaced), lowest(Phi) - lowest(added)
            assert np.max(np.abs(changes)) <= EIGENVALUE_SENSITIVITY + 1e-12
    assert lowest(np.eye(2)) - lowest(np.eye(2)[[0, 0]]) == EIGENVALUE_SENSITIVITY


def test_cross_moments_move_by_no_more_than_their_sensitivity():
    rng = np.random.default_rng(1)
    before, after = (unit_rows(rng, 4000, 3) * rng.uniform(-1, 1, (4000, 1)) for _ in range(2))
    assert np.linalg.norm(before - after, axis=1).max() <= cross_sensitivity(REPLACE)
    assert np.linalg.norm(before, axis=1).max() <= cross_sensitivity(ADD_REMOVE)
    corner = linear_features(np.ones((1, 2)))
    attained = np.linalg.norm(corner * 1.0 - corner * -1.0)
    assert attained == pytest.approx(cross_sensitivity(REPLACE), rel=1e-14)


def test_noise_of_the_cross_moments_is_a_third_of_the_budget():
    n, mu = 10**6, mu_of_epsilon_delta(1.0, 1e-5)
    Phi, t = np.full((1, 1), np.sqrt(n)), np.zeros(1)
    theta = [adassp(Phi, t, 1.0, 1e-5, REPLACE, np.random.default_rng(k))[0] for k in range(600)]
    assert np.std(theta) * n == pytest.approx(2.0 * np.sqrt(3) / mu, rel=0.12)


def test_noise_of_the_gram_matrix_has_the_same_size_in_every_direction():
    rng = np.random.default_rng(0)
    draws = np.array([symmetric_noise(3, rng) for _ in range(20_000)])
    np.testing.assert_array_equal(draws, draws.transpose(0, 2, 1))
    expected = np.full((3, 3), np.sqrt(0.5)) + (1 - np.sqrt(0.5)) * np.eye(3)
    np.testing.assert_allclose(draws.std(axis=0), expected, rtol=0.03)


def polynomial(rng, n):
    X = rng.uniform([0.0, 10.0], [4.0, 30.0], (n, 2))
    return X, 50.0 + 3.0 * X[:, 0] - 0.02 * (X[:, 1] - 20) ** 2


@pytest.mark.parametrize(("epsilon", "tolerance"), [(np.inf, 1e-9), (3.0, 0.5)])
def test_quadratic_finds_a_polynomial(epsilon, tolerance):
    rng = np.random.default_rng(0)
    X, y = polynomial(rng, 20_000)
    data = Problem(X, y, ((0.0, 4.0), (10.0, 30.0)), (20.0, 80.0), epsilon, 1e-5)
    X_test, y_test = polynomial(rng, 200)
    quadratic, linear = (fit(data, X_test, rng) for fit in (fit_quadratic, fit_linear))
    assert quadratic.distribution is None
    assert np.abs(quadratic.mean - y_test).max() < tolerance
    assert np.abs(linear.mean - y_test).max() > 0.5


def test_few_rows_are_shrunk_not_blown_up():
    rng = np.random.default_rng(0)
    X, y = polynomial(rng, 100)
    data = Problem(X, y, ((0.0, 4.0), (10.0, 30.0)), (20.0, 80.0), 0.1, 1e-5)
    means = [fit_quadratic(data, X, np.random.default_rng(k)).mean for k in range(50)]
    assert np.quantile(np.abs(np.array(means) - 50.0), 0.95) < 30.0  # 300 without the ridge
