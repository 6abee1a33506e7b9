"""One change at a time to the grid or to the metric, on the same rows."""

import pytest

from dpgp.inference.few.fit import FixedFit
from dpgp.inference.many.fit import MetricFit
from dpgp_experiments import REGISTRY, frame
from dpgp_experiments.outcome import Assignment


def scores(name, n=300, epsilon=3.0):
    return {t.method: s for t, s in frame.fit(name, 1, n, epsilon, [0, 0, 0, 1, n])}


def test_every_change_is_fitted_beside_the_method_as_it_is():
    found = scores(frame.GAUSSIAN)
    assert set(found) == {"grid", "learned metric"} | {
        f"{method}, {change}" for method, change in frame.CHANGES
    }
    assert all(0.0 <= s["coverage_95"] <= 1.0 and s["rmse"] > 0.0 for s in found.values())


def test_optimism_moves_intervals_of_observations_and_not_the_mean():
    found = scores(frame.GAUSSIAN)
    for method, change in (("grid", "optimism"), ("learned metric", "no optimism")):
        plain, changed = found[method], found[f"{method}, {change}"]
        assert changed["rmse"] == plain["rmse"]
        assert changed["coverage_95"] == plain["coverage_95"]
    assert found["grid, optimism"]["observed_95"] >= found["grid"]["observed_95"]


def test_changes_do_not_outlive_their_fit():
    before = dict(vars(FixedFit)), dict(vars(MetricFit))
    scores(frame.SKEWED)
    assert before == (dict(vars(FixedFit)), dict(vars(MetricFit)))


def test_a_run_tells_how_each_change_moves_the_error(monkeypatch):
    monkeypatch.setattr(frame, "ROWS", (300,))
    monkeypatch.setattr(frame, "EPSILONS", (3.0,))
    outcome = frame.run(Assignment(2, 0, iter, part="1"))
    assert {record["repeats"] for record in outcome.records} == {2}
    assert len(outcome.table.rows) == len(outcome.records)
    ratios = {(row[0], row[1]): row[3] for row in outcome.table.rows}
    assert ratios[frame.YES_NO, "grid"] == "1"
    assert ratios[frame.YES_NO, "grid, not clipped"] != "1"
    assert {len(frame.jobs(Assignment(2, 0, iter, part=p))) for p in REGISTRY["frame"].parts} == {6}


@pytest.mark.parametrize("name", [frame.GAUSSIAN, frame.SKEWED])
def test_what_is_fitted_keeps_its_bounds(name):
    rng = frame.generator(0)
    f, y, (low, high) = frame._outcome(name, rng.standard_normal(500), rng)
    assert low <= y.min() <= y.max() <= high
    assert f.std() == pytest.approx(1.0)
