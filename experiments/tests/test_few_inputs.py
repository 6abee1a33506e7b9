"""A fixed grid and a learned metric on the same rows: both are what they are called."""

import numpy as np
import pytest

from dpgp.options import MANY_INPUTS
from dpgp_experiments import few_inputs
from dpgp_experiments.outcome import Assignment


@pytest.mark.parametrize("name", few_inputs.TASKS)
@pytest.mark.parametrize("inputs", few_inputs.INPUTS)
def test_functions_vary_and_inputs_lie_in_their_box(name, inputs):
    function, law = few_inputs.TASKS[name]
    X = law(300, inputs, np.random.default_rng(0))
    assert X.shape == (300, inputs)
    assert np.abs(X).max() <= 1.0
    assert function(X).std() > 0.1


def test_the_grid_is_the_default():
    assert few_inputs.FROM[few_inputs.GRID] == MANY_INPUTS


def test_a_run_compares_both_in_every_setting_and_repeats(monkeypatch):
    monkeypatch.setattr(few_inputs, "INPUTS", (1,))
    monkeypatch.setattr(few_inputs, "ROWS", (300,))
    monkeypatch.setattr(few_inputs, "EPSILONS", (3.0,))
    outcome = few_inputs.run(Assignment(1, 0, iter))
    assert [record["method"] for record in outcome.records] == ["grid", "learned metric"] * 2
    assert all(0.0 <= r["coverage_95"] <= 1.0 and r["rmse"] > 0.0 for r in outcome.records)
    assert outcome.records[0]["rmse"] != outcome.records[1]["rmse"]
    assert len(outcome.table.rows) == 3
    again = few_inputs.run(Assignment(1, 0, iter)).records
    assert [r["rmse"] for r in again] == pytest.approx([r["rmse"] for r in outcome.records])
