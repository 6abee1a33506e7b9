"""What holds of every kind of outcome, and of one that only these tests know."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from toy import Grade, GradeRegressor
from typer.testing import CliRunner

import dpgp
from dpgp import outcomes
from dpgp.cli import app
from dpgp.domain import Box
from dpgp.json_document import layout
from dpgp.model.file import ModelFileError
from dpgp.model.file.model import decode, encode
from dpgp.options import Options
from dpgp.outcomes.classes import Classes
from dpgp.outcomes.count import Counted
from dpgp.outcomes.labels import class_box, named_classes
from dpgp.outcomes.number import Number
from dpgp.outcomes.ordered import OrderedClasses
from dpgp.outcomes.yes_no import YesNo
from dpgp.planning.plan import plan_of
from dpgp.report.html.page import report_html
from dpgp.report.notebook import model_html

SOURCE = Path(dpgp.__file__).parent
WIDTH = {"bounds": (0, 1), "random_state": 3}
EXAMPLES = {
    Number: (dpgp.PrivateGPRegressor, {"target_bounds": (1, 6)}, lambda y: y),
    Counted: (dpgp.PrivateGPRegressor, {"target_bounds": (0.5, 6.2), "counts": True}, np.rint),
    YesNo: (dpgp.PrivateGPClassifier, {"classes": ("bad", "good")}, lambda y: grade(y > 3.5)),
    Classes: (dpgp.PrivateGPClassifier, {"classes": ("bad", "fair", "good")}, lambda y: marks(y)),
    OrderedClasses: (
        dpgp.PrivateGPClassifier,
        {"classes": ("bad", "fair", "good"), "ordered": True},
        lambda y: marks(y),
    ),
    Grade: (GradeRegressor, {"target_bounds": (1, 6)}, lambda y: np.rint(2 * y) / 2),
}
OBSERVED = {
    Number: lambda values: np.ones_like(values, dtype=bool),
    Counted: lambda values: values == np.rint(values),
    YesNo: lambda values: (values == 0.0) | (values == 1.0),
    Classes: lambda values: np.isin(values, [0.0, 1.0, 2.0]),
    OrderedClasses: lambda values: np.isin(values, [0.0, 1.0, 2.0]),
    Grade: lambda values: 2 * values == np.rint(2 * values),
}


def grade(is_good):
    return np.where(is_good, "good", "bad")


def marks(y):
    return np.array(["bad", "fair", "good"])[np.digitize(y, [2.5, 4.5])]


def rows(columns, n=600):
    rng = np.random.default_rng(columns)
    X = rng.uniform(0.0, 1.0, (n, columns))
    return X, np.clip(3.5 + 2 * np.sin(4 * X[:, 0]) + 0.5 * rng.standard_normal(n), 1.0, 6.0)


@pytest.fixture(scope="module", autouse=True)
def _line():
    """The line that adds a kind."""
    outcomes.KINDS.append(Grade)
    yield
    outcomes.KINDS.remove(Grade)


@pytest.fixture(scope="module", params=[1, 5], ids=["one input", "five inputs"])
def columns(request):
    return request.param


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def model(kind, columns):
    estimator, options, observed = EXAMPLES[kind]
    X, y = rows(columns)
    return estimator(3.0, 1e-6, **WIDTH, **options).fit(X, observed(y)).model_


def test_every_kind_has_an_example():
    assert set(EXAMPLES) == set(OBSERVED) == set(outcomes.KINDS)


def test_options_choose_the_kind(model, kind):
    assert type(model.outcome) is kind
    assert all(stage.outcome == model.outcome for stages in model.stages for stage in stages)


def test_a_file_keeps_the_kind(model, tmp_path):
    model.save(tmp_path / "model.json")
    again = dpgp.load(tmp_path / "model.json")
    X, _ = rows(model.options.columns, 20)
    assert again.outcome == model.outcome == again.stages[0][-1].outcome
    assert again.health == model.health
    np.testing.assert_array_equal(again.predict_quantile(X), model.predict_quantile(X))
    assert json.loads((tmp_path / "model.json").read_text())["format"] == model.outcome.file_format


def test_what_is_observed_can_be_observed(model, kind):
    X, _ = rows(model.options.columns, 30)
    quantiles = model.predict_quantile(X, [0.01, 0.1, 0.5, 0.9, 0.99])
    draws = model.sample_y(X, 5, latent=False)
    box = model.options.target_box
    for values in (quantiles, draws, *model.predict_interval(X)):
        assert OBSERVED[kind](values).all()
        assert box.low[0] <= values.min() <= values.max() <= box.high[0]
    assert np.all(np.diff(quantiles, axis=0) >= 0.0)


def test_means_and_intervals_of_the_function_keep_the_bounds(model):
    X, _ = rows(model.options.columns, 30)
    mean, std = model.mean(X, return_std=True, latent=True)
    lower, upper = model.predict_interval(X, 0.9, latent=True)
    box = model.options.target_box
    assert np.all(
        (box.low[0] <= lower) & (lower <= mean) & (mean <= upper) & (upper <= box.high[0])
    )
    assert np.all(std > 0.0)


def test_what_was_observed_is_likelier_than_what_was_not(model, kind):
    X, y = rows(model.options.columns, 200)
    ours, others = (EXAMPLES[kind][2](each) for each in (y, 7.0 - y))
    likely = model.log_predictive_density(X, ours).mean()
    assert likely > model.log_predictive_density(X, others).mean()


def test_nothing_is_clipped_of_a_kind_that_is_not(model, columns):
    labels = {release.label for release in model.certificate.releases}
    asks = {"law of residuals", "guard"} & labels
    assert bool(asks) == model.outcome.is_clipped
    # every residual from a function within the bounds reaches so far at some row
    assert model.outcome.is_clipped or min(stage.clip for stage in model.stages[0]) >= 1.0
    located = columns == 1 or model.outcome.location is not None
    assert ("target histograms" not in labels) == located


def test_a_report_speaks_of_the_kind(model):
    page, outcome = report_html(model), model.outcome
    assert outcome.title in page
    assert f'"mean_word":"{outcome.mean_word}"' in page
    assert model.target_in_words(0) in page
    assert all(line.split(" = ")[0] in page for line in outcome.how_to_predict)
    assert ("noise of target" in model_html(model)) != outcome.law_is_known


def test_predictions_have_the_columns_of_the_kind(model, tmp_path):
    model.save(tmp_path / "model.json")
    names = [f"x{k}" for k in range(model.options.columns)]
    X, _ = rows(model.options.columns, 3)
    np.savetxt(tmp_path / "new.csv", X, delimiter=",", header=",".join(names), comments="")
    called = ["predict", str(tmp_path / "model.json"), str(tmp_path / "new.csv")]
    header, *lines = CliRunner().invoke(app, called).stdout.splitlines()
    expected = [*model.outcome.prediction_columns] * model.n_targets
    assert [name.split("_")[-1] for name in header.split(",")[len(names) :]] == expected
    assert len(lines) == 3


def test_an_export_is_refused_in_the_words_of_the_kind(model):
    why = model.outcome.why_no_export
    if why is None:
        assert dpgp.export.specification(model)
        return
    with pytest.raises(ValueError, match=re.escape(why)):
        dpgp.export.specification(model)


def test_a_plan_forecasts_the_kind_and_refuses_what_it_cannot_be_told(model):
    options = model.options
    assert plan_of(options, 5000).forecast.rmse > 0.0
    for name, why in options.outcome.cannot_be_told.items():
        with pytest.raises(ValueError, match=re.escape(why)):
            plan_of(options, 5000, **{name: 0.5})


UNIT = Box.from_bounds((0, 1), 1)


def test_two_kinds_at_once_and_kinds_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="`counts` and `grades` contradict"):
        Options.parse(box=UNIT, target_box=UNIT, counts=True, grades=True)
    with pytest.raises(ValueError, match="`counts` and `classes` contradict"):
        Options.parse(box=UNIT, target_box=class_box(named_classes((0, 1))), counts=True)
    with pytest.raises(TypeError, match="no option `shares`"):
        Options.parse(box=UNIT, target_box=UNIT, shares=False)
    with pytest.raises(TypeError, match="`grades` must be True or False, got str"):
        Options.parse(box=UNIT, target_box=UNIT, grades="yes")


def test_a_file_of_two_kinds_or_of_an_unknown_one_is_refused(tmp_path):
    X, y = rows(1, 200)
    gp = GradeRegressor(3.0, 1e-6, **WIDTH, target_bounds=(1, 6)).fit(X, y)
    document = encode(gp.model_)
    for name, why in {"counts": "contradict", "shares": "`settings`"}.items():
        forged = {**document, "settings": {**document["settings"], name: True}}
        (tmp_path / f"{name}.json").write_text(layout(forged), encoding="utf-8")
        with pytest.raises(ModelFileError, match=why):
            dpgp.load(tmp_path / f"{name}.json")
    assert decode(document).outcome == Grade()


def test_nobody_else_asks_which_kind_it_is():
    """A new kind touches no other module; verification reads files by rules of its own."""
    apart = ("outcomes", "verify")
    others = [path for path in SOURCE.rglob("*.py") if path.parent.name not in apart]
    asked = re.compile(r"\b(is_yes_no|is_count|YesNo|Counted)\b|isinstance\([^)]*outcome")
    assert [path for path in others if asked.search(path.read_text("utf-8"))] == []
    assert len(others) > 100


def test_a_count_that_is_not_whole_is_the_number_it_is_and_nobody_is_told():
    rng = np.random.default_rng(7)
    X = rng.uniform(0.0, 1.0, (400, 1))
    y = rng.uniform(0.0, 5.0, 400)
    said = {"epsilon": 3.0, "delta": 1e-6, **WIDTH, "target_bounds": (0, 6)}
    number = dpgp.PrivateGPRegressor(**said).fit(X, y)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        count = dpgp.PrivateGPRegressor(**said, counts=True).fit(X, y)
    assert not any("whole" in str(each.message) for each in told)
    np.testing.assert_array_equal(count.predict(X[:20]), number.predict(X[:20]))
    ends = count.predict_interval(X[:20])
    np.testing.assert_array_equal(ends, np.rint(ends))
