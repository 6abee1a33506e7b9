"""R² as it is stated, beside R² on rows that no fit has seen, and what it is made of."""

import json
from dataclasses import replace

import numpy as np
import pytest
from effect_models import fitted, with_function
from scipy.special import expit, ndtri
from typer.testing import CliRunner

from dpgp import PrivateGPClassifier, PrivateGPRegressor
from dpgp.cli import app
from dpgp.effects import explained as explaining
from dpgp.inference.conformal import FINE_EDGES, Calibration
from dpgp.inference.residual_families import both_sides
from dpgp.report.html import report_html
from dpgp.report.notebook import model_html
from dpgp.steps import LAW_OF_RESIDUALS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LAWS = {
    "bell": lambda rng, X: rng.standard_normal(len(X)),
    "skewed": lambda rng, X: rng.exponential(1.0, len(X)) - 1.0,
    "heteroscedastic": lambda rng, X: (1.0 + 0.7 * X[:, 0]) * rng.standard_normal(len(X)) / 1.08,
}
CASES = [
    (1, 0.0, "bell"),
    (1, 0.4, "heteroscedastic"),
    (2, 0.9, "bell"),
    (2, 0.15, "skewed"),
    (4, 0.4, "bell"),
    (4, 0.7, "skewed"),
]


def simulated(inputs, share, law, epsilon=2.0):
    """Return what is stated after a fit of 2,500 rows, and what 20,000 others say."""
    rng = np.random.default_rng([inputs, round(10 * share)])
    X = rng.uniform(-1.0, 1.0, (22_500, inputs))
    f = np.sin(2.0 * X[:, 0]) + X[:, -1]
    y = np.sqrt(share) * f / f.std() + np.sqrt(1.0 - share) * LAWS[law](rng, X)
    gp = PrivateGPRegressor(epsilon, 1e-5, bounds=(-1, 1), target_bounds=(-5, 6), random_state=0)
    model = gp.fit(X[:2500], y[:2500]).model_
    error = np.mean((y[2500:] - model.predict(X[2500:])) ** 2)
    return model, max(0.0, 1.0 - error / np.var(y[2500:]))


@pytest.mark.parametrize(("inputs", "share", "law"), CASES, ids=str)
def test_it_is_what_held_out_rows_say(inputs, share, law):
    model, held_out = simulated(inputs, share, law)
    stated = model.explained()
    # one draw misses a 95 % interval one time in twenty, and one of 3.4 sds one in 1,500
    assert abs(held_out - stated.value) < 3.4 / 1.96 * (stated.high - stated.low) / 2
    assert stated.value == pytest.approx(held_out, abs=0.1)
    assert stated.high - stated.low < 0.35


def test_of_yes_and_no_it_is_that_of_the_probability():
    rng = np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, (22_500, 1))
    y = (rng.random(len(X)) < expit(3.0 * X[:, 0] - 1.5)).astype(int)
    gp = PrivateGPClassifier(2.0, 1e-5, bounds=(-1, 1), classes=(0, 1), random_state=0)
    model = gp.fit(X[:2500], y[:2500]).model_
    held_out = 1.0 - np.mean((y[2500:] - model.mean(X[2500:])) ** 2) / np.var(y[2500:])
    stated = model.explained()
    assert stated.low <= held_out <= stated.high
    assert stated.value == pytest.approx(held_out, abs=0.03)


def test_it_is_variance_over_all_variance():
    model = with_function(fitted("two"), lambda U: 0.3 * U[:, 0])
    model = replace(model, calibrations=(Calibration.gaussian(),))
    U = model.inputs(model.density.points)
    shares = model.density.weights / model.density.weights.sum()
    mean, std = model.mean_and_std(0, U)
    variance = shares @ (mean - shares @ mean) ** 2
    assert model.explained().value == pytest.approx(
        variance / (variance + shares @ std**2), rel=0.02
    )


def test_what_lies_beyond_the_bounds_does_not_count():
    model = fitted("three")
    law = model.calibrations[0]
    far = replace(law, factors=np.where(np.abs(law.factors) > 20, 50, 1) * law.factors)
    assert replace(model, calibrations=(far,)).explained().value == pytest.approx(
        model.explained().value, rel=1e-3
    )


def test_noise_widens_the_interval_and_no_law_is_no_excuse(monkeypatch):
    model = fitted("one")
    share = model.explained()
    noise = model.noise_of(LAW_OF_RESIDUALS)
    monkeypatch.setattr(type(model), "noise_of", lambda self, label: 30.0 * noise)
    wider = model.explained()
    assert wider.high - wider.low > 1.5 * (share.high - share.low)
    gp = PrivateGPRegressor(
        2.0, 1e-5, bounds=(0, 1), target_bounds=(-3, 3), calibrate=False, random_state=0
    )
    rng = np.random.default_rng(0)
    own = gp.fit(rng.uniform(0, 1, (1000, 1)), rng.standard_normal(1000)).explained()
    assert 0.0 == own.low <= own.value < own.high < 0.2


def test_squares_of_counted_masses_are_known_as_well_as_it_says():
    t = np.exp(0.6 * ndtri(explaining.LEVELS)) - np.exp(0.18)
    edges, noise, rng = both_sides(FINE_EDGES), 0.008 * t.std(), np.random.default_rng(0)
    places = np.searchsorted(edges[1:-1], t)
    q = np.bincount(places, minlength=len(edges) - 1) / len(t)
    means = np.bincount(places, t**2, len(edges) - 1) / np.maximum(q * len(t), 1.0)
    sds = explaining.PRIOR_ERROR * q
    true = q + sds * rng.standard_normal((40_000, len(q)))
    counted = true + noise * rng.standard_normal(true.shape)
    believed = q + sds**2 / (sds**2 + noise**2) * (counted - q)
    wrong = (believed - true) @ means / (q @ means)
    stated = explaining.error_of_squares(t, edges, noise)
    assert stated == pytest.approx(wrong.std(), rel=0.02)


def test_noise_hides_more_of_the_squares_of_a_long_tail():
    edges, bell = both_sides(FINE_EDGES), ndtri(explaining.LEVELS)
    tail = np.exp(0.6 * bell)
    tail = (tail - tail.mean()) / tail.std()
    error = explaining.error_of_squares
    assert error(tail, edges, 0.008) > 1.5 * error(bell, edges, 0.008)
    assert error(tail, edges, 0.0) == 0.0
    assert error(bell, edges, 0.02) > error(bell, edges, 0.008)


def test_it_is_shown_with_its_interval(tmp_path):
    model = fitted("two targets")
    model.save(tmp_path / "model.json")
    first = model.explained(target=0)
    assert str(first) == f"{first.percent} ({first.interval})"
    assert str(first) in model_html(model)
    assert f"about {first}" in report_html(model)
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "model.json")], env={"COLUMNS": "200"})
    assert f"about {first} of the variance" in shown.output
    told = CliRunner().invoke(app, ["show", str(tmp_path / "model.json"), "--json"])
    assert json.loads(told.output)["targets"][0]["explained"] == pytest.approx(vars(first))
    with pytest.raises(ValueError, match="`target` must say which"):
        model.explained()
