import itertools
import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.gaussian_process.kernels import DotProduct

import dpgp
from dpgp.choices import Missing
from dpgp.planning import design
from dpgp.planning.design import choose_design
from dpgp.planning.plan import Plan
from dpgp.planning.setting import Setting
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp.steps import Stage
from dpgp.study.columns import Column
from dpgp.study.study import Study

GIRLS = {"bounds": {"age": (2, 18), "weight": (5, 120)}, "target_bounds": (70, 190)}


@pytest.fixture(scope="module")
def girls():
    return dpgp.plan(n=5000, **GIRLS)


def test_it_is_the_function(girls):
    assert callable(dpgp.plan)
    assert isinstance(girls, dpgp.Plan)
    assert dpgp.Plan is Plan


def test_the_forecast_is_in_units_of_the_target(girls):
    scaled = dpgp.plan(n=5000, bounds=[(-1, 1)] * 2, target_bounds=(-1, 1)).forecast
    assert girls.forecast.rmse == pytest.approx(60 * scaled.rmse)
    assert girls.forecast.interval_width == pytest.approx(60 * scaled.interval_width)
    assert girls.forecast.relative == pytest.approx(girls.forecast.rmse / 120)
    assert girls.forecast.low < girls.forecast.rmse < girls.forecast.high
    assert girls.forecast.interval_width > 2 * girls.forecast.rmse


def test_the_design_is_the_one_a_fit_takes(girls):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (400, 1))
    gp = dpgp.PrivateGPRegressor(0.5, bounds=(0, 1), target_bounds=(-1, 1), random_state=0)
    gp.fit(X, rng.uniform(-1, 1, 400))
    planned = dpgp.plan(n=400, bounds=(0, 1), target_bounds=(-1, 1), epsilon=0.5).design
    (stages,) = gp.release_
    assert len(stages[0].B) == planned.n_features
    assert len(stages) == len(planned.stages)


def test_the_design_says_everything(girls):
    planned = girls.design
    assert planned.inducing_points.min(axis=0) == pytest.approx([2, 5])
    assert planned.inducing_points.max(axis=0) == pytest.approx([18, 120])
    assert planned.warp
    others = planned.warp_share + planned.law_share + planned.guard_share + planned.scale_share
    others += planned.calibration_share
    spent = planned.count_share + others + sum(planned.stages)
    assert spent == pytest.approx(1.0)
    five = {"n": 20_000, "bounds": [(0, 1)] * 5, "target_bounds": (0, 1), "epsilon": 3.0}
    for wish in ({}, {"features": ("linear", "joint")}, {"inducing_points": np.eye(5)}):
        mixture = dpgp.plan(**five, **wish).design
        assert sum(mixture.feature_shares) == pytest.approx(1.0)
        assert len(mixture.length_scales) == len(mixture.features)
    assert mixture.n_features == 5
    assert mixture.inducing_points == pytest.approx(np.eye(5))


def test_features_that_were_asked_for_limit_what_is_forecast_of_many_inputs():
    five = {"n": 50_000, "bounds": [(0, 1)] * 5, "target_bounds": (0, 1), "epsilon": 3.0}
    free, line = dpgp.plan(**five), dpgp.plan(**five, features="linear")
    assert line.forecast.rmse > 1.5 * free.forecast.rmse
    assert line.design.n_features == 6
    assert any("features, not privacy, limit" in why for why in line.why)
    straight = dpgp.plan(**five, features="linear", kernel=DotProduct())
    assert straight.forecast.rmse < 0.5 * line.forecast.rmse


RELATIONS = list(itertools.product(("replace", "add-remove"), ("error", "ignore"), (False, True)))


@pytest.mark.parametrize(("neighbours", "missing", "units"), RELATIONS)
def test_a_plan_splits_the_budget_as_the_fit_does(neighbours, missing, units):
    rng = np.random.default_rng(0)
    about = {"neighbours": neighbours, "missing": missing, "features": "linear", "stages": 2}
    bounds = {"bounds": (0, 1), "target_bounds": (-1, 1)}
    gp = dpgp.PrivateGPRegressor(1.0, random_state=0, **bounds, **about)
    gp.fit(rng.uniform(0, 1, (400, 1)), rng.uniform(-1, 1, 400), np.arange(400) if units else None)
    ledger_mu = mu_of_guarantee(1.0, 1e-6)
    spent = {r.label: (r.mu / ledger_mu) ** 2 for r in gp.certificate_.releases}
    planned = dpgp.plan(n=400, units=units, **bounds, **about).design
    shares = {
        "number of rows": planned.count_share,
        "input histograms": planned.warp_share,
        "stage 1": planned.stages[0],
        "stage 2": planned.stages[1],
        "law of residuals": planned.law_share,
        "guard of the mean": planned.guard_share,
        "local scale": planned.scale_share,
        "residual histograms": planned.calibration_share,
    }
    assert spent == pytest.approx({label: s for label, s in shares.items() if s > 0.0}, rel=1e-6)


def test_rows_are_public_where_nothing_can_take_one_away():
    for neighbours, missing, units in itertools.product(Neighbours, Missing, (None, "person")):
        columns = {"features": (Column("age", 2, 18),), "targets": (Column("height", 70, 190),)}
        said = {"neighbours": neighbours, "unit": units, "missing": missing}
        asked = Study(**columns, **said, epsilon=1.0, delta=1e-6)
        only = (neighbours, missing, units) == (Neighbours.REPLACE, Missing.ERROR, None)
        assert asked.options.row_count_is_public == only


def test_several_rows_of_a_person_cost_noise(girls):
    one, three = (
        dpgp.plan(n=5000, units=True, max_rows_per_unit=most, **GIRLS).forecast.rmse
        for most in (1, 3)
    )
    assert girls.forecast.rmse < one < three


def test_one_line_for_each_choice(girls):
    assert len(girls.why) == 12
    assert all("\n" not in reason for reason in girls.why)
    given = dpgp.plan(n=5000, features="linear", warp=False, calibrate=False, stages=1, **GIRLS)
    assert "features: as asked for" in given.why
    assert any("declined" in reason for reason in given.why)


def test_curves(girls):
    along = girls.curve(epsilons=[0.3, 1.0, 10.0])
    assert np.all(np.diff(along.rmse) < 0)
    assert np.all(along.floor < along.rmse)
    assert along.rmse[1] == pytest.approx(girls.forecast.rmse)
    rows = girls.curve(ns=[1000, 5000, 50_000])
    assert np.all(np.diff(rows.rmse) < 0)
    assert np.all(np.diff(rows.floor) < 0)
    assert rows.rmse[1] == pytest.approx(girls.forecast.rmse)


def test_the_smallest_epsilon_reaches_the_error_and_no_smaller_one_does(girls):
    epsilon = girls.epsilon_for(error=2.0)
    just_reached, missed = girls.curve(epsilons=[epsilon, epsilon / 1.05]).rmse
    assert just_reached <= 2.0 < missed


def test_not_with_this_n(girls):
    with pytest.raises(ValueError, match=r"n = 5,000 rows.*Collect more rows"):
        girls.epsilon_for(error=0.01)


def test_less_is_known_of_a_rougher_function_or_noisier_data():
    quiet, noisy = (dpgp.plan(n=5000, noise_std=s, **GIRLS).forecast.rmse for s in (1.0, 15.0))
    assert quiet < noisy


def test_text_html_and_figure(girls):
    text = str(girls)
    assert f"{girls.forecast.rmse:.3g}" in text
    assert all(reason in text for reason in girls.why)
    assert "one plausible function in ten has less, one more" in text
    html = girls._repr_html_()
    assert html.count("<tr>") == html.count("</tr>") == 8
    axes = girls.plot()
    labels = [line.get_label() for line in axes.lines]
    assert "without privacy" in labels
    given = Figure().subplots()
    assert girls.plot(ax=given) is given


BAD = {
    "no bounds": ({"bounds": None}, "`bounds` must be given"),
    "no target bounds": ({"target_bounds": None}, "`target_bounds` must be given"),
    "hopeless": (
        {"n": 200, "epsilon": 0.1},
        r"n = 200 and epsilon = 0.1 no choice beats predicting",
    ),
    "few rows": ({"n": 10}, "below the number of features, 16; ask for fewer"),
    "n not whole": ({"n": 10.5}, "`n` must be a whole number"),
    "n negative": ({"n": -3}, "`n` must be positive"),
    "epsilon": ({"epsilon": 0.0}, "`epsilon` must be positive"),
    "noise": ({"noise_std": 0.0}, "`noise_std` must be positive"),
    "kernel": ({"kernel": "rbf"}, "must be a scikit-learn kernel"),
    "missing": ({"missing": "drop"}, "`missing` must be 'error' or 'ignore'"),
    "rows of a unit": ({"max_rows_per_unit": 0}, "`max_rows_per_unit` must be positive"),
    "features": ({"features": "cubic"}, "`features` must be among"),
}


@pytest.mark.parametrize("case", BAD, ids=list(BAD))
def test_bad_input_names_the_remedy(case):
    options, text = BAD[case]
    with pytest.raises((ValueError, TypeError), match=text):
        dpgp.plan(**({"n": 5000} | GIRLS | options))


def test_bad_curves(girls):
    for options in ({}, {"epsilons": [1.0], "ns": [100]}):
        with pytest.raises(ValueError, match="either `epsilons` or `ns`"):
            girls.curve(**options)
    with pytest.raises(ValueError, match="must be positive"):
        girls.curve(epsilons=[-1.0])
    with pytest.raises(ValueError, match="`error` must be positive"):
        girls.epsilon_for(error=-1.0)


def test_features_of_ten_inputs_are_learned_and_forecast_so():
    planned = dpgp.plan(n=20_000, bounds=[(0, 1)] * 10, target_bounds=(0, 1), epsilon=3.0)
    assert planned.design.features == ("learned",)
    assert any("learned" in line for line in planned.why)
    curve = planned.curve(epsilons=[0.3, 1.0, 3.0, 10.0])
    assert (np.diff(curve.rmse) < 0).all()
    assert (curve.floor < curve.rmse).all()
    assert 0.3 < planned.epsilon_for(planned.curve(epsilons=[1.0]).rmse[0]) < 1.1


def test_designs_are_planned_once(monkeypatch):
    mu = mu_of_guarantee(1.0, 1e-6)
    public, stages = Setting(4321, 2, mu), (Stage(0.3, 1, 2), Stage(0.6, 2, 2))
    first = choose_design(public, stages)

    def compare_again(*_):
        raise AssertionError("forecasts were made again")

    monkeypatch.setattr(design, "compare", compare_again)
    assert choose_design(public, stages).layout == first.layout


@pytest.mark.parametrize(
    "outcome", [{"target_bounds": (0, 1)}, {"classes": ["a", "b", "c"], "stages": 6}]
)
def test_stages_are_called_worth_their_split_where_the_forecast_says_so(outcome):
    why = dpgp.plan(n=3000, bounds=[(0, 1)], **outcome).why[-1]
    split, single = (float(figure) for figure in re.findall(r"0\.\d+", why))
    assert ("worth their split" in why) == (split < single)
    assert ("unless `stages` says 1" in why) == (split >= single)


def test_a_forecast_of_classes_is_of_probabilities(girls):
    classes = dpgp.plan(n=3000, bounds=[(0, 1)], classes=["a", "b", "c"])
    assert "expected error of the probability" in str(classes)
    assert classes.plot().get_ylabel() == "error of the probability, from 0 to 1"
    assert "expected error of the mean" in str(girls)
    assert girls.plot().get_ylabel() == "error of the mean, in units of the target"
