"""Fits of several classes: what they learn, what adds up, and what they leave alone."""

import numpy as np
import pytest

import dpgp
from dpgp.outcomes.classes import Classes, raking_weights, shares_of
from dpgp.outcomes.labels import named_classes

LABELS = ("never", "former", "current")


def truth(X):
    odds = np.column_stack([2 * np.cos(3 * X[:, 0]), 3 * X[:, 0] - 1, -1 + X[:, -1]])
    return np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)


def drawn(columns, n=2500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, (n, columns))
    y = np.array(LABELS)[(rng.random((n, 1)) > truth(X).cumsum(axis=1)).sum(axis=1)]
    return X, y


def fitted(X, y, epsilon=3.0, **options):
    asked = {"classes": LABELS, "random_state": 1, **options}
    return dpgp.PrivateGPClassifier(epsilon, 1e-6, bounds=(0, 1), **asked).fit(X, y)


@pytest.fixture(scope="module", params=[1, 4], ids=["one input", "four inputs"])
def clf(request):
    return fitted(*drawn(request.param))


def test_probabilities_are_learned_and_add_up(clf):
    X, _ = drawn(clf.n_features_in_, 500, seed=7)
    P = clf.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    assert P.min() > 0.0
    # the shares alone are off by 0.25 and more
    assert np.sqrt(np.mean((P - truth(X)) ** 2)) < 0.08
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[P.argmax(axis=1)])
    np.testing.assert_array_equal(clf.decision_function(X).argmax(axis=1), P.argmax(axis=1))
    np.testing.assert_allclose(clf.predict_log_proba(X), np.log(P))


def test_averages_are_the_released_shares(clf):
    model = clf.model_
    weights = model.density.weights / model.density.weights.sum()
    reached = weights @ model.predict_proba(model.density.points)
    released = [clf.average(target=label).mean[0] for label in LABELS]
    np.testing.assert_allclose(reached, released, atol=0.02)
    _, y = drawn(clf.n_features_in_)
    np.testing.assert_allclose(reached, [np.mean(y == label) for label in LABELS], atol=0.04)


def test_intervals_hold_their_probability_and_mostly_the_truth(clf):
    X, _ = drawn(clf.n_features_in_, 500, seed=8)
    P, (lower, upper) = clf.predict_proba(X), clf.predict_proba_interval(X)
    assert lower.shape == upper.shape == P.shape
    assert np.all((lower >= 0.0) & (lower <= P) & (upper >= P) & (upper <= 1.0))
    assert np.mean((lower <= truth(X)) & (truth(X) <= upper)) > 0.8


def test_a_file_keeps_everything(clf, tmp_path):
    clf.save(tmp_path / "model.json")
    again, (X, _) = dpgp.load(tmp_path / "model.json"), drawn(clf.n_features_in_, 100, seed=9)
    np.testing.assert_allclose(again.predict_proba(X), clf.predict_proba(X), atol=1e-10)
    assert again.classes_.tolist() == list(LABELS)
    assert again.id == clf.model_.id


def test_stages_are_asked_in_centres_that_add_up_with_one_clip(clf):
    """Residuals that do not add up would make the sums that are centred wrong."""
    for stages in zip(*clf.release_, strict=True):
        assert len({stage.clip for stage in stages}) == 1
        assert stages[0].clip <= np.sqrt(8.0)
        assert np.abs(sum(stage.w0 for stage in stages)).max(initial=0.0) < 1e-9
        assert np.abs(sum(stage.A for stage in stages)).max(initial=0.0) < 1e-6 * len(LABELS) * 2500


def test_two_classes_that_are_named_as_several_are_yes_and_no():
    X, y = drawn(1, 300)
    assert type(fitted(X, y, classes=("never", "former")).model_.outcome).__name__ == "YesNo"


def test_noise_that_is_absent_leaves_the_shares_of_the_rows():
    X, y = drawn(1, 2000)
    P = fitted(X, y, epsilon=np.inf).predict_proba(X)
    np.testing.assert_allclose(P.mean(axis=0), [np.mean(y == label) for label in LABELS], atol=0.01)


def test_a_class_that_nobody_has_is_rare_and_not_impossible():
    X, y = drawn(1, 3000)
    P = fitted(X, y, classes=(*LABELS, "pipe")).predict_proba(X)
    assert 0.0 < P[:, 3].max() < 0.1
    assert np.sqrt(np.mean((P[:, :3] - truth(X)) ** 2)) < 0.08


def test_rows_with_other_labels_contribute_nothing():
    X, y = drawn(1, 2000)
    y = y.astype(object)
    y[::2] = "snuff"
    clf = fitted(X, y)
    assert clf.model_.findings["number of rows"]["usable"] == pytest.approx(1000, abs=100)


def test_observations_are_numbers_of_classes():
    X, y = drawn(1, 1500)
    clf = fitted(X, y)
    draws = clf.model_.sample_y(X[:50], 400, latent=False)
    shares = np.stack([np.mean(draws == k, axis=1) for k in range(3)], axis=1)
    # 4.5 sds of a share of 400 draws
    np.testing.assert_allclose(shares, clf.predict_proba(X[:50]), atol=4.5 * 0.5 / 20)


@pytest.mark.parametrize("target", ["snuff", 3, None])
def test_a_class_that_is_not_there_is_refused(target):
    clf = fitted(*drawn(1, 600))
    with pytest.raises(ValueError, match="`target` must"):
        clf.average(target=target)


def test_classes_of_whole_numbers_are_chosen_by_their_number():
    X, y = drawn(1, 600)
    clf = fitted(X, 3 - np.searchsorted(sorted(LABELS), y), classes=(1, 2, 3))
    assert "= 3)" in str(clf.average(target=2))


# --- what makes them add up -----------------------------------------------------------------------


def test_raking_reaches_every_average():
    rng = np.random.default_rng(0)
    own, shares = rng.uniform(1e-6, 1.0, (5, 40)), rng.dirichlet(np.ones(40))
    wanted = np.array([0.001, 0.009, 0.09, 0.3, 0.6])
    weights = raking_weights(own, shares, 1.1 * wanted)
    np.testing.assert_allclose(shares_of(own, weights) @ shares, wanted, atol=1e-9)


def test_no_residual_is_beyond_the_joint_clip():
    outcome, rng = Classes(named_classes(("a", "b", "c", "d"))), np.random.default_rng(1)
    p = rng.dirichlet(0.3 * np.ones(4), 500).T
    values = 2.0 * (p - 0.25)
    targets = 2.0 * (np.eye(4) - 0.25)
    largest = max(np.linalg.norm(t[:, None] - values, axis=0).max() for t in targets)
    assert outcome.joint_clip(values) == pytest.approx(largest)
    assert outcome.joint_clip(np.zeros((4, 1))) == pytest.approx(outcome.location.reach)
    assert outcome.joint_clip(100.0 * values) == pytest.approx(np.sqrt(8.0))


def test_a_place_says_what_its_share_does():
    outcome = Classes(named_classes(("a", "b", "c")))
    place = outcome.located(2.0 * (0.1 - 1.0 / 3.0), 0.001)
    assert place.centre == pytest.approx(2.0 * (0.1 - 1.0 / 3.0), abs=1e-6)
    assert place.scale == pytest.approx(4 * 0.1 * 0.9, abs=1e-4)
    assert place.sd_of_two == pytest.approx(2 * np.sqrt(0.09), abs=1e-4)
