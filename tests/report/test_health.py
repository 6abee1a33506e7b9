import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dpgp import PrivateGPClassifier, PrivateGPRegressor, load
from dpgp.inference.conformal import Calibration
from dpgp.report import health
from dpgp.report.expected_error import expected_error
from dpgp.report.health import FittedTarget, check_health
from dpgp.report.html import report_html
from dpgp.report.notebook import model_html

AGE = np.random.default_rng(3).uniform(2, 18, (1500, 1))
CM = 80 + 5.5 * AGE[:, 0] + 5 * np.random.default_rng(4).standard_normal(1500)
COSTS = np.minimum(np.random.default_rng(7).exponential(0.2, 1500), 1.0)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def fitted(y, target_bounds=(70, 190)):
    model = PrivateGPRegressor(
        1.0, 1e-5, bounds=(2, 18), target_bounds=target_bounds, random_state=0
    )
    return model.fit(AGE, y).model_


@pytest.fixture(scope="module")
def healthy():
    return fitted(CM)


@pytest.fixture(scope="module")
def in_millimetres():
    return fitted(10 * CM)


def test_a_healthy_model_raises_no_alarm(healthy):
    assert healthy.health == ()
    assert 'class="health"' not in report_html(healthy)


def test_a_wrong_unit_is_named_once_and_shown_everywhere(in_millimetres):
    (sentence,) = in_millimetres.health
    assert "same unit" in sentence
    assert "same unit" in model_html(in_millimetres)
    assert "same unit" in report_html(in_millimetres)


def test_a_saved_model_has_the_same_health(in_millimetres, tmp_path):
    in_millimetres.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").health == in_millimetres.health


def test_metres_in_bounds_of_centimetres():
    found = fitted(CM / 100).health
    assert any("would leave its bounds" in sentence for sentence in found)


@pytest.mark.parametrize("labels", [(0, 1), (0, 1, 2)])
def test_a_probability_has_no_unit_to_check(labels, monkeypatch):
    y = np.random.default_rng(5).integers(0, len(labels), 1500)
    gp = PrivateGPClassifier(1.0, 1e-5, bounds=(2, 18), classes=labels, random_state=0)
    target = FittedTarget(gp.fit(AGE, y).model_, 0)
    assert health.outside_bounds(target) is None
    monkeypatch.setattr(health, "OFTEN", -1.0)
    said = health.outside_bounds(target)
    assert "noise took the probability" in said
    assert "unit" not in said


def test_codes_for_missing_values():
    coded = np.where(np.arange(1500) % 14 == 0, -999.0, CM)
    assert any("`missing_codes`" in sentence for sentence in fitted(coded).health)


def test_two_values(healthy):
    factors = np.linspace(0, 6, 241)
    two_atoms = Calibration.of_absolute(factors, np.clip(factors - 0.5, 0, 1))
    found = health.two_values(FittedTarget(replace(healthy, calibrations=(two_atoms,)), 0))
    assert "PrivateGPClassifier" in found
    assert health.two_values(FittedTarget(healthy, 0)) is None


def test_the_released_law_tells_two_values_and_a_spike(healthy):
    laws = healthy.findings["law of residuals"]
    assert laws[0]["bell"] > 0.5
    for kind, check in (("two values", health.two_values), ("spike", health.many_equal)):
        told = replace(
            healthy, findings={"law of residuals": [dict.fromkeys(laws[0], 0.0) | {kind: 1.0}]}
        )
        assert check(FittedTarget(healthy, 0)) is None
        sentence = check(FittedTarget(told, 0))
        assert "equal" in sentence or "two values" in sentence


@pytest.mark.parametrize(
    ("y", "word"),
    [
        (np.random.default_rng(5).random(1500) < AGE[:, 0] / 20, "two values"),
        (np.random.default_rng(6).random(1500) < 0.2, "two values"),
        (np.where(np.arange(1500) % 10 < 7, 0.0, COSTS), "equal"),
    ],
)
def test_yes_no_and_many_zeros(y, word):
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(2, 18), target_bounds=(0, 1), random_state=0)
    found = gp.fit(AGE, y.astype(float)).health_
    assert sum(word in sentence for sentence in found) == 1


BELL = np.random.default_rng(5).normal(60.0, 12.0, 4000)
FEW = np.random.default_rng(6).uniform(size=4000)


@pytest.mark.parametrize(
    ("y", "far"),
    [
        (np.minimum(BELL, 60.0), False),  # half of them at a bound
        (np.where(FEW < 0.4, 60.0, BELL), False),  # heaped
        (np.where(FEW < 0.05, 600.0, BELL), True),
        (np.where(FEW < 0.06, -99.0, BELL), True),
    ],
    ids=["capped", "heaped", "another unit", "codes"],
)
def test_equal_observations_are_no_far_ones(y, far):
    """Half of the residuals are small, which makes a long tail of the others in their units."""
    X = np.random.default_rng(7).uniform(0, 1, (4000, 1))
    bounds = (-99, 120) if y.min() < 0 else (0, 660) if y.max() > 500 else (0, 120)
    gp = PrivateGPRegressor(3.0, 1e-6, bounds=(0, 1), target_bounds=bounds, random_state=0)
    found = [text for text in gp.fit(X, y).health_ if "very far" in text or "two values" in text]
    assert bool(found) == far


def test_a_stage_that_made_it_worse(healthy):
    first, *rest = healthy.stages[0]
    assert health.worse_stages(FittedTarget(healthy, 0)) is None
    last = replace(rest[-1], c=2 * first.c + 10 * first.sigma_c)
    worse = replace(healthy, stages=((first, *rest[:-1], last),))
    assert "made residuals larger" in health.worse_stages(FittedTarget(worse, 0))


def test_an_error_far_above_the_forecast(healthy):
    (posterior,) = healthy.posteriors
    vague = replace(posterior, moments=replace(posterior.moments, V=1e4 * posterior.moments.V))
    found = check_health(replace(healthy, posteriors=(vague,)))
    assert any("to be expected" in sentence for sentence in found)


def test_a_forecast_ends_as_soon_as_it_is_certain(healthy):
    (posterior,) = healthy.posteriors
    high = expected_error(healthy, posterior, math.inf)
    assert 0.0 < high < 1.0
    assert expected_error(healthy, posterior, 1.001 * high) == high
    assert expected_error(healthy, posterior, 0.5 * high) == 0.5 * high


def test_a_forecast_that_is_certain_raises_no_alarm(monkeypatch):
    monkeypatch.setattr(health, "expected_error", lambda _, __, enough: enough)
    monkeypatch.setattr(health, "rows_are_few", lambda _: False)
    for error in np.linspace(0.01, 0.1, 50):  # 3(x/3) is not x for some
        look = SimpleNamespace(has_atoms=False, error=float(error), model=None, posterior=None)
        assert health.far_from_forecast(look) is None


def test_the_forecast_that_health_is_compared_with_has_one_thread_of_blas(healthy, monkeypatch):
    def seen(*_):
        found.update(
            each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"
        )
        raise InterruptedError

    found = set()
    monkeypatch.setattr("dpgp.report.expected_error.after_steps", seen)
    with threadpool_limits(2, user_api="blas"), pytest.raises(InterruptedError):
        check_health(healthy)
    assert found == {1}


def test_predictions_stay_within_the_bounds(in_millimetres):
    mean = in_millimetres.predict(AGE)
    assert np.all((mean >= 70) & (mean <= 190))
    for latent in (False, True):
        lower, upper = in_millimetres.predict_interval(AGE, latent=latent)
        assert np.all((lower >= 70) & (lower <= upper) & (upper <= 190))
    assert in_millimetres.sample_y(AGE[:5]).max() > 190  # draws of the function are not cut


def test_figures_stay_within_the_bounds(in_millimetres):
    from dpgp.report.model_plot import _along

    curve = _along(in_millimetres, 0, 0, np.array([10.0]))
    assert max(part.max() for part in (curve[1], curve[2], curve[3])) <= 190
