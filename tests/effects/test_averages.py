"""Partial dependence, averages with inputs set, contrasts and slopes."""

import numpy as np
import pandas as pd
import pytest
from effect_models import HIGH, LOW, MODELS, fitted, with_function
from numpy.testing import assert_allclose

from dpgp import PrivateGPClassifier
from dpgp.effects.averages import GRID_POINTS
from dpgp.model.input_model import representative_rows


def test_of_one_input_partial_dependence_is_the_function():
    model = fitted("one")
    effect = model.partial_dependence("input")
    x = effect.at["input"]
    assert_allclose(x, np.linspace(0, 10, GRID_POINTS))
    mean, std = model.predict(x[:, None], return_std=True, latent=True)
    lower, upper = model.predict_interval(x[:, None], latent=True)
    assert_allclose(effect.mean, mean)
    assert_allclose(effect.std, std, rtol=1e-6)
    assert_allclose([effect.lower, effect.upper], [lower, upper], rtol=1e-6)


def test_partial_dependence_averages_predictions_over_the_private_density():
    model = fitted("three")
    effect = model.partial_dependence(0)
    rows = representative_rows(model)
    rows[:, 0] = effect.at["input 1"][7]
    assert effect.mean[7] == pytest.approx(model.predict(rows).mean())
    assert_allclose(effect.mean, model.average({0: effect.at["input 1"]}).mean)


def test_a_difference_of_averages_has_an_interval_of_its_own():
    model = fitted("two")
    low, high = model.average({"input 1": 2.0}), model.average({"input 1": 4.0})
    change = model.average({"input 1": [3.0, 4.0]}, {"input 1": 2.0})
    assert change.mean[1] == pytest.approx(high.mean[0] - low.mean[0])
    nothing = model.average({"input 1": 2.0}, {"input 1": 2.0})
    assert_allclose([nothing.mean, nothing.std], 0.0, atol=1e-6)
    assert list(change.to_dict()) == ["input 1 before", "input 1", "mean", "std", "lower", "upper"]
    assert change.to_dict()["input 1 before"] == [2.0, 2.0]


def test_contrasts_pair_rows_and_repeat_a_single_one():
    model = fitted("two")
    A, B = np.array([[1.0, 1.0]]), np.array([[2.0, 3.0], [9.0, 1.0]])
    forth, back = model.contrast(A, B), model.contrast(B, A)
    assert_allclose(forth.mean, model.predict(B) - model.predict(A))
    assert_allclose(forth.mean, -back.mean)
    assert_allclose(forth.lower, -back.upper)
    wide = model.contrast(A, B, 0.99)
    assert np.all(wide.upper > forth.upper)
    with pytest.raises(ValueError, match="equally many rows"):
        model.contrast(np.ones((3, 2)), B)


def test_slopes_are_derivatives_in_units_of_input_and_target():
    linear = fitted("nothing released of the inputs")
    model = with_function(linear, lambda U: 0.1 * U[:, 0] - 0.2 * U[:, 1])
    # inputs are 5u + 5, the target is 2.5 f + 0.5
    at = [[0.0, 3.0, 1.0, 1.0], [5.0, 5.0, 5.0, 5.0], [10.0, 3.0, 1.0, 1.0]]
    assert_allclose(model.slope(0, at).mean, 0.05, rtol=1e-4)
    average = model.slope("input 2")
    assert average.mean.shape == (1,)
    assert average.mean[0] == pytest.approx(-0.1, rel=1e-4)


def test_effects_are_of_the_function_before_it_is_cut():
    model = with_function(fitted("one"), lambda U: 3.0 * U[:, 0])
    assert model.predict([[10.0]])[0] == 3.0
    assert model.contrast([[5.0]], [[10.0]]).mean[0] == pytest.approx(7.5, rel=0.01)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "two targets"])
def test_every_kind_of_model_answers(name):
    model = fitted(name)
    for effect in (model.average(), model.slope(0), model.partial_dependence(0)):
        assert np.all(effect.lower < effect.mean)
        assert np.all(effect.std < 3.0)


def test_several_targets_need_a_choice():
    model = fitted("two targets")
    with pytest.raises(ValueError, match="`target` must say which of the 2 targets"):
        model.average()
    assert model.slope(1, target=1).mean[0] == pytest.approx(0.1, abs=0.05)
    assert "target 2" in repr(model.average(target=1))


def test_rows_are_checked_as_for_predictions():
    with pytest.raises(ValueError, match="must have 2 columns"):
        fitted("two").contrast([[1.0]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="finite and complete"):
        fitted("two").slope(0, [[1.0, np.nan]])


@pytest.mark.parametrize("column", ["height", 2, -1, True, None])
def test_an_input_must_be_one_of_the_models(column):
    words = r"`column` must be an input of the model \(input 1, input 2\) or its number"
    with pytest.raises(ValueError, match=words):
        fitted("two").partial_dependence(column)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (
            {"input 1": 11.0},
            "'input 1' must be set to a number, .* between its public bounds 0 and 10",
        ),
        ({0: np.nan}, "between its public bounds"),
        ({0: []}, "between its public bounds"),
        ({0: [[1.0]]}, "between its public bounds"),
        ({0: "old"}, "'input 1' must be set to a number"),
        ({0: [1.0, 2.0], 1: [1.0, 2.0, 3.0]}, "equally many values"),
        ([0, 1], "must be set by a mapping"),
    ],
)
def test_inputs_are_set_to_values_within_bounds(at, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fitted("two").average(at)


def test_settings_of_averages_and_their_partners_must_match():
    with pytest.raises(ValueError, match="equally many"):
        fitted("two").average({0: [1.0, 2.0, 3.0]}, {0: [1.0, 2.0]})


def test_answers_become_frames():
    frame = pd.DataFrame(fitted("two").partial_dependence(1).to_dict())
    assert list(frame.columns) == ["input 2", "mean", "std", "lower", "upper"]
    assert len(frame) == GRID_POINTS


def test_averages_of_a_probability_keep_its_bounds():
    rng = np.random.default_rng(3)
    X = rng.uniform(LOW, HIGH, (200, 2))
    y = (rng.random(200) < 0.05).astype(int)
    gp = PrivateGPClassifier(0.5, 1e-5, bounds=(LOW, HIGH), classes=(0, 1), random_state=0)
    model = gp.fit(X, y).model_
    effect = model.partial_dependence(0)
    assert effect.lower.min() == 0.0
    assert (effect.lower <= effect.mean).all()
    assert (effect.mean <= effect.upper).all()
    assert effect.upper.max() <= 1.0
    assert model.average({0: 1.0}, {0: 9.0}).lower[0] < 0.0  # a difference may be negative
