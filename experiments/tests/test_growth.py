"""HM21 §5.4: which rows are read, what is reported, and that a run repeats itself."""

from functools import partial

import numpy as np
import pytest

from dpgp.cli.output import DataError
from dpgp_experiments import growth
from dpgp_experiments.baselines.bayes_by_backprop import Settings
from dpgp_experiments.growth_report import LOOKS, HeightScore, Runtimes, draw, records, table
from dpgp_experiments.outcome import Assignment


def _write(path, columns, rows):
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join([",".join(columns), *lines]))
    return path


@pytest.fixture
def few_girls(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.uniform(2.0, 18.0, 400)
    weight = 8.0 + 2.5 * age + rng.standard_normal(400)
    height = 80.0 + 5.0 * age + rng.standard_normal(400)
    rows = np.column_stack([age, weight, height])
    return _write(tmp_path / "girls.csv", ("age", "weight_kg", "height_cm"), rows.tolist())


def _scores():
    values = [HeightScore(6.0, -3.2), HeightScore(7.0, -3.4)]
    return {(method, epsilon): values for method in LOOKS for epsilon in (0.1, 1.0)}


def test_the_package_has_girls_aged_2_to_18():
    task = growth.girls([])
    age, weight = task.X.T
    assert 1000 < len(task.y) < 2000
    assert (age.min(), age.max()) == (2.0, 18.0)
    assert task.complete.all()
    assert weight.max() < 250 and task.y.max() < 195  # noqa: PT018


def test_incomplete_rows_of_a_file_are_left_out(tmp_path):
    rows = [(5, 20, 110), (6, "nan", 115), (7, 25, 120)]
    path = _write(tmp_path / "girls.csv", ("age", "weight_kg", "height_cm"), rows)
    assert growth.girls([path]).y.tolist() == [110, 120]


def test_other_tables_and_several_are_refused(tmp_path, few_girls):
    kung = _write(tmp_path / "kung.csv", ("age", "weight", "height"), [(5, 20, 110)])
    for paths in ([kung], [few_girls, few_girls]):
        with pytest.raises(DataError, match="one table with the columns age, weight_kg"):
            growth.girls(paths)


def test_halves_are_disjoint_and_differ_between_repeats(few_girls):
    task = growth.girls([few_girls])
    problems, X, y = growth.halves(task, 0, 0)
    assert [p.epsilon for p in problems] == list(growth.EPSILONS)
    assert not set(map(tuple, problems[0].X)) & set(map(tuple, X))
    assert len(problems[0].y) + len(y) == len(task.y)
    assert not np.array_equal(y, growth.halves(task, 0, 1)[2])


def test_records_and_table_hold_means_and_standard_errors():
    first = records(_scores(), 1e-5)[0]
    assert (first["rmse"], first["rmse_se"], first["repeats"]) == (6.5, 0.5, 2)
    assert first["log_likelihood"] == pytest.approx(-3.3)
    shown = table(_scores(), 5189, Runtimes(0.1, 3.0))
    assert len(shown.rows) == 8
    assert "5,189" in shown.title
    assert "30 times as long" in shown.caption


def test_the_figure_has_a_line_for_every_method_in_both_panels():
    axes = draw(_scores()).axes
    assert [len(axis.containers) for axis in axes] == [len(LOOKS)] * 2


@pytest.mark.baselines
def test_a_run_repeats_itself(few_girls, monkeypatch):
    pytest.importorskip("torch")
    small = partial(Settings, hidden=8, epochs=2, samples=5)
    monkeypatch.setattr(growth, "Settings", small)
    monkeypatch.setattr(growth, "EPSILONS", (1.0, 10.0))
    monkeypatch.setattr(growth, "runtimes", lambda task, seed: Runtimes(0.1, 3.0))
    first, second = (growth.run(Assignment(2, 0, iter, [few_girls])) for _ in range(2))
    assert first.records == second.records
    names = {record["method"] for record in first.records}
    assert names == {*growth.methods(), *growth.variants()}
    errors = {(r["method"], r["epsilon"]): r["rmse"] for r in first.records}
    assert errors["ours", 10.0] < errors["HM21 optimal", 10.0] < 30.0


@pytest.mark.baselines
def test_runtimes_are_those_of_single_fits(few_girls, monkeypatch):
    pytest.importorskip("torch")
    task = growth.girls([few_girls])
    monkeypatch.setattr(growth.bayes_by_backprop, "fit_predict", lambda *args: sum(range(10**6)))
    hm21, dp_bbb = growth.runtimes(task, 0)
    assert 0.0 < hm21 < 0.5
    assert dp_bbb > 0.001
