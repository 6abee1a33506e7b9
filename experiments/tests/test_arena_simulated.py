"""Simulated tables in the arena: the same code, errors by kind, and how far ours is behind."""

import pytest

from dpgp_experiments import REGISTRY, arena, arena_simulated
from dpgp_experiments.arena_methods import LINEAR, MEAN, OURS
from dpgp_experiments.arena_results import Run, group
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.simulated_tables import FAMILY

LINE = Run(FAMILY[0].key, "ours", 1.0, 1e-5, 0, 5, 5, 2.0, 0.5, 0.5, 0.95, -1.0, 0.1)


def test_it_is_registered():
    assert callable(REGISTRY["arena-simulated"].load())
    assert not REGISTRY["arena-simulated"].reads_files


def test_it_runs_the_methods_of_the_arena_and_resumes(monkeypatch, tmp_path):
    monkeypatch.setattr(arena_simulated, "CONTESTANTS", (LINEAR, MEAN))
    monkeypatch.setattr(arena_simulated, "FAMILY", FAMILY[:3])
    outcome = arena_simulated.run(Assignment(2, 0, iter, (), tmp_path))
    assert len(outcome.records) == 3 * 2 * 5 * 2
    assert outcome.records[0]["n_train"] == FAMILY[0].training_rows
    assert FAMILY[2].title in (tmp_path / "arena-simulated.md").read_text(encoding="utf-8")
    assert "arena-simulated.md" in outcome.table.caption
    assert len(outcome.figure.axes) == 1
    monkeypatch.setattr(arena.Job, "run", None)
    again = arena_simulated.run(Assignment(2, 0, iter, (), tmp_path))
    assert again.records == outcome.records


def test_tables_of_as_many_inputs_and_rows_are_one_kind():
    runs = [LINE._replace(task=table.key) for table in FAMILY]
    kinds = group(arena_simulated.of_kind(runs))
    assert len(kinds) == 6
    assert {len(found) for found in kinds.values()} == {10}


def test_ours_is_compared_with_the_best_simple_method_of_every_table():
    errors = {OURS.name: (0.5, 0.9), MEAN.name: (1.0, 0.6), LINEAR.name: (0.4, 0.8), "HM21": (0.1,)}
    runs = [
        LINE._replace(task=FAMILY[k].key, method=method, rmse_over_sd=error)
        for method, values in errors.items()
        for k, error in enumerate(values)
    ]
    largest, many = arena_simulated.behind(group(runs))
    assert largest[3] == "1.500"  # 0.5 over 0.4, and 0.9 over 0.6
    assert many[3] == "2 of 2"
    assert largest[1] == many[-1] == ""
    assert arena_simulated.behind(group(runs[2:]))[0][3] == ""  # nobody to compare


@pytest.mark.parametrize("table", FAMILY[:2])
def test_kinds_name_inputs_and_rows(table):
    assert arena_simulated.kind(table) == "5 inputs, 1,000 rows"
