"""Fits with weights: what they estimate, how surely, what is said of them and what is refused."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import dpgp
from dpgp.planning.unusable import UnusableRowsError
from dpgp.report.html import report_html
from dpgp.report.papers import statement
from dpgp.row_weights import ReleasedWeights
from dpgp.verify.claim import read_claim
from dpgp.verify.contents import read_fit
from dpgp.verify.steps import wrong_stages

RNG = np.random.default_rng(0)
N = 2000
X = RNG.uniform(0, 10, (N, 1))
Y = np.sin(X[:, 0]) + 0.3 * RNG.standard_normal(N)
W = RNG.choice([1.0, 2.0, 5.0], N)
NEW = np.linspace(0.5, 9.5, 7)[:, None]
ASKED = {"delta": 1e-6, "bounds": (0, 10), "target_bounds": (-2, 2), "random_state": 0}

pytestmark = pytest.mark.filterwarnings("ignore")


def fitted(weights=None, weight_bound=None, epsilon=math.inf, X=X, y=Y, **asked):
    gp = dpgp.PrivateGPRegressor(
        **ASKED | {"epsilon": epsilon, "weight_bound": weight_bound} | asked
    )
    return gp.fit(X, y, sample_weight=weights)


def said(gp):
    mean, std = gp.predict(NEW, return_std=True, latent=True)
    return np.concatenate([mean, std])


@pytest.fixture(scope="module")
def weighted():
    return fitted(W, 5.0, epsilon=1.0)


@pytest.mark.parametrize("weight", [5.0, 1.0])
def test_weights_that_are_alike_change_nothing_without_noise(weight):
    found = fitted(np.full(N, weight), 5.0)
    np.testing.assert_allclose(said(found), said(fitted()), atol=0.0 if weight == 5.0 else 1e-5)
    assert found.model_.stages[0][0].n == pytest.approx(N)


def test_a_factor_of_all_weights_and_the_bound_changes_nothing():
    one, other = fitted(W, 5.0, epsilon=3.0), fitted(1024 * W, 5 * 1024, epsilon=3.0)
    np.testing.assert_array_equal(said(one), said(other))


def test_effective_rows_are_those_of_kish():
    found = fitted(W, 5.0).model_
    assert found.stages[0][0].n == pytest.approx(W.sum() ** 2 / (W**2).sum())
    assert found.weights.total == pytest.approx(W.sum() / 5)
    assert found.row_weight == pytest.approx((W**2).sum() / (5 * W.sum()))


def test_weights_stand_for_repeated_rows_without_noise():
    """Up to how far a mean is pulled to its prior: that many more rows would pull it less."""
    repeated = fitted(X=np.repeat(X, W.astype(int), axis=0), y=np.repeat(Y, W.astype(int)))
    np.testing.assert_allclose(fitted(W, 5.0).predict(NEW), repeated.predict(NEW), atol=0.01)


def test_the_weighted_population_is_estimated():
    is_high = RNG.uniform(size=N) < 0.5
    y = np.where(is_high, 1.0, -1.0) + 0.3 * RNG.standard_normal(N)
    found = fitted(np.where(is_high, 1.0, 3.0), 3.0, epsilon=3.0, y=y).average()
    assert found.lower[0] < -0.5 < found.upper[0]
    assert found.upper[0] < -0.3
    plain = fitted(epsilon=3.0, y=y).average()
    assert plain.lower[0] > -0.3


def test_without_knowing_better_effective_rows_are_too_few_rather_than_too_many():
    whole = ReleasedWeights(1000.0, 400.0, 0.0, 0.0)
    assert whole.effective_rows == pytest.approx(2500.0)
    noisy = ReleasedWeights(1000.0, 400.0, 30.0, 60.0)
    assert noisy.effective_rows == pytest.approx(1e6 / 520)
    assert ReleasedWeights(1000.0, -50.0, 30.0, 600.0).per_row == 1.0
    assert ReleasedWeights(-5.0, 0.0, 0.0, 0.0).per_row > 0.0


def test_the_file_keeps_weights_and_verifies_its_noise(weighted, tmp_path):
    weighted.save(tmp_path / "model.json")
    loaded = dpgp.load(tmp_path / "model.json")
    assert loaded.options.weight_bound == 5.0
    assert loaded.weights == weighted.model_.weights
    np.testing.assert_allclose(loaded.predict(NEW), weighted.predict(NEW))
    document = json.loads((tmp_path / "model.json").read_text())
    assert list(wrong_stages(read_fit(document, read_claim(document["guarantee"])))) == []
    document["findings"]["number of rows"]["squares"] *= 1.01
    assert list(wrong_stages(read_fit(document, read_claim(document["guarantee"]))))
    del document["findings"]["number of rows"]["squares"]
    (tmp_path / "other.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="findings"):
        dpgp.load(tmp_path / "other.json")


def test_papers_and_plan_say_what_weights_cost(weighted):
    assert "weights add up to" in statement(weighted.model_)
    assert "not what they weigh" in statement(weighted.model_)
    assert "weight 5 or more counts in full" in statement(weighted.model_)
    assert "rows of equal weights" in report_html(weighted.model_, "t", "model.json")
    asked = {"n": 2000, "bounds": (0, 10), "target_bounds": (-2, 2)}
    plain = dpgp.plan(**asked)
    light = dpgp.plan(**asked, weight_bound=5.0, mean_weight=1.0)
    assert light.forecast.rmse > 1.5 * plain.forecast.rmse
    (words,) = [line for line in light.why if "weigh" in line]
    assert "weigh 1 each, of 5" in words
    assert "that of 400 rows" in words
    assert "weigh 2.5 each" in str(dpgp.plan(**asked, weight_bound=5.0))
    with pytest.raises(ValueError, match="`mean_weight` must be at most"):
        dpgp.plan(**asked, weight_bound=5.0, mean_weight=6.0)
    with pytest.raises(ValueError, match="`mean_weight` needs `weight_bound`"):
        dpgp.plan(**asked, mean_weight=6.0)


@pytest.mark.parametrize(
    ("weights", "bound", "words"),
    [
        (W, None, "`sample_weight` needs `weight_bound`"),
        (None, 5.0, "`weight_bound` needs `sample_weight`"),
        (W, -1.0, "`weight_bound` must be positive"),
        (W, math.inf, "`weight_bound` must be finite"),
        (W[:-1], 5.0, "`sample_weight` must have one value for each of the rows"),
        (W[:, None], 5.0, "`sample_weight` must have one dimension"),
        (W.astype(str), 5.0, "`sample_weight` must hold numbers"),
        (-W, 5.0, "`sample_weight` must hold a finite number, zero or more"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_spent(weights, bound, words):
    with pytest.raises((ValueError, TypeError), match=words) as error:
        fitted(weights, bound, epsilon=1.0)
    assert not hasattr(error.value, "spent")


def test_weights_that_are_next_to_nothing_end_a_fit_after_its_first_release():
    with pytest.raises(UnusableRowsError, match="times 1e\\+06, their bound") as error:
        fitted(W, 1e6, epsilon=1.0)
    assert [release.label for release in error.value.spent.releases] == ["number of rows"]


def test_tables_name_the_column_of_weights(weighted):
    frame = pd.DataFrame({"x": X[:, 0], "y": Y, "w": W})
    gp = dpgp.PrivateGPRegressor(
        **ASKED | {"epsilon": 1.0, "weight_bound": 5.0, "bounds": {"x": (0, 10)}}
    )
    gp.fit(frame, target="y", sample_weight="w")
    np.testing.assert_array_equal(said(gp), said(weighted))
    with pytest.raises(TypeError, match="`sample_weight` must be the name of a column"):
        gp.fit(frame, target="y", sample_weight=W)


def test_scikit_learn_routes_weights():
    gp = dpgp.PrivateGPRegressor(**ASKED | {"epsilon": 3.0, "weight_bound": 5.0}, stages=1)
    with config_context(enable_metadata_routing=True):
        asked = gp.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_val_score(make_pipeline(asked), X, Y, cv=2, params={"sample_weight": W})
    assert scores.min() > 0.5


def test_two_classes_have_weighted_shares():
    ill = RNG.uniform(size=N) < 0.5
    gp = dpgp.PrivateGPClassifier(
        epsilon=3.0, delta=1e-6, bounds=(0, 10), classes=(0, 1), weight_bound=4.0, random_state=0
    ).fit(X, ill.astype(int), sample_weight=np.where(ill, 1.0, 4.0))
    assert gp.average().mean[0] == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("missing", ["ignore", "error"])
@pytest.mark.parametrize("cell", ["Zq7X", "1,5", "", "NA", b"1"])
def test_text_among_weights_is_refused_in_words_before_anything_is_spent(cell, missing, tmp_path):
    """As of inputs and outcomes: a column of text is no column of weights, whoever is missing."""
    weights = np.empty(50, dtype=object)
    weights[:] = 1.0
    weights[3] = cell
    table = pd.DataFrame({"x": np.linspace(0, 1, 50), "y": 0.5, "w": weights})
    asked = {"bounds": {"x": (0, 1)}, "target_bounds": (0, 1), "weight_bound": 2.0}
    for given in (weights, weights.tolist(), table["w"]):
        gp = dpgp.PrivateGPRegressor(epsilon=1.0, delta=1e-5, missing=missing, **asked)
        with pytest.raises(TypeError, match="weight that is not known as NaN") as refused:
            gp.fit(table[["x"]], table["y"], sample_weight=given)
        assert "Zq7X" not in str(refused.value)
        assert "categories" not in str(refused.value)
    if cell in ("Zq7X", "1,5"):  # in files, other texts stand for what is missing
        gp = dpgp.PrivateGPRegressor(epsilon=1.0, delta=1e-5, missing=missing, **asked)
        table.to_csv(tmp_path / "rows.csv", index=False)
        for given in (table, tmp_path / "rows.csv"):
            with pytest.raises(ValueError, match="column of numbers as weights") as refused:
                gp.fit(given, target="y", sample_weight="w")
            assert "Zq7X" not in str(refused.value)
