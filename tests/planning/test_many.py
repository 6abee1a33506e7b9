"""Forecasts of many inputs: monotone where they must be, and near what fits reach."""

import numpy as np
import pytest

import dpgp
from dpgp.planning.many import plausible_many
from dpgp.planning.setting import Assumption, Setting


def planned(columns, n, epsilon, **options):
    return dpgp.plan(
        n=n,
        bounds=[(-1, 1)] * columns,
        target_bounds=(-1, 1),
        epsilon=epsilon,
        delta=1e-5,
        **options,
    ).forecast


def test_more_rows_more_budget_and_fewer_inputs_promise_less_error():
    assert planned(6, 10_000, 1.0).rmse < planned(6, 2000, 1.0).rmse
    assert planned(6, 2000, 3.0).rmse < planned(6, 2000, 1.0).rmse
    assert planned(5, 2000, 1.0).rmse < planned(12, 2000, 1.0).rmse


def test_the_range_holds_the_forecast_and_intervals_are_wider_than_the_noise():
    forecast = planned(8, 5000, 1.0, noise_std=0.1)
    assert forecast.low < forecast.rmse < forecast.high
    assert forecast.interval_width > 2 * 1.96 * 0.1


def test_known_noise_is_the_noise():
    functions = plausible_many(5, Assumption(1.0, noise_std=0.2))
    np.testing.assert_allclose(functions.noise_variances, 0.04)


def test_spectra_descend_and_hold_less_than_the_target():
    functions = plausible_many(7)
    assert (np.diff(functions.spectra, axis=1) <= 0).all()
    assert (functions.spectra.sum(axis=1) > 0).all()


@pytest.mark.parametrize("columns", [5, 20])
def test_a_fit_of_more_people_a_unit_is_forecast_with_more_noise(columns):
    one = planned(columns, 5000, 1.0, units=True, max_rows_per_unit=1)
    four = planned(columns, 5000, 1.0, units=True, max_rows_per_unit=4)
    assert one.rmse < four.rmse


def test_the_signal_counts_units():
    assert Setting(1000, 5, 0.5, rows_per_unit=4).signal == 125.0


@pytest.mark.filterwarnings("ignore::dpgp.privacy.noise.SeededNoiseWarning")
def test_a_fit_reaches_half_to_twice_what_was_forecast():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 5))
    f = 0.2 * (np.sin(3 * X[:, 0] * X[:, 1]) + X[:, 2] ** 2 - 0.3 + X[:, 3] + 0.5 * X[:, 4])
    y = f + 0.1 * rng.standard_normal(len(f))
    gp = dpgp.PrivateGPRegressor(
        epsilon=1.0, delta=1e-5, bounds=(-1, 1), target_bounds=(-1, 1), random_state=0
    ).fit(X[:3000], y[:3000])
    error = np.sqrt(np.mean((gp.predict(X[3000:]) - f[3000:]) ** 2))
    assert 0.5 < planned(5, 3000, 1.0).rmse / error < 2.0
