"""Sobol indices and interactions of known functions."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from effect_models import MODELS, fitted, with_function
from typer.testing import CliRunner

from dpgp import PrivateGPRegressor
from dpgp.cli import app
from dpgp.effects.functionals import hull
from dpgp.effects.importance import PAIRED_INPUTS, _sweeps
from dpgp.report.html import report_html


def shares(importance, kind):
    return dict(zip(importance.inputs, getattr(importance, kind), strict=True))


def holds(share, truth, slack=0.0):
    assert 0.0 <= share.low <= share.value <= share.high <= 1.0
    assert share.low - slack <= truth <= share.high + slack


@pytest.mark.parametrize(
    ("f", "total", "first", "both"),
    [
        # U is about uniform on [−1, 1]²
        (lambda U: 0.3 * U[:, 0] + 0.1 * U[:, 1], (0.9, 0.1), (0.9, 0.1), 0.0),
        (lambda U: 0.4 * U[:, 0] * U[:, 1], (1.0, 1.0), (0.0, 0.0), 1.0),
        # x₁ has 1/3, x₁x₂ 1/9 of the variance 4/9
        (lambda U: 0.3 * U[:, 0] * (1 + U[:, 1]), (1.0, 0.25), (0.75, 0.0), 0.25),
    ],
    ids=["additive", "interaction", "both"],
)
def test_indices_of_known_functions(f, total, first, both):
    model = with_function(fitted("two"), f)
    importance = model.importance()
    for kind, truths in (("total", total), ("first", first)):
        found = shares(importance, kind)
        for name, truth in zip(model.input_names, truths, strict=True):
            holds(found[name], truth, slack=0.04)  # the private marginals are not quite uniform
            assert found[name].value == pytest.approx(truth, abs=0.06)
    (pair,), (share,) = model.interactions().pairs, model.interactions().shares
    assert set(pair) == set(model.input_names)
    holds(share, both, slack=0.04)
    assert share.value == pytest.approx(both, abs=0.06)


def test_of_one_input_it_is_all():
    importance = fitted("one").importance()
    assert importance.total[0].low > 0.95
    assert importance.first[0].value == pytest.approx(1.0, abs=0.01)
    assert fitted("one").interactions().pairs == []


def test_a_constant_function_has_no_shares():
    model = with_function(fitted("two"), lambda U: np.zeros(len(U)))
    importance = model.importance()
    assert importance.std.low == 0.0
    assert "may be constant" in repr(importance)
    assert all(share.value == share.low == 0.0 for share in importance.total)
    assert all(share.value == 0.0 for share in model.interactions().shares)


def test_a_function_of_noise_is_said_to_be_constant_first_and_shows_no_shares(tmp_path):
    rng = np.random.default_rng(0)
    gp = PrivateGPRegressor(
        1.0, 1e-5, bounds=(0, 1), target_bounds=(-3, 3), features="linear", random_state=0
    )
    model = gp.fit(rng.uniform(0, 1, (2000, 2)), rng.standard_normal(2000)).model_
    importance, together = model.importance(), model.interactions()
    assert max(share.value for share in importance.total) > 0.4  # what a headline would have been
    assert importance.may_be_constant
    assert together.may_be_constant
    for answer in (importance, together):
        assert "may be constant" in repr(answer)
        assert "%" not in repr(answer)
        assert "%" not in answer._repr_html_()
    page = report_html(model)
    short = page[page.index("explained (R²)") - 600 :]
    assert short.index("may be constant") < short.index("explained (R²)")
    assert "most important inputs" not in page
    assert "Share of the variance of" not in page
    model.save(tmp_path / "noise.json")
    for command in ("effects", "show"):
        text = CliRunner().invoke(app, [command, str(tmp_path / "noise.json")]).output
        assert "may be constant" in text
        assert "█" not in text
        assert "total:" not in text
    told = CliRunner().invoke(app, ["effects", str(tmp_path / "noise.json"), "--json"]).output
    assert json.loads(told)["may_be_constant"] is True


def test_the_most_important_input_is_first():
    importance = fitted("three").importance()
    assert importance.inputs[0] == "input 1"
    values = [share.value for share in importance.total]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "two targets"])
def test_every_kind_of_model_has_indices(name):
    importance = fitted(name).importance()
    assert importance.inputs[0] in ("input", "input 1")
    for share in (*importance.total, *importance.first):
        assert 0.0 <= share.low <= share.value <= share.high <= 1.0


def test_several_targets_have_indices_of_their_own():
    model = fitted("two targets")
    assert model.importance(target=0).inputs[0] == "input 1"
    assert model.importance(target=1).inputs[0] == "input 2"
    with pytest.raises(ValueError, match="`target` must say which"):
        model.importance()


def test_the_interval_holds_both_what_is_drawn_and_its_mirror_image():
    draws = np.concatenate([[0.02], np.linspace(0.03, 0.05, 200)])
    value, low, high = hull(draws)
    assert value == 0.02
    assert low < 0.0
    assert high == pytest.approx(0.0495, abs=1e-3)


def test_many_inputs_are_swept_at_fewer_rows():
    rows = [_sweeps(SimpleNamespace(options=SimpleNamespace(columns=D))) for D in (2, 50, 500)]
    assert rows == [128, 40, 32]


def friedman(X):
    """Friedman (1991), eq. 56, with shares 0.35, 0.27, 0.27, 0.09, 0.09 and 0.075 of a pair."""
    waves = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return waves + 10 * X[:, 3] + 5 * X[:, 4]


FRIEDMAN_TOTAL = (0.272, 0.272, 0.093, 0.350, 0.087, 0.0, 0.0)
FRIEDMAN_FIRST = (0.197, 0.197, 0.093, 0.350, 0.087, 0.0, 0.0)


@pytest.fixture(scope="module")
def friedman_model():
    """Seven inputs, of which two do nothing: one is 0 or 1, the other constant."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 7))
    X[:, 5], X[:, 6] = X[:, 5] < 0.2, 0.5
    y = friedman(X) + rng.normal(size=2000)
    gp = PrivateGPRegressor(6.0, 1e-5, bounds=(0, 1), target_bounds=(-5, 35), random_state=0)
    return gp.fit(X, y)


BEYOND = 0.04
"""Intervals take the metric for known: with seeds from 0 to 4 the farthest share was 0.034 beyond
its interval."""


def test_intervals_hold_the_truth_of_a_private_fit(friedman_model):
    importance = friedman_model.importance()
    for kind, truths in (("total", FRIEDMAN_TOTAL), ("first", FRIEDMAN_FIRST)):
        found = shares(importance, kind)
        for name, truth in zip(friedman_model.model_.input_names, truths, strict=True):
            holds(found[name], truth, slack=BEYOND)
    assert set(importance.inputs[:3]) == {"input 1", "input 2", "input 4"}


def test_the_pair_that_acts_together_is_found(friedman_model):
    interactions = friedman_model.interactions()
    assert len(interactions.pairs) == PAIRED_INPUTS * (PAIRED_INPUTS - 1) // 2
    assert set(interactions.pairs[0]) == {"input 1", "input 2"}
    holds(interactions.shares[0], 0.075, slack=0.02)
    assert all(share.low == 0.0 for share in interactions.shares[1:])


def test_averages_hold_the_truth_of_a_private_fit(friedman_model):
    change = friedman_model.average({"input 4": 0.9}, {"input 4": 0.1})
    assert change.lower[0] < 8.0 < change.upper[0]
    assert change.std[0] < 0.5
    slope = friedman_model.slope("input 5")
    assert slope.lower[0] < 5.0 < slope.upper[0]
