import numpy as np
import pytest

from dpgp_experiments.rare import rare_scores, table
from dpgp_experiments.yes_no import reliability, score
from dpgp_experiments.yes_no_tasks import tasks


def test_scores_of_probabilities():
    found = score(np.array([0.5, 0.9, 0.0]), np.array([1.0, 1.0, 0.0]))
    assert found.log_loss == pytest.approx(-np.log([0.5, 0.9, 0.999]).mean())
    assert found.brier == pytest.approx((0.25 + 0.01) / 3)


def test_reliable_probabilities_lie_on_the_diagonal():
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    expected, seen = reliability(p, (rng.random(200_000) < p).astype(float))
    assert expected == pytest.approx(seen, abs=0.02)


def test_the_tables_hold_yes_and_no_within_their_bounds():
    for task in tasks():
        assert set(np.unique(task.y)) == {0.0, 1.0}
        assert len(task.X) > 5000
        assert 0.1 < task.y.mean() < 0.5


def test_rare_tables_have_the_prevalence_that_was_asked_for():
    found = table(0.05, 10, 5000, np.random.default_rng(0))
    assert found.p.mean() == pytest.approx(0.05)
    assert abs(found.y.mean() - 0.05) < 0.02


def test_true_probabilities_have_the_least_loss_and_no_gap():
    p = np.random.default_rng(0).beta(1.0, 19.0, 10_000)
    scores = rare_scores(p, p)
    assert scores.log_loss == scores.truth < scores.constant
    assert scores.decile == 0.0
