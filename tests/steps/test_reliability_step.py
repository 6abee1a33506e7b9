"""Labels counted by their predictions: who is asked, what is told, and what a file may hold."""

import json
import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import dpgp
from dpgp.audit.replay import compare_steps
from dpgp.audit.tables import Case
from dpgp.checked_values import ModelFileError
from dpgp.effects.reliability import auc_of, share_of_yes
from dpgp.inference.reliability import cuts_between, means_and_gaps, most_bins, reliability_share
from dpgp.steps import LABELS_BY_PREDICTION
from dpgp.verify import verify

ROWS = 4000


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, (ROWS, 1))
    return X, (rng.random(ROWS) < 1.0 / (1.0 + np.exp(4.0 - 8.0 * X[:, 0]))).astype(int)


def fitted(epsilon=3.0, classes=(0, 1)):
    gp = dpgp.PrivateGPClassifier(epsilon, 1e-6, bounds=(0, 1), classes=classes, random_state=1)
    return gp.fit(*rows())


@pytest.fixture(scope="module")
def gp():
    return fitted()


def test_what_is_told_is_near_the_truth(gp):
    X, y = rows(1)
    told, p = gp.reliability(), gp.predict_proba(X)[:, 1]
    off = roc_auc_score(y, p) - told.auc.value  # of as many new rows, which err too
    assert abs(off) < told.auc.high - told.auc.low
    assert told.auc.high - told.auc.low < 0.1
    assert np.all((told.lower <= told.observed) & (told.observed <= told.upper))
    np.testing.assert_allclose(told.observed, told.probability, atol=0.15)
    assert "AUC" in repr(told)


def test_without_noise_it_is_that_of_the_rows():
    gp = fitted(math.inf)
    X, y = rows()
    p, told = gp.predict_proba(X)[:, 1], gp.reliability()
    assert told.auc.value == pytest.approx(roc_auc_score(y, p), abs=0.006)
    found = gp.model_.findings[LABELS_BY_PREDICTION]
    assert sum(found["yes"]) == y.sum()
    assert sum(found["no"]) == ROWS - y.sum()


def test_a_file_keeps_it_and_verifies(gp, tmp_path):
    gp.save(tmp_path / "model.json")
    again = dpgp.load(tmp_path / "model.json")
    assert again.reliability().to_dict() == gp.reliability().to_dict()
    wrong = [finding.question for finding in verify(tmp_path / "model.json") if not finding.holds]
    assert wrong == ["it claims to be private"]  # noise of a seed is none


@pytest.mark.parametrize("asked", [{"epsilon": 0.1}, {"classes": (0, 1, 2)}])
def test_it_is_refused_where_nothing_was_bought(asked):
    gp = fitted(**asked)
    assert LABELS_BY_PREDICTION not in gp.model_.findings
    with pytest.raises(ValueError, match="two classes"):
        gp.reliability()


def test_a_model_read_again_tells_nothing_of_other_predictions(gp):
    with pytest.raises(ValueError, match="read again"):
        gp.reread().reliability()


@pytest.mark.parametrize(
    "wrong", [{"predicted": []}, {"predicted": [1.0, 0.0]}, {"noise": -1.0}, {"yes": [1.0]}]
)
def test_counts_that_are_none_are_refused(gp, wrong):
    from dpgp.model.file.releases import findings_from_json

    found = json.loads(json.dumps(gp.model_.findings[LABELS_BY_PREDICTION]))
    assert findings_from_json({LABELS_BY_PREDICTION: found}, 1)
    with pytest.raises(ModelFileError, match="labels by prediction"):
        findings_from_json({LABELS_BY_PREDICTION: found | wrong}, 1)


def test_bins_have_equal_weight_and_are_never_empty():
    values = np.repeat([0.1, 0.2, 0.2 + 1e-15, 0.7], [50, 10, 10, 30])
    cuts = cuts_between(values, np.ones(100), 10)
    np.testing.assert_allclose(cuts, [0.15, 0.45])
    means, gaps = means_and_gaps(values, np.ones(100), cuts)
    np.testing.assert_allclose(means, [0.1, 0.2, 0.7])
    np.testing.assert_allclose(gaps, 0.0, atol=1e-12)
    assert not len(cuts_between(np.zeros(9), np.ones(9), 10))
    spread = np.random.default_rng(0).random(400)
    _, (gap,) = means_and_gaps(spread, np.ones(400), np.empty(0))
    assert gap == pytest.approx(np.abs(spread[:, None] - spread).mean())


def test_intervals_cover_and_are_wide_where_all_is_noise():
    rng, yes, no = np.random.default_rng(0), np.array([20.0, 60, 120]), np.array([180.0, 140, 80])
    truth, half = auc_of(yes, no, np.full(3, 0.5), 0.0).value, np.full(3, 0.5)
    inside = []
    for _ in range(300):
        drawn = [rng.poisson(counts) + rng.normal(0.0, 15.0, 3) for counts in (yes, no)]
        found = auc_of(*drawn, half, 15.0)
        inside.append(found.low <= truth <= found.high)
    assert 0.91 < np.mean(inside) < 0.99
    nothing = share_of_yes(-3.0, 2.0, 10.0)
    assert (nothing.low, nothing.high) == (0.0, 1.0)


def test_shares_and_bins_stay_within_their_rules():
    assert reliability_share(100.0) == 0.0
    assert reliability_share(400.0) == 0.05
    assert reliability_share(1e6) == 0.02
    assert [most_bins(noise, 1000.0) for noise in (0.0, 1.0, 7.0, 100.0)] == [10, 10, 7, 5]


def test_neighbours_move_the_counts_by_as_much_as_was_booked_and_no_more():
    found = compare_steps(Case(1, classes=2), 90, np.random.default_rng(0))
    moved = [each for each in found if each.label == LABELS_BY_PREDICTION]
    assert moved
    assert all(each.holds for each in moved)
    assert max(each.moved / each.booked for each in moved) == pytest.approx(1.0, rel=1e-3)
