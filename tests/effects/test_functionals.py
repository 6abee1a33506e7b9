"""Averages, differences and slopes are those of the joint posterior."""

import numpy as np
import pytest
from effect_models import fitted
from numpy.testing import assert_allclose

from dpgp.arithmetic import NUMPY
from dpgp.effects.functionals import Averages, estimate, missed_variances
from dpgp.kernels.formula import mean_gram, specify

ROWS = np.random.default_rng(1).uniform(0, 10, (6, 2))


def joint(model, X):
    """Mean and covariance of f at the rows of X."""
    return model.predict(X, return_cov=True, latent=True)


@pytest.mark.parametrize("name", ["two", "own kernel", "exported kernel"])
def test_a_weighted_sum_has_the_moments_of_the_joint_posterior(name):
    model, weights = fitted(name), np.array([0.5, -2.0, 1.0])
    asked = Averages(ROWS.reshape(2, 1, 3, 2), weights)
    found = estimate(model, 0, asked, asked, 0.9)
    mean, covariance = joint(model, ROWS)
    for q, part in enumerate((slice(0, 3), slice(3, 6))):
        assert found.mean[q] == pytest.approx(weights @ mean[part])
        expected = np.sqrt(weights @ covariance[part, part] @ weights)
        assert found.std[q] == pytest.approx(expected, rel=1e-6)


def test_intervals_are_those_of_predictions():
    model = fitted("two")
    asked = Averages(ROWS[:, None, None], np.ones(1))
    found = estimate(model, 0, asked, asked, 0.8)
    lower, upper = model.predict_interval(ROWS, 0.8, latent=True)
    assert_allclose(found.lower, lower)
    assert_allclose(found.upper, upper)


def test_an_average_over_rows_knows_that_they_are_a_sample():
    model = fitted("two")
    asked = Averages(ROWS[None, :, None], np.ones(1))
    found = estimate(model, 0, asked, asked, 0.95)
    mean, covariance = joint(model, ROWS)
    assert found.mean[0] == pytest.approx(mean.mean())
    expected = covariance.mean() + mean.var() / 600
    assert found.std[0] == pytest.approx(np.sqrt(expected), rel=1e-6)


def test_the_missing_covariance_is_the_posteriors():
    model = fitted("three")
    (posterior,) = model.posteriors
    U = np.random.default_rng(2).uniform(-1, 1, (300, 3))
    features, tree = posterior.features, specify(posterior.kernel, posterior.thetas[:, :-1])
    a, Z = features.evaluate(U).T @ features.projection, features.anchors
    K_uz, K_zz = mean_gram(tree, U, Z, NUMPY), mean_gram(tree, Z, Z, NUMPY)
    R = mean_gram(tree, U, U, NUMPY) - K_uz @ a.T - a @ K_uz.T + a @ K_zz @ a.T
    assert_allclose(posterior.missing_covariance(U), R, atol=1e-12)
    variances = missed_variances(posterior, U[:, None], np.ones(1))
    assert_allclose(variances, posterior.missing_variance(U), atol=1e-12)
    pairs, weights = U.reshape(150, 2, 3), np.array([1.0, -2.0])
    expected = [weights @ R[k : k + 2, k : k + 2] @ weights for k in range(0, 300, 2)]
    assert_allclose(missed_variances(posterior, pairs, weights), expected, atol=1e-12)


def test_no_difference_has_no_uncertainty():
    model = fitted("one")
    effect = model.contrast([[3.0]], [[3.0]])
    assert_allclose([effect.mean[0], effect.lower[0], effect.upper[0]], 0.0, atol=1e-6)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 95])
def test_a_coverage_is_a_probability(coverage):
    with pytest.raises(ValueError, match="`coverage` must lie strictly between 0 and 1"):
        fitted("one").contrast([[3.0]], [[4.0]], coverage)
