"""HM21 §5.3: repeatable, complete, and in agreement with earlier measurements."""

import pytest

from dpgp_experiments import REGISTRY
from dpgp_experiments import hyperparameters as experiment
from dpgp_experiments.outcome import Assignment

# RMSE of Algorithm 2 measured before with other code, by ε
EARLIER = {1.0: 0.325, 3.0: 0.170, 10.0: 0.097, 30.0: 0.060}


@pytest.fixture(scope="module")
def outcome():
    return REGISTRY["hyperparameters"].load()(Assignment(2, 0, iter))


def test_every_candidate_has_a_probability(outcome):
    assert len(outcome.records) == 3 * 4 * 9
    for panel in experiment.PANELS:
        cells = [r for r in outcome.records if (r["accounting"], r["epsilon"]) == panel]
        assert sum(r["probability"] for r in cells) == pytest.approx(1.0)
        assert len({r["rmse"] for r in cells}) == 1
    assert {r["repeats"] for r in outcome.records} == {2}


def test_the_figure_has_a_panel_for_every_accounting_and_epsilon(outcome):
    titles = [axis.get_title("left") for axis in outcome.figure.axes]
    assert len([title for title in titles if title.startswith("ε = ")]) == 12
    assert "simulated data, seeded noise" in outcome.table.caption


def test_same_seed_same_choices():
    models = experiment.candidate_models(
        experiment.CANDIDATES, experiment.INDUCING_POINTS, experiment.TARGET_BOUND
    )
    prepared = experiment.prepare_data(models, experiment.simulate(experiment.generator(0)))
    budget = experiment.budget_for(experiment.Panel("renyi, geometric", 3.0))
    first, second, third = (
        experiment.choose(prepared, budget, experiment.generator(seed)) for seed in (1, 1, 2)
    )
    assert first == second
    assert first != third


@pytest.mark.slow
def test_it_agrees_with_earlier_measurements_and_renyi_gains():
    records = REGISTRY["hyperparameters"].load()(Assignment(40, 7, iter)).records
    found = {(r["accounting"], r["epsilon"]): (r["rmse"], r["rmse_se"]) for r in records}
    for epsilon, earlier in EARLIER.items():
        rmse, error = found["liu-talwar", epsilon]
        assert abs(rmse - earlier) < 5 * 2**0.5 * error  # both are means of repeats
        gained, gained_error = found["renyi, geometric", epsilon]
        assert rmse - gained > 3 * (error**2 + gained_error**2) ** 0.5
