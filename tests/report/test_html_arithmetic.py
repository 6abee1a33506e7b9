"""The page's arithmetic, run by V8 without a page, predicts what Python predicts."""

import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from py_mini_racer import MiniRacer
from report_models import MODELS, fitted, predictions

from dpgp import PrivateGPClassifier
from dpgp.coded_rows import CodedRows
from dpgp.model.predictions import CENTILES
from dpgp.outcomes.log_odds import LogOdds
from dpgp.report.html.browser import (
    ALL_DIGITS,
    FEWER_DIGITS,
    asset,
    numbers_of,
    payload,
    posterior_script,
)

SOURCE, SCALES = posterior_script(), asset("scales.js")


def evaluate(*sources: str) -> object:
    with closing(MiniRacer()) as engine:
        for source in sources[:-1]:
            engine.eval(source, timeout_sec=120)
        return json.loads(engine.eval(f"JSON.stringify({sources[-1]})", timeout_sec=120))


def page_predictions(numbers: dict, X: np.ndarray, target: int) -> dict[str, np.ndarray]:
    model = f"const model = {json.dumps(numbers, allow_nan=False)};"
    posterior = f"const posterior = new Posterior(model, {target});"
    points = json.dumps(X.tolist())
    found = evaluate(SOURCE, model, posterior, f"{points}.map((x) => posterior.predict(x))")
    return {key: np.array([point[key] for point in found]) for key in found[0]}


@pytest.mark.parametrize("name", [name for name in MODELS if name != "bessel"])
def test_page_predicts_what_python_predicts(name):
    gp = fitted(name)
    X = np.random.default_rng(1).uniform(-2.0, 12.0, (30, gp.options.columns))
    X[0], X[1] = 0.0, 10.0
    X = gp.options.box.with_whole_levels(gp.options.box.clip(X))
    for target in range(gp.n_targets):
        expected = predictions(gp, X, target)
        found = page_predictions(numbers_of(gp, ALL_DIGITS), X, target)
        assert found.keys() >= expected.keys()
        for key, values in expected.items():
            assert_allclose(found[key], values, rtol=0, atol=1e-9, err_msg=key)


@pytest.fixture(scope="module")
def rare():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 10.0, (1000, 2))
    y = rng.random(1000) < 0.02 * X[:, 0]
    clf = PrivateGPClassifier(3.0, 1e-5, bounds=(0, 10), classes=(False, True), random_state=0)
    return clf.fit(X, y).model_


@pytest.mark.parametrize(("target", "ordered"), [(0, False), (2, False), (1, True)])
def test_page_has_the_same_probabilities_of_classes(target, ordered):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 10.0, (1500, 2))
    y = (rng.random(1500) < 0.1 * X[:, 0]).astype(int) + (rng.random(1500) < 0.05 * X[:, 1])
    asked = {"classes": (0, 1, 2), "ordered": ordered, "random_state": 0}
    clf = PrivateGPClassifier(3.0, 1e-5, bounds=(0, 10), **asked)
    model, new = clf.fit(X, y).model_, rng.uniform(0.0, 10.0, (30, 2))
    found = page_predictions(payload(model), new, target)
    lower, upper = model.predict_proba_interval(new)
    assert_allclose(found["shares"], model.predict_proba(new), rtol=2e-3)
    assert_allclose(found["mean"], model.predict_proba(new)[:, target], rtol=2e-3)
    assert_allclose(found["functionLow"], lower[:, target], atol=1e-3)
    assert_allclose(found["functionHigh"], upper[:, target], atol=1e-3)


@pytest.mark.parametrize("is_older", [False, True])
def test_page_has_the_same_probabilities(rare, is_older):
    shift = rare.odds(0).shift
    odds = (LogOdds(shift=shift, level=shift),) if is_older else rare.log_odds
    model = replace(rare, log_odds=odds)
    X = np.random.default_rng(1).uniform(0.0, 10.0, (30, 2))
    found = page_predictions(payload(model), X, 0)
    lower, upper = model.predict_interval(X, latent=True)
    assert_allclose(found["mean"], model.mean(X), rtol=2e-3)
    assert_allclose(found["functionLow"], lower, atol=1e-3)  # ends are steps of a sum
    assert_allclose(found["functionHigh"], upper, atol=1e-3)


@pytest.mark.parametrize("name", ["two inputs", "five inputs", "additive", "matern 0.5"])
def test_fewer_digits_change_less_than_a_screen_shows(name):
    gp = fitted(name)
    X = np.random.default_rng(1).uniform(0.0, 10.0, (30, gp.options.columns))
    expected, found = predictions(gp, X, 0), page_predictions(numbers_of(gp, FEWER_DIGITS), X, 0)
    width = 5.0  # of the target's bounds
    assert_allclose(found["mean"], expected["mean"], rtol=0, atol=1e-7 * width)
    for key in ("std", "observationStd"):
        assert_allclose(found[key], expected[key], rtol=1e-3, atol=1e-5 * width, err_msg=key)


@pytest.mark.parametrize("name", ["two inputs", "local scale of many", "categories"])
def test_page_has_the_same_centiles(name):
    gp = fitted(name)
    X = np.random.default_rng(2).uniform(0.0, 10.0, (20, gp.options.columns))
    X = gp.options.box.with_whole_levels(gp.options.box.clip(X))
    found = page_predictions(numbers_of(gp, ALL_DIGITS), X, 0)["centiles"].T
    assert_allclose(found, gp.predict_quantile(CodedRows(X), CENTILES), rtol=0, atol=1e-9)


def test_models_with_and_without_a_local_scale_are_among_the_examples():
    assert fitted("local scale of many").scales
    assert not fitted("no warp").scales


def test_other_kernels_have_no_payload():
    with pytest.raises(ValueError, match="Matern"):
        payload(fitted("bessel"))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("ticks(0, 10, 5)", [0, 2, 4, 6, 8, 10]),
        ("ticks(-0.31, 0.29, 4)", [-0.2, 0, 0.2]),
        ("sliderStep(2, 18)", 0.1),
        ("sliderStep(0, 200)", 1),
        ("formatter(140)(151.26)", "151.3"),
        ("formatter(6)(-0.1204)", "−0.12"),
        ("formatter(1e9)(12340)", "1.234e+4"),
        ("shortened('abcdef', 4)", "abc…"),
        ("medianOf({edges: [0, 1, 3], heights: [1, 1]})", 1.5),
        ("levelsOf({categories: [null, ['F', 'M']]}, 1)", ["F", "M"]),
        ("inputFormatter({categories: [['F', 'M']]}, 0)(1)", "M"),
        ("usualValue({categories: [['F', 'M']], density: [{heights: [1, 2]}]}, 0)", 1),
        ("usualValue({categories: [['F', 'M']], density: null}, 0)", 0),
        ("usualValue({low: [0], high: [4], density: null}, 0)", 2),
        ("contourPath([0, 1, 0, 1], 2, 0.25, (i) => i * 4, (j) => j)", "M1.0 0.0L1.0 1.0"),
    ],
)
def test_scales(call, expected):
    found = evaluate(SCALES, call)
    assert found == (expected if isinstance(expected, str) else pytest.approx(expected))
