"""The paper's experiments: repeatable, sane, and in agreement with earlier measurements."""

from functools import cache

import pytest

from dpgp_experiments import REGISTRY, calibration, illustration
from dpgp_experiments.outcome import Assignment

# RMSE and 95 % coverage measured before with other code (40 repeats), by ε
EARLIER = {0.3: (0.218, 0.69), 1.0: (0.147, 0.61), 3.0: (0.093, 0.63), 10.0: (0.053, 0.74)}


def _run(name, repeats=2, seed=0):
    return REGISTRY[name].load()(Assignment(repeats, seed, iter))


@cache
def _outcome(name, repeats=2):
    return _run(name, repeats)


def _records(name, repeats=2):
    return _outcome(name, repeats).records


def test_registry_names_modules_that_run():
    assert all(callable(entry.load()) and entry.summary for entry in REGISTRY.values())


@pytest.mark.parametrize("name", ["illustration", "calibration"])
def test_same_seed_same_numbers(name):
    first = _records(name)
    assert first == _run(name).records
    assert first != _run(name, seed=1).records


def test_illustration_agrees_with_earlier_measurements():
    repeats = 30
    records = [r for r in _records("illustration", repeats) if r["variant"] != "λ, no noise"]
    assert len(records) == 8
    for record in records:
        rmse, coverage = EARLIER[record["epsilon"]]
        # both are means of repeats: five standard errors of their difference
        assert abs(record["rmse"] - rmse) < 5 * 2**0.5 * record["rmse_se"]
        assert abs(record["coverage_95"] - coverage) < 5 * 2**0.5 * record["coverage_95_se"]


def test_illustration_gets_better_with_epsilon():
    errors = [r["rmse"] for r in _records("illustration", 4) if r["variant"] == "corrected"]
    assert errors == sorted(errors, reverse=True)


def test_printed_formulas_give_the_same_mean_here():
    errors = {(r["variant"], r["epsilon"]): r["rmse"] for r in _records("illustration")}
    for epsilon in illustration.EPSILONS:  # same noise, and R_k equal up to the certified margin
        assert errors["as printed", epsilon] == pytest.approx(errors["corrected", epsilon], 1e-5)


def test_most_of_the_error_is_there_without_noise():
    errors = {(r["variant"], r["epsilon"]): r["rmse"] for r in _records("illustration", 4)}
    for epsilon in illustration.EPSILONS:
        assert errors["λ, no noise", epsilon] > 0.7 * errors["corrected", epsilon]


def test_illustration_draws_one_panel_for_every_epsilon():
    figure = _outcome("illustration").figure
    titles = [axis.get_title("left") for axis in figure.axes]
    assert titles == ["ε = 0.3", "ε = 1", "ε = 3", "ε = 10"]


def test_calibration_has_48_scenarios_of_both_methods():
    records = _records("calibration")
    keys = {(r["noise_std"], r["epsilon"], r["level"]) for r in records}
    assert len(keys) == 48
    assert len(records) == 96


def test_naive_intervals_never_cover_more():
    covers = {
        (r["method"], r["noise_std"], r["epsilon"], r["level"]): r["coverage"]
        for r in _records("calibration")
    }
    for (method, *scenario), coverage in covers.items():
        assert method == "DP-GP" or coverage <= covers["DP-GP", *scenario]


def test_both_methods_come_from_one_release():
    train, _ = calibration.simulate(0.1, calibration.generator(0))
    model = calibration.model_for(0.1, 2.0)
    both = calibration.posteriors(model, train, 1.0, calibration.generator(1))
    assert (both["DP-GP"].mean == both["naive"].mean).all()
    assert both["DP-GP"].certificate == both["naive"].certificate
    assert both["DP-GP"].certificate.seeded
