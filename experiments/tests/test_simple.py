"""Ours beside simple methods on tables that come with packages: rows, ratios, and what is left."""

import bz2
from importlib.util import find_spec

import numpy as np
import pytest

from dpgp_experiments import REGISTRY, arena, packaged_tables, simple
from dpgp_experiments.arena_methods import (
    BOOSTED_ADASSP,
    BOOSTED_TREES,
    BOOSTING,
    DP_EBM,
    MEAN,
    OURS,
)
from dpgp_experiments.arena_results import TITLES, Run, group
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.packaged_tables import CsvOfPackage, packaged_tasks
from dpgp_experiments.tasks import KnownTable

LINE = Run("diabetes", "ours", 1.0, 1e-5, 0, 5, 5, 2.0, 0.5, 0.5, 0.95, -1.0, 0.1)


@pytest.fixture(scope="module")
def tasks():
    return packaged_tasks()


def test_it_is_registered():
    assert callable(REGISTRY["simple"].load())
    assert not REGISTRY["simple"].reads_files


def test_tables_have_rows_within_bounds_that_were_not_read_from_them(tasks):
    absent = {
        table.known.key for table in packaged_tables.IN_FILES if find_spec(table.package) is None
    }
    expected = [table.key for table in packaged_tables.TABLES]
    assert len(expected) == 16
    assert [task.key for task in tasks] == [key for key in expected if key not in absent]
    for task in tasks:
        assert task.X.shape[1] >= 3
        assert task.complete.all()
        low, high = np.array(task.bounds).T
        assert np.mean((low > task.X) | (high < task.X)) < 0.01
        assert np.mean((task.y < task.target_bounds[0]) | (task.y > task.target_bounds[1])) < 0.01
        assert TITLES[task.key] == task.title


def test_a_file_of_a_package_is_read_by_its_columns(monkeypatch, tmp_path):
    folder = tmp_path / "datasets" / "a"
    folder.mkdir(parents=True)
    (folder / "a.csv").write_text("'y'\t'x'\n1\t2\n3\t\n", encoding="utf-8")
    monkeypatch.setattr(packaged_tables, "files", lambda package: tmp_path)
    known = KnownTable("a", "a", {"x": (0.0, 4.0), "y": (0.0, 5.0)})
    task = CsvOfPackage(known, "a/a.csv", "\t").read()
    np.testing.assert_array_equal(task.X, [[2.0], [np.nan]])
    np.testing.assert_array_equal(task.y, [1.0, 3.0])
    (folder / "a.csv.bz2").write_bytes(bz2.compress(b"y,x\n1,2\n3,\n"))
    packed = CsvOfPackage(known, "a/a.csv.bz2").read()
    np.testing.assert_array_equal(packed.X, task.X)


def test_ours_is_compared_with_the_best_simple_method(tasks):
    errors = {OURS.name: 0.5, MEAN.name: 0.9, BOOSTED_ADASSP.name: 0.6, BOOSTED_TREES.name: 0.8}
    errors[DP_EBM.name] = 0.1  # is no candidate
    runs = [LINE._replace(method=name, rmse_over_sd=error) for name, error in errors.items()]
    runs.append(LINE._replace(method=BOOSTING.name, epsilon=np.inf, rmse_over_sd=0.4))
    (found,) = simple.comparisons(tasks, group(runs))
    assert (found.which, found.epsilon) == (BOOSTED_ADASSP.name, 1.0)
    assert found.ratio(found.which) == pytest.approx(5 / 6)
    assert found.way == pytest.approx(0.5)
    assert found.cells()[-2:] == ["50%", "95%"]
    near = found._replace(boosting=0.599)
    assert near.cells()[-2] == ""
    assert not list(simple.comparisons(tasks, group(runs[:-1])))  # nothing to go to


def test_it_runs_and_sums_up(monkeypatch, tmp_path, tasks):
    monkeypatch.setattr(simple, "packaged_tasks", lambda: tasks[4:5])
    quick = {"epsilons": (1.0,)}
    monkeypatch.setattr(
        simple,
        "CONTESTANTS",
        (OURS._replace(**quick), MEAN._replace(**quick), BOOSTING),
    )
    outcome = simple.run(Assignment(2, 0, iter, (), tmp_path))
    assert len(outcome.records) == 6
    assert outcome.table.rows[0][:4] == [
        "progression of diabetes, Efron et al. 2004",
        "10",
        "221",
        "1",
    ]
    summary = outcome.table.rows[1:]
    assert [row[6] for row in summary] == ["the best simple", MEAN.name, BOOSTING.name]
    assert all(row[0].startswith("tables: 1; geometric mean") for row in summary)
    monkeypatch.setattr(arena.Job, "run", None)
    assert simple.run(Assignment(2, 0, iter, (), tmp_path)).records == outcome.records
