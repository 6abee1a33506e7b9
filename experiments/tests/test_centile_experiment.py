"""Coverage by octile and of both tails: a run has what was asked for, and the scale matters."""

import numpy as np
import pytest

from dpgp_experiments import centiles
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.tasks import Task


@pytest.fixture
def few(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 1200)
    y = x + 0.05 * 5**x * rng.standard_normal(1200)
    grown = Task("", "scatter that grows", x[:, None], y, ((0.0, 1.0),), (-1.0, 2.0))
    monkeypatch.setattr(centiles, "package_task", lambda table: grown)
    monkeypatch.setattr(centiles, "EPSILONS", (1.0, 5.0))
    monkeypatch.setattr(centiles, "EVEN_ROWS", 300)
    monkeypatch.setattr(centiles, "SKEWED_ROWS", 600)
    monkeypatch.setattr(centiles, "TEST_ROWS", 200)


def test_a_run_has_one_row_for_every_setting_and_the_scale_evens_coverage(few):
    outcome = centiles.run(Assignment(1, 0, iter))
    assert [r["method"] for r in outcome.records] == [*centiles.METHODS] * 5
    assert [row[0] for row in outcome.table.rows] == [r["task"] for r in outcome.records]
    local, one = (
        [r[f"coverage_50_octile_{k}"] for k in range(1, 9)]
        for r in outcome.records
        if r["task"] == "scatter that grows" and r["epsilon"] == 5.0
    )
    assert np.ptp(local) < np.ptp(one)
