"""Private means and deviations: bounded influence of a row, the right noise, cautious when few."""

import numpy as np
import pytest

from dpgp.privacy.calibration import compose, mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp_experiments.baselines import standardise
from dpgp_experiments.baselines.interface import Problem
from dpgp_experiments.baselines.mean import SENSITIVITY, moments
from dpgp_experiments.baselines.standardise import GUESS, SMALLEST, Scale, private_scale

REPLACE = Neighbours.REPLACE


def test_columns_move_by_no_more_than_their_sensitivity():
    rng = np.random.default_rng(0)
    before, after = rng.uniform(-1.0, 1.0, (2, 5000, 1, 3))
    changes = [np.linalg.norm(moments(a) - moments(b)) for a, b in zip(before, after, strict=True)]
    assert max(changes) <= SENSITIVITY * np.sqrt(3)
    corner = np.ones((1, 3))
    attained = np.linalg.norm(moments(corner) - moments(-corner))
    assert attained == pytest.approx(SENSITIVITY * np.sqrt(3), rel=1e-14)


def test_noise_is_that_of_the_mechanism():
    values, mu = np.zeros((200_000, 4)), 0.3
    means = [private_scale(values, mu, REPLACE, np.random.default_rng(k)).mean for k in range(300)]
    assert np.std(means) == pytest.approx(2.0 * np.sqrt(4) / mu / 200_000, rel=0.1)


def test_without_privacy_columns_are_standardised():
    values = np.random.default_rng(0).normal([0.3, -0.5], [0.1, 0.2], (2000, 2)).clip(-1, 1)
    scale = private_scale(values, np.inf, REPLACE, np.random.default_rng(0))
    np.testing.assert_allclose(scale.mean, values.mean(0))
    np.testing.assert_allclose(scale.std, values.std(0))
    assert np.abs(scale.standardise(values)).max() <= 3.0


def test_a_guess_takes_the_place_of_noise():
    values = np.full((10, 3), 0.9)
    scales = [private_scale(values, 0.01, REPLACE, np.random.default_rng(k)) for k in range(50)]
    assert np.max(np.abs([scale.mean for scale in scales])) < 0.1
    np.testing.assert_allclose([scale.std for scale in scales], GUESS, rtol=0.1)


def test_a_constant_column_is_not_blown_up():
    scale = private_scale(np.full(5000, 0.5), 10.0, REPLACE, np.random.default_rng(0))
    assert scale.std == pytest.approx(SMALLEST, rel=0.2)


def test_what_is_spent_and_what_is_left_are_the_budget(monkeypatch):
    spent = []

    def recorded(values, mu, neighbours, rng):
        spent.append(mu)
        return Scale(np.zeros(values[0].size), np.ones(values[0].size))

    monkeypatch.setattr(standardise, "private_scale", recorded)
    problem = Problem(np.zeros((5, 2)), np.zeros(5), ((-1.0, 1.0),) * 2, (-1.0, 1.0), 1.0, 1e-5)
    data = standardise.standardised(problem, problem.X, np.random.default_rng(0))
    assert compose(spent) == pytest.approx(data.spent)
    assert compose([data.spent, data.left]) == pytest.approx(mu_of_epsilon_delta(1.0, 1e-5))


def test_other_neighbours_are_refused():
    with pytest.raises(ValueError, match="replace"):
        private_scale(np.zeros(3), 1.0, Neighbours.ADD_REMOVE, np.random.default_rng(0))
