"""Outcomes and columns as people have them: laws have the means they state, and runs repeat."""

import numpy as np
import pytest

from dpgp_experiments import outcomes
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.outcome_columns import COLUMNS, curve
from dpgp_experiments.outcome_laws import LAWS


@pytest.mark.parametrize("name", LAWS)
def test_a_law_keeps_its_bounds_and_has_the_mean_it_states(name):
    law, n = LAWS[name], 40_000
    for x in (-0.9, 0.5):
        y = law.draw(np.full(n, x), np.random.default_rng(0))
        assert law.bounds[0] <= y.min()
        assert y.max() <= law.bounds[1]
        assert abs(y.mean() - law.mean(np.array([x]))[0]) < 5 * y.std() / np.sqrt(n)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("inputs", outcomes.INPUTS)
def test_columns_lie_in_their_box(name, inputs):
    X = COLUMNS[name](np.random.default_rng(0), 200, inputs)
    assert X.shape == (200, inputs)
    assert np.abs(X).max() <= 1.0
    assert np.abs(curve(X)).max() < 1.0


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(outcomes, "LAWS", {"yes/no, 20 %": LAWS["yes/no, 20 %"]})
    monkeypatch.setattr(outcomes, "COLUMNS", {"0/1": COLUMNS["0/1"]})
    monkeypatch.setattr(outcomes, "ROWS", (300,))
    monkeypatch.setattr(outcomes, "EPSILONS", (3.0,))
    monkeypatch.setattr(outcomes, "INPUTS", (2,))
    monkeypatch.setattr(outcomes, "MANY_LAWS", ())
    monkeypatch.setattr(outcomes, "COLUMN_ROWS", 300)


def test_five_inputs_are_tried_too():
    jobs = outcomes.outcome_jobs(Assignment(1, 0, iter))
    many = [job.args for job in jobs if job.args[2] == outcomes.MANY_INPUTS]
    assert [name for name, *_ in many] == list(outcomes.MANY_LAWS)
    assert len(jobs) == len(LAWS) * len(outcomes.ROWS) + len(many)


def test_a_run_has_one_row_for_every_setting_and_repeats(few):
    outcome = outcomes.run(Assignment(1, 0, iter))
    assert [r["method"] for r in outcome.records] == ["ours", "ours", "ours", "no atoms"]
    exact, private = outcome.records[:2]
    assert (exact["epsilon"], exact["rmse_ratio"]) == (np.inf, 1.0)
    assert private["rmse_ratio"] == pytest.approx(private["rmse"] / exact["rmse"])
    assert private["worst_coverage_95"] == private["coverage_95"]
    assert [row[0] for row in outcome.table.rows] == [r["task"] for r in outcome.records]
    assert all(0.0 <= r["coverage_95"] <= 1.0 and r["rmse"] > 0.0 for r in outcome.records)
    assert outcome.records[2]["rmse"] != outcome.records[3]["rmse"]
    again = outcomes.run(Assignment(1, 0, iter)).records
    assert [r["rmse"] for r in again] == pytest.approx([r["rmse"] for r in outcome.records])
