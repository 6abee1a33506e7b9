"""Boosted random trees: bounded influence of a row, free counts, learns with noise and without."""

from itertools import product

import numpy as np
import pytest

from dpgp_experiments.baselines.boosted_trees import (
    DEPTH,
    LEAF_SENSITIVITY,
    TREES,
    Tree,
    fit_predict,
    leaf_sums,
    leaf_values,
)
from dpgp_experiments.baselines.interface import Problem


def interaction(epsilon, n=4000):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, 3))
    y = 5.0 + np.sign(X[:, 0]) * np.sign(X[:, 1]) + 0.1 * rng.standard_normal(n)
    return Problem(X, y, ((-1.0, 1.0),) * 3, (0.0, 12.0), epsilon, 1e-5)


def change(before, after):
    sums = [leaf_sums(np.array([leaf]), np.array([residual])) for leaf, residual in (before, after)]
    return np.linalg.norm(sums[0] - sums[1])


def test_a_row_moves_leaves_by_no_more_than_their_sensitivity():
    rows = list(product((0, 1), np.linspace(-2.0, 2.0, 21)))
    changes = [change(before, after) for before, after in product(rows, rows)]
    assert max(changes) <= LEAF_SENSITIVITY
    assert change((0, 1.0), (0, -1.0)) == LEAF_SENSITIVITY
    assert change((0, 1.0), (1, 1.0)) == LEAF_SENSITIVITY


def test_leaves_are_numbered_by_the_splits():
    tree = Tree(np.array([0, 1, 1]), np.array([0.0, 0.0, 1.0]))
    rows = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 0.5], [1.0, 2.0]])
    assert tree.leaves(rows).tolist() == [0, 1, 2, 7]
    assert tree.leaves(rows).max() < 2**DEPTH


def test_values_are_means_where_rows_are_many_and_nothing_where_there_are_none():
    counts, totals = np.array([1e6, 0.0, -3.0]), np.array([5e5, 2.0, 2.0])
    np.testing.assert_allclose(leaf_values(counts, totals, 3.0), [0.5, 0.0, 0.0], atol=1e-4)
    assert leaf_values(np.zeros(1), np.zeros(1), 0.0) == 0.0


def test_every_tree_has_its_share_of_the_budget(monkeypatch):
    from dpgp.privacy.calibration import compose, mu_of_epsilon_delta
    from dpgp_experiments.baselines import boosted_trees, standardise

    mus = []

    def recorded(sensitivity, mu):
        mus.append(mu)
        return sensitivity / mu

    for module in (boosted_trees, standardise):
        monkeypatch.setattr(module, "gaussian_sigma", recorded)
    problem = interaction(1.0, 50)
    fit_predict(problem, problem.X, np.random.default_rng(0))
    *once, one_tree = mus
    assert len(once) == 2
    assert compose([*once, *[one_tree] * TREES]) == pytest.approx(mu_of_epsilon_delta(1.0, 1e-5))


def test_it_learns_an_interaction_and_more_so_with_a_larger_epsilon():
    test = interaction(1.0)
    errors = [
        np.std(fit_predict(interaction(epsilon), test.X, np.random.default_rng(1)).mean - test.y)
        for epsilon in (0.1, 3.0, np.inf)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[1] < 0.8 * np.std(test.y)
    assert errors[2] < 0.6 * np.std(test.y)


def test_same_seed_same_predictions():
    problem = interaction(1.0, 200)
    first, again, other = (
        fit_predict(problem, problem.X, np.random.default_rng(seed)).mean for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
