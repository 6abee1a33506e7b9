import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

import dpgp
from dpgp import PrivateGPClassifier
from dpgp.model.file import ModelFileError
from dpgp.report.html import report_html

LABELS = np.array(["no", "yes"])


def chance(X):
    return expit(3 * X[:, 0] - 1.5)


def data(n=3000, columns=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, columns))
    return X, LABELS[(rng.random(n) < chance(X)).astype(int)]


def classifier(**options):
    defaults = {
        "epsilon": 3.0,
        "delta": 1e-5,
        "bounds": (-1, 1),
        "classes": ("no", "yes"),
        "random_state": 0,
        "stages": 3,
        "n_jobs": 1,
    }
    return PrivateGPClassifier(**(defaults | options))


@pytest.fixture(scope="module")
def fitted():
    return classifier().fit(*data())


def test_it_learns_the_probability(fitted):
    X, y = data(seed=1)
    p = fitted.predict_proba(X)
    assert np.sqrt(np.mean((p[:, 1] - chance(X)) ** 2)) < 0.04
    assert np.allclose(p.sum(axis=1), 1.0)
    assert log_loss(y, p) < log_loss(y, np.column_stack([1 - chance(X), chance(X)])) + 0.01


def test_two_values_are_no_alarm(fitted):
    assert fitted.health_ == ()
    assert "A model of a probability" in report_html(fitted.model_)


def test_intervals_hold_the_probability(fitted):
    X, _ = data(500, seed=1)
    lower, upper = fitted.predict_proba_interval(X)
    assert np.mean((lower <= chance(X)) & (chance(X) <= upper)) > 0.85
    assert np.all((lower >= 0) & (upper <= 1))
    with pytest.raises(ValueError, match="`coverage` must lie strictly between 0 and 1"):
        fitted.predict_proba_interval(X, 1.0)


def test_labels_are_those_that_were_named(fitted):
    X, y = data(seed=1)
    assert fitted.classes_.tolist() == ["no", "yes"]
    p = fitted.predict_proba(X)[:, 1]
    assert np.array_equal(fitted.predict(X), LABELS[(p > 0.5).astype(int)])
    assert np.array_equal(fitted.decision_function(X) > 0, p > 0.5)
    assert fitted.score(X, y) == pytest.approx(np.mean(fitted.predict(X) == y))


def test_the_order_of_the_classes_decides_which_one_is_yes():
    X, y = data()
    p = classifier(classes=("yes", "no")).fit(X, y).predict_proba(X)
    assert np.sqrt(np.mean((p[:, 0] - chance(X)) ** 2)) < 0.05


def test_nothing_is_spent_on_a_guard_or_on_calibration_of_intervals(fitted):
    labels = [release.label for release in fitted.certificate_.releases]
    stages = ["stage 1", "stage 2", "stage 3"]
    assert labels == ["number of rows", "input histograms", *stages, "labels by prediction"]


def test_a_row_with_another_label_contributes_nothing_and_is_no_error():
    X, y = data(4000)
    other = y.copy().astype(object)
    other[::4] = ["perhaps", None, "", 7][0]
    kept = np.arange(len(y)) % 4 > 0
    p = classifier().fit(X, other).predict_proba(X)[:, 1]
    alone = classifier().fit(X[kept], y[kept]).predict_proba(X)[:, 1]
    assert np.allclose(p, alone, atol=1e-9)


def test_many_inputs_and_no_noise():
    X, y = data(2000, columns=5)
    p = classifier(epsilon=3.0, stages=None).fit(X, y).predict_proba(X)[:, 1]
    assert np.sqrt(np.mean((p - chance(X)) ** 2)) < 0.12
    X, y = data(2000)
    exact = classifier(epsilon=float("inf"), random_state=None).fit(X, y)
    assert np.sqrt(np.mean((exact.predict_proba(X)[:, 1] - chance(X)) ** 2)) < 0.03


def test_categories_and_people():
    X, y = data(2000)
    frame = pd.DataFrame({"x": X[:, 0], "sex": np.where(np.arange(2000) % 2, "f", "m")})
    gp = classifier(bounds={"x": (-1, 1)}, categories={"sex": ["f", "m"]}, max_rows_per_unit=2)
    p = gp.fit(frame, y, units=np.arange(2000) // 2).predict_proba(frame)[:, 1]
    assert np.sqrt(np.mean((p - chance(X)) ** 2)) < 0.15


def test_what_is_wrong_is_said_before_any_noise():
    X, y = data(50)
    for options, message in [
        ({"classes": None}, "`classes` must name all labels"),
        ({"classes": ("a",)}, "must hold 2 to 64 levels, got 1"),
        ({"bounds": None}, "`bounds` must be given"),
        ({"stages": 0}, "`stages` must be"),
    ]:
        gp = classifier(**options)
        with pytest.raises(ValueError, match=message):
            gp.fit(X, y)
        assert not hasattr(gp, "spent_")


def test_it_is_saved_loaded_and_pickled(fitted, tmp_path):
    X, y = data(20)
    fitted.save(tmp_path / "model.json")
    model = dpgp.load(tmp_path / "model.json")
    assert np.array_equal(model.mean(X), fitted.predict_proba(X)[:, 1])
    assert model.options.target_box.category(0).levels == ("no", "yes")
    assert np.all(model.log_predictive_density(X, y) < 0.0)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


@pytest.mark.parametrize(
    "classes", [["no"], ["no", "no"], ["no", "yes", "x"], "no", ["no", ["yes"]], [1.5, 2]]
)
def test_a_file_with_other_than_two_classes_is_refused(fitted, tmp_path, classes):
    from dpgp.model.file.model import decode, encode

    document = encode(fitted.model_)
    assert document["format"] == 4
    document["targets"]["classes"] = classes
    with pytest.raises(ModelFileError):
        decode(document)


def test_scikit_learn_can_clone_and_score_it():
    X, y = data(600)
    gp = clone(classifier(stages=1))
    assert cross_val_score(gp, X, y, cv=2).mean() > 0.6
    assert cross_val_score(gp, X, y, cv=2, scoring="neg_log_loss").mean() > -0.9


def test_differences_are_those_of_probabilities(fitted):
    effect = fitted.contrast([[-0.5]], [[0.5]])
    truth = chance(np.array([[0.5]])) - chance(np.array([[-0.5]]))
    assert effect.lower[0] - 0.05 < truth[0] < effect.upper[0] + 0.05


def test_outcomes_probabilities_and_draws(fitted):
    X, model = data(50)[0], fitted.model_
    p, std = model.mean(X, return_std=True)
    assert np.allclose(std, np.sqrt(p * (1 - p)))
    _, covariance = model.mean(X, return_cov=True)
    assert np.all(np.diag(covariance) > std**2)
    draws = model.sample_y(X, 10)
    assert np.all((draws >= 0) & (draws <= 1))
    lower, upper = model.predict_interval(X)
    assert set(np.unique(lower)) | set(np.unique(upper)) <= {0.0, 1.0}
