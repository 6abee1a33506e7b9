import numpy as np
import pytest

import dpgp
from dpgp.outcomes.labels import named_classes
from dpgp.outcomes.yes_no import YesNo
from dpgp.planning.forecast import Errors
from dpgp.planning.question import are_limited_by_features
from dpgp.planning.setting import Assumption

YES_NO = YesNo(named_classes(("no", "yes")))
WIDE = {"n": 3000, "bounds": (0, 10), "epsilon": 1.0, "delta": 1e-6}
CLASSES = {**WIDE, "classes": ("no", "yes")}
NUMBERS = {**WIDE, "target_bounds": (0, 100)}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({**NUMBERS, "noise_std": 8, "r2": 0.5}, "`noise_std` and `r2` both say"),
        ({**CLASSES, "r2": 0.5, "prevalence": 0.2}, "`r2` and `prevalence` both say"),
        ({**NUMBERS, "prevalence": 0.2}, "`prevalence` is that of the second of two `classes`"),
        ({**CLASSES, "noise_std": 0.4}, "`noise_std` of two `classes` follows"),
        ({**CLASSES, "prevalence": 0.0}, "`prevalence` must be greater than 0 and less than 1"),
        ({**CLASSES, "prevalence": 1.0}, "`prevalence` must be greater than 0 and less than 1"),
        ({**NUMBERS, "r2": 1.0}, "`r2` must be greater than 0 and less than 1"),
        ({**NUMBERS, "noise_std": 0.0}, "`noise_std` must be positive"),
        ({**CLASSES, "target_bounds": (0, 1)}, "`classes` and `target_bounds` contradict"),
        (WIDE, "`target_bounds` must be given"),
        (
            {**WIDE, "target_bounds": [(0, 1), (0, 2)], "noise_std": 0.1},
            "`noise_std` is that of one target",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(told, message):
    with pytest.raises(ValueError, match=message):
        dpgp.plan(**told)


def test_more_noise_is_more_error_and_the_plan_says_what_it_assumed():
    little, much = (dpgp.plan(**NUMBERS, noise_std=noise) for noise in (2, 20))
    assert little.forecast.rmse < much.forecast.rmse
    assert much.forecast.interval_width > 2 * 1.9 * 20
    assert much.why[0] == "assumed: observations have a noise of 20 (sd), as you said"
    assert "say `noise_std` or `r2`" in dpgp.plan(**NUMBERS).why[0]


def test_a_share_of_variance_sets_the_noise_of_every_function():
    told = Assumption(50.0, r2=0.2)
    spreads = np.array([0.01, 0.09])
    assert told.noise_variances(lambda: spreads, np.ones(2)) == pytest.approx(4 * spreads)
    plans = [dpgp.plan(**NUMBERS, r2=share).forecast.rmse for share in (0.9, 0.2)]
    assert plans[0] < plans[1]
    assert "explain 20% of the variance" in dpgp.plan(**NUMBERS, r2=0.2).why[0]


def test_a_prevalence_sets_the_variance_of_yes_and_no():
    assert Assumption(0.5, YES_NO, prevalence=0.5).variance == 1.0
    assert Assumption(0.5, YES_NO, prevalence=0.1).variance == pytest.approx(0.36)
    assert Assumption(0.5, YES_NO).variance == pytest.approx(0.64)
    plan = dpgp.plan(**CLASSES, prevalence=0.1)
    assert plan.why[0].startswith("assumed: 0.1 of all are yes")
    assert "nothing is clipped" in plan.why
    assert 0.0 < plan.forecast.low < plan.forecast.high < 0.3


@pytest.mark.parametrize("columns", [1, 5])
def test_a_forecast_of_several_targets_has_one_for_each(columns):
    bounds = [(0, 10)] * columns
    plan = dpgp.plan(n=5000, bounds=bounds, target_bounds=[(0, 100), (0, 1)], epsilon=1, delta=1e-6)
    one = dpgp.plan(n=5000, bounds=bounds, target_bounds=(0, 100), epsilon=1.0, delta=1e-6)
    assert [f.rmse / plan.forecasts[0].rmse for f in plan.forecasts] == pytest.approx([1, 0.01])
    assert plan.forecast.rmse > one.forecast.rmse


def test_units_and_a_private_number_of_rows_cost_accuracy():
    public, private, people = (
        dpgp.plan(**NUMBERS, **options).forecast.rmse
        for options in ({}, {"missing": "ignore"}, {"units": True, "max_rows_per_unit": 3})
    )
    assert public < private < people


@pytest.mark.parametrize(
    ("missing", "without_noise", "limited"), [(0.9, 0.95, True), (0.9, 0.4, False), (0.1, 1, False)]
)
def test_features_are_the_limit_where_less_noise_would_not_help(missing, without_noise, limited):
    one = np.ones(3)
    errors, exact = (Errors(size * one, one, one, missing * one) for size in (1.0, without_noise))
    assert are_limited_by_features(errors, exact) is limited


def test_many_inputs_are_told_the_same():
    many = {"n": 5000, "bounds": [(0, 1)] * 5, "epsilon": 1.0, "delta": 1e-6}
    little, much = (
        dpgp.plan(**many, target_bounds=(0, 1), noise_std=s).forecast.rmse for s in (0.01, 0.2)
    )
    assert little < much
    assert dpgp.plan(**many, classes=(0, 1), prevalence=0.3).forecast.rmse < 0.3
