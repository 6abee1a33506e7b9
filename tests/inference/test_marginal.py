import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from dpgp.inference.hyperparameters import Proposal, integrate

WIDE = Proposal(np.array([0.5, -1.0, 0.0]), np.diag([1.0, 2.0, 1.5]) ** 2)


def gaussian(mean, covariance, log_mass=0.0):
    target = multivariate_normal(mean, covariance)
    return lambda thetas: target.logpdf(thetas) + log_mass


def test_a_proposal_is_a_gaussian():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    proposal = Proposal(rng.normal(size=3), root @ root.T + np.eye(3))
    thetas = rng.normal(size=(7, 3))
    expected = multivariate_normal(proposal.mean, proposal.covariance).logpdf(thetas)
    np.testing.assert_allclose(proposal.log_density(thetas), expected)
    points = proposal.points(4000, 0)
    np.testing.assert_allclose(points.mean(axis=0), proposal.mean, atol=0.05)
    scale = np.abs(proposal.covariance).max()
    np.testing.assert_allclose(np.cov(points.T), proposal.covariance, atol=0.05 * scale)


def test_points_are_the_same_at_every_call_and_go_on_after_a_skip():
    np.testing.assert_array_equal(WIDE.points(10, 0), WIDE.points(10, 0))
    np.testing.assert_allclose(WIDE.points(10, 0)[5:], WIDE.points(5, 5))
    assert np.isfinite(WIDE.points(100, 0)).all()


@pytest.mark.parametrize("narrow", [1.0, 0.2, 0.05])
def test_a_gaussian_integral_is_exact_enough(narrow):
    mean = np.array([0.8, -2.0, 0.4])
    root = np.array([[1.0, 0.0, 0.0], [0.7, 0.7, 0.0], [-0.3, 0.1, 0.9]]) * narrow
    covariance = root @ root.T
    points, fitted = integrate(gaussian(mean, covariance, -3.7), [WIDE], 96, 4)
    sds = np.sqrt(np.diag(covariance))
    assert points.log_integral == pytest.approx(-3.7, abs=0.15)
    assert points.weights.sum() == pytest.approx(1.0)
    found = points.weights @ points.thetas
    np.testing.assert_allclose(found, mean, atol=0.15 * sds.max())
    centred = points.thetas - found
    ratio = np.sqrt(points.weights @ centred**2) / sds
    np.testing.assert_allclose(ratio, 1.0, atol=0.15)
    np.testing.assert_allclose(fitted.mean, mean, atol=0.2 * sds.max())


def test_integrals_sharpen_with_more_points():
    target = gaussian(np.array([0.8, -2.0, 0.4]), 0.3 * np.eye(3))
    errors = [abs(integrate(target, [WIDE], count, 2)[0].log_integral) for count in (30, 2000)]
    assert errors[1] < min(0.02, errors[0] + 0.01)


def test_both_modes_of_a_bimodal_density_keep_their_mass():
    one, two = gaussian([-1.0, 0.0], 0.05 * np.eye(2)), gaussian([1.2, 0.5], 0.1 * np.eye(2))

    def log_density(thetas):
        return logsumexp([np.log(0.3) + one(thetas), np.log(0.7) + two(thetas)], axis=0)

    wide = Proposal(np.zeros(2), np.eye(2))
    points, _ = integrate(log_density, [wide], 200, 2)
    left = points.weights[points.thetas[:, 0] < 0].sum()
    assert left == pytest.approx(0.3, abs=0.05)
    assert points.log_integral == pytest.approx(0.0, abs=0.1)


def test_a_far_better_second_proposal_does_not_bias():
    target = gaussian(np.array([2.0, 2.0, 2.0]), 0.1 * np.eye(3))
    second = Proposal(np.full(3, 2.0), 0.12 * np.eye(3))
    points, _ = integrate(target, [WIDE, second], 96, 1)
    assert points.log_integral == pytest.approx(0.0, abs=0.1)


def test_values_that_are_not_numbers_have_no_weight():
    target = gaussian(np.zeros(3), np.eye(3))

    def log_density(thetas):
        return np.where(thetas[:, 0] > 0.5, np.nan, target(thetas))

    points, fitted = integrate(log_density, [WIDE], 96, 2)
    assert points.weights[points.thetas[:, 0] > 0.5].sum() == 0.0
    assert np.isfinite(fitted.mean).all()
    assert np.isfinite(points.log_integral)


def test_a_needle_leaves_a_proposal_of_full_rank():
    points, fitted = integrate(gaussian(WIDE.mean, 1e-10 * np.eye(3)), [WIDE], 20, 1)
    np.linalg.cholesky(fitted.covariance)
    assert np.isfinite(points.weights).all()
