"""Where f may depend on no input, evidence decides between that and all other functions."""

import numpy as np
import pytest
from scipy.stats import norm

from dpgp.inference.hyperparameters import WeightedPoints
from dpgp.inference.many import families, final
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.families import LENGTH_SD, LOG_SD_OF_SDS, KernelFamily, MetricFamily
from dpgp.inference.many.records import Record, operator_of, read_records
from dpgp.inference.many.target import Centre, Target
from dpgp.kernels.stationary import RBF
from dpgp.outcomes import Location

SYNTHETIC = np.random.default_rng(0).uniform(-1, 1, (1024, 4))
NONE = np.zeros(1024)
FAMILY = MetricFamily(1.2 * np.eye(4), 0.8 * np.eye(4))
DICTIONARY = Dictionary(FAMILY, SYNTHETIC[:60], SYNTHETIC)
TARGET = Target(Location(0.0, 0.5), 100.0, 1.0, Centre(NONE, NONE), None, FAMILY.start)


def share_of_nothing(f, noise):
    """Return how many of the θ that are kept say that nothing depends on the inputs."""
    rng = np.random.default_rng(1)
    H = operator_of(np.column_stack([np.ones(1024), SYNTHETIC, SYNTHETIC**2]) / 3, np.eye(9))
    record = Record(H, H @ f(SYNTHETIC) + noise * rng.normal(size=9), np.full(9, noise**2), NONE)
    equations = read_records([record], DICTIONARY, NONE, NONE, 0.0)
    points = final._integrate(equations, TARGET, DICTIONARY)
    nothing, _ = FAMILY.without_inputs(TARGET.theta)
    return points.weights @ np.all(points.thetas == nothing, axis=1)


def test_a_constant_is_found_where_nothing_depends_on_the_inputs():
    assert share_of_nothing(lambda X: 0.0 * X[:, 0], 0.03) > 0.5
    assert share_of_nothing(lambda X: 0.3 + 0.0 * X[:, 0], 0.03) > 0.5
    assert share_of_nothing(lambda X: X[:, 0], 0.03) == 0.0


def test_only_the_constant_is_left_of_f():
    theta, probability = FAMILY.without_inputs(FAMILY.start)
    assert probability == families.PRIOR_OF_NOTHING
    C = DICTIONARY.priors.at(theta, 1.0)
    values = DICTIONARY.features.evaluate(SYNTHETIC[:50]).T
    covariance = values @ C @ values.T
    contrast = np.diag(covariance) + covariance[0, 0] - 2 * covariance[0]
    assert np.all(contrast[1:] < 0.01)  # of f between two rows, in squared sds of the target
    assert covariance[0, 0] == pytest.approx(0.25, abs=0.02)


def test_probabilities_are_those_of_bayes():
    points = WeightedPoints(np.array([[0.0], [1.0]]), np.array([0.25, 0.75]), -3.0)
    mixed = final._or_else(points, np.array([9.0]), -2.0, 0.2)
    joint = np.array([0.8 * np.exp(-3.0) * 0.25, 0.8 * np.exp(-3.0) * 0.75, 0.2 * np.exp(-2.0)])
    np.testing.assert_allclose(mixed.weights, joint / joint.sum())
    np.testing.assert_array_equal(mixed.thetas[:, 0], [0.0, 1.0, 9.0])
    assert mixed.log_integral == pytest.approx(np.log(joint.sum()))


def test_the_prior_of_the_parts_is_a_density():
    theta = FAMILY.start + 0.3
    sds = np.append(np.full(len(theta) - 1, LOG_SD_OF_SDS), LENGTH_SD)
    assert FAMILY.log_prior(theta) == pytest.approx(norm.logpdf(0.3, 0.0, sds).sum())


def test_a_kernel_that_was_asked_for_is_believed():
    family = KernelFamily.of([RBF(np.ones(4))], 4)
    assert family.without_inputs(family.start)[1] == 0.0
    points = WeightedPoints(np.zeros((1, 1)), np.ones(1), -3.0)
    assert final._or_else(points, np.zeros(1), 5.0, 0.0) is points
