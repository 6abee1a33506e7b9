"""HM21 Algorithm 1 as a method of the comparison, for any number of inputs."""

import numpy as np
import pytest

from dpgp_experiments.baselines import hm21
from dpgp_experiments.baselines.hm21 import Reading
from dpgp_experiments.baselines.interface import Problem


def _problem(columns=2, epsilon=3.0, rows=3000):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 10.0, (rows, columns))
    y = 100.0 + 4.0 * X[:, 0] + rng.standard_normal(rows)
    return Problem(X, y, ((0.0, 10.0),) * columns, (70.0, 170.0), epsilon, 1e-5)


def _fit_predict(problem, **reading):
    rng = np.random.default_rng(1)
    return hm21.fit_predict(problem, problem.X, rng, Reading(**reading))


@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_it_predicts_in_the_units_of_the_target(columns):
    problem = _problem(columns)
    found = _fit_predict(problem)
    assert np.sqrt(np.mean((found.mean - problem.y) ** 2)) < 0.9 * np.std(problem.y)
    low, high = found.distribution.interval(0.95)
    assert 0.8 < np.mean((low <= problem.y) & (problem.y <= high)) <= 1.0


def test_points_are_the_papers_grid_or_low_discrepancy():
    assert len(hm21.inducing_points(2, 4.0)) == 9
    assert len(hm21.inducing_points(3, 4.0)) == 27
    assert hm21.inducing_points(8, 4.0).shape == (27, 8)
    assert np.abs(hm21.inducing_points(2, 4.0)).max() == 4.0


def test_kernel_is_the_papers():
    kernel = hm21.kernel(2)
    assert kernel(np.zeros((1, 2)))[0, 0] == pytest.approx(2.2**2)
    along = kernel(np.zeros((1, 2)), np.array([[3.0, 0.0], [0.0, 3.5]])) / 2.2**2
    assert along == pytest.approx(np.full((1, 2), np.exp(-0.5)))


def test_generic_bound_is_looser_and_costs_accuracy():
    problem = _problem(epsilon=1.0)
    errors = [
        np.sqrt(np.mean((_fit_predict(problem, norm_bound=rule).mean - problem.y) ** 2))
        for rule in ("certified", "separated")
    ]
    assert errors[0] < errors[1]


def test_the_target_is_clipped_to_its_bounds():
    problem = _problem()
    wild = problem.y.copy()
    wild[0] = 1e9
    bounded = wild.clip(*problem.target_bounds)
    means = [
        _fit_predict(Problem(problem.X, y, problem.bounds, problem.target_bounds, 3.0, 1e-5)).mean
        for y in (wild, bounded)
    ]
    assert np.array_equal(*means)
