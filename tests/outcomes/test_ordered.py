"""Classes that have an order: one function, thresholds, averages that stay."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

import dpgp
from dpgp.domain import Box
from dpgp.model.file import ModelFileError
from dpgp.options import Options
from dpgp.outcomes.ordered import fitted_cuts, in_order

GRADES = ("poor", "fair", "good", "excellent")
ASKED = {"bounds": (0, 10), "classes": GRADES, "random_state": 0}
THRESHOLDS = np.array([-2.0, 0.0, 1.5])


def up_to(x):
    """Return P(y ≤ k | x) of the three classes that are not the last."""
    return expit(THRESHOLDS[:, None] - 0.6 * (np.asarray(x) - 5.0))


def truth(x):
    ends = np.vstack([np.zeros(len(x)), up_to(x), np.ones(len(x))])
    return np.diff(ends, axis=0).T


def survey(n=3000):
    rng = np.random.default_rng(1)
    x = rng.uniform(0.0, 10.0, n)
    return x[:, None], np.array(GRADES)[(rng.random(n) > up_to(x)).sum(axis=0)]


@pytest.fixture(scope="module")
def both():
    X, y = survey()
    return [dpgp.PrivateGPClassifier(**ASKED, ordered=asked).fit(X, y) for asked in (True, False)]


def loss(clf):
    x = np.linspace(0.1, 9.9, 99)
    return -np.mean(np.sum(truth(x) * clf.predict_log_proba(x[:, None]), axis=1))


def test_an_order_that_holds_makes_probabilities_better(both):
    ordered, plain = both
    assert loss(ordered) < loss(plain)
    assert ordered.predict([[0.5], [9.5]]).tolist() == ["poor", "excellent"]


def test_nothing_is_released_but_what_classes_release(both):
    ordered, plain = (clf.certificate_.releases for clf in both)
    assert ordered == plain
    assert both[0].model_.id == both[1].model_.id  # the same noisy sums


def test_probabilities_add_up_and_intervals_hold_them(both):
    x = np.linspace(-1.0, 11.0, 40)[:, None]
    P, (lower, upper) = both[0].predict_proba(x), both[0].predict_proba_interval(x)
    assert P.shape == (40, 4)
    assert P.min() > 0.0
    assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    assert np.all((lower <= P) & (upper >= P))


def test_one_function_moves_all_thresholds_alike(both):
    cumulative = np.cumsum(both[0].predict_proba(np.linspace(0.0, 10.0, 30)[:, None]), axis=1)
    odds = np.log(cumulative[:, :-1] / (1.0 - cumulative[:, :-1]))
    steps = np.diff(odds, axis=1)
    assert_allclose(steps, np.tile(steps[0], (30, 1)), atol=1e-6)
    assert np.all(steps > 0.0)


def test_averages_stay_what_was_released(both):
    averages = []
    for clf in both:
        density = clf.model_.density
        shares = density.weights / density.weights.sum()
        averages.append(shares @ clf.predict_proba(density.points))
    assert_allclose(*averages, atol=1e-8)


def test_an_order_of_two_classes_says_nothing():
    X, y = survey(500)
    asked = {**ASKED, "classes": ("no", "yes")}
    yes = np.where(y == "good", "yes", "no")
    fits = [dpgp.PrivateGPClassifier(**asked, ordered=each).fit(X, yes) for each in (True, False)]
    assert fits[0].model_.options.outcome == fits[1].model_.options.outcome
    assert_array_equal(*(clf.predict_proba(X[:20]) for clf in fits))


def test_an_order_of_numbers_is_refused_and_so_is_one_that_is_no_answer():
    unit = Box.from_bounds((0, 1), 1)
    with pytest.raises(ValueError, match="`ordered` is about `classes`"):
        Options.parse(box=unit, target_box=unit, ordered=True)
    with pytest.raises(TypeError, match="`ordered` must be True or False"):
        dpgp.PrivateGPClassifier(**ASKED, ordered="yes").fit(*survey(50))


@pytest.mark.parametrize("count", [3, 7, 64])
def test_classes_that_nobody_has_and_few_rows_and_little_budget(count):
    rng = np.random.default_rng(count)
    X, y = rng.uniform(0.0, 10.0, (60, 1)), rng.integers(0, 2, 60)
    asked = {**ASKED, "classes": tuple(range(count)), "epsilon": 0.1}
    P = dpgp.PrivateGPClassifier(**asked, ordered=True).fit(X, y).predict_proba(X)
    assert P.min() > 0.0
    assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)


@given(st.integers(3, 9), st.integers(1, 30), st.floats(0.01, 6.0), st.integers(0, 2**32 - 1))
def test_whatever_classes_say_thresholds_keep_their_averages(count, places, spread, seed):
    rng = np.random.default_rng(seed)
    p = np.exp(spread * rng.standard_normal((count, places)))
    p, shares = p / p.sum(axis=0), rng.dirichlet(np.ones(places))
    cuts = fitted_cuts(p, shares)
    found = in_order(p, cuts)
    assert_allclose(found @ shares, p @ shares, atol=2e-8)
    assert np.all(np.diff([cut.threshold for cut in cuts[:-1]]) >= 0.0)
    assert cuts[0].slope >= 0.0


@pytest.mark.parametrize("steepness", [0.3, 1.0, 4.0])
def test_what_one_function_and_thresholds_made_stays_as_it_is(steepness):
    p = truth(5.0 + steepness * np.linspace(-5.0, 5.0, 200)).T
    cuts = fitted_cuts(p, np.full(200, 1 / 200))
    assert cuts[0].slope == pytest.approx(1.0, abs=1e-6)
    assert_allclose(in_order(p, cuts), p, atol=1e-7)


@pytest.mark.parametrize(
    "change",
    [
        lambda cuts: cuts[:-1],
        lambda cuts: cuts[::-1],
        lambda cuts: [[*cut[:2], -1.0] for cut in cuts],
        lambda cuts: None,
    ],
)
def test_a_file_with_other_thresholds_is_refused(both, tmp_path, change):
    both[0].model_.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    changed = change(document.pop("class_cuts"))
    (tmp_path / "model.json").write_text(json.dumps(document | {"class_cuts": changed}))
    with pytest.raises(ModelFileError, match="class_cuts"):
        dpgp.load(tmp_path / "model.json")


def test_thresholds_of_classes_without_an_order_are_refused(both, tmp_path):
    cuts = [list(each.cut) for each in both[0].model_.log_odds]
    both[1].model_.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text()) | {"class_cuts": cuts}
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="class_cuts"):
        dpgp.load(tmp_path / "model.json")
