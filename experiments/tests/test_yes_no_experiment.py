import numpy as np
import pytest

import dpgp
from dpgp_experiments.rare import expected_loss, rare_scores
from dpgp_experiments.rare_tables import table, tables
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
    found = table(0.05, 10, np.random.default_rng(0))
    assert found.best.mean() == pytest.approx(0.05, abs=0.003)
    assert abs(found.y.mean() - 0.05) < 0.02


def test_where_there_is_nothing_to_find_the_truth_is_one_probability():
    (name,) = [name for name in tables() if "nothing to find, 20 %, 10" in name]
    found = tables()[name](np.random.default_rng(0))
    np.testing.assert_allclose(found.best, 0.2, rtol=1e-9)
    assert abs(found.y.mean() - 0.2) < 0.04


def test_outcomes_of_people_are_from_one_per_cent_to_a_half():
    shares = [draw(np.random.default_rng(0)).y.mean() for draw in tables().values()]
    assert len(shares) == 26
    assert 0.005 < min(shares) < 0.02
    assert max(shares) < 0.55


def test_true_probabilities_have_the_least_loss():
    p = np.random.default_rng(0).beta(1.0, 19.0, 10_000)
    assert expected_loss(p, p) < expected_loss(np.full_like(p, p.mean()), p)


@pytest.mark.filterwarnings("ignore")
def test_a_model_is_scored_beside_its_average_and_its_shift():
    found = table(0.2, 2, np.random.default_rng(1))
    clf = dpgp.PrivateGPClassifier(
        3.0, 1e-6, bounds=found.bounds, classes=(0, 1), random_state=0, n_jobs=1
    )
    model = clf.fit(found.X, found.y).model_
    scores = rare_scores(model, found.X_test, found.came, found.best)
    assert scores.best < scores.log_loss < scores.constant < scores.average_alone
    assert scores.average == pytest.approx(model.mean(found.X_test).mean())
    assert scores.log_loss < scores.shifted
    assert scores.gap < 0.1
