"""The comparison: complete, resumable, and the same whatever else runs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp.cli.output import DataError
from dpgp_experiments import REGISTRY, arena
from dpgp_experiments.arena_figure import CEILINGS, LOOKS, draw
from dpgp_experiments.arena_methods import (
    CONTESTANTS,
    LINEAR,
    MEAN,
    Contestant,
    installed,
    left_out,
)
from dpgp_experiments.arena_results import METHODS, TABLES, Run, Store, estimate, group
from dpgp_experiments.arena_tables import leads, markdown, rows
from dpgp_experiments.baselines.interface import Mixture, Prediction
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.tasks import AIRFOIL, KUNG, Task

LINE = Run("airfoil", "ours", 1.0, 1e-5, 0, 5, 5, 2.0, 0.5, 0.5, 0.95, -1.0, 0.1)


def small_task(table, seed=0):
    rng = np.random.default_rng(seed)
    low, high = np.array(list(table.bounds.values())).T
    values = rng.uniform(low, high, (60, len(low)))
    return Task.of(table._replace(training_rows=None), values)


@pytest.fixture
def small(monkeypatch):
    """Two small tables and two quick methods."""
    monkeypatch.setattr(arena, "read_tasks", lambda files: [small_task(KUNG), small_task(AIRFOIL)])
    monkeypatch.setattr(arena, "CONTESTANTS", (LINEAR, MEAN))
    return monkeypatch


def run(folder, repeats=2, seed=0):
    return arena.run(Assignment(repeats, seed, iter, (), folder))


def without_time(records):
    return [{k: v for k, v in record.items() if k != "seconds"} for record in records]


class Instead(Contestant):
    """A method that is given, not imported."""

    method = None

    def load(self):
        return Instead.method


def contestant(method, name="HM21", epsilons=(1.0,)):
    Instead.method = staticmethod(method)
    return Instead(name, "", "", epsilons)


def test_it_is_registered():
    assert callable(REGISTRY["arena"].load())
    assert REGISTRY["arena"].repeats == 5
    assert REGISTRY["arena"].reads_files


def test_one_row_a_run(small, tmp_path):
    records = run(tmp_path).records
    assert len(records) == 2 * 2 * 5 * 2
    assert [*records[0]] == [
        "task", "method", "epsilon", "delta", "seed", "n_train", "n_test", "rmse", "rmse_over_sd",
        "coverage_50", "coverage_95", "log_likelihood", "seconds",
    ]  # fmt: skip
    assert {record["seed"] for record in records} == {0, 1}
    assert records[0]["n_train"] + records[0]["n_test"] == 60
    for record in records:
        assert (record["coverage_95"] == "") == (record["method"] == LINEAR.name)
        assert record["rmse"] > 0.0


def test_what_is_in_the_file_is_not_run_again(small, tmp_path):
    first = run(tmp_path)
    small.setattr(arena.Job, "run", None)
    again = run(tmp_path)
    assert again.records == first.records
    assert "Failed" not in again.table.caption


def test_a_cut_off_line_is_run_again(small, tmp_path):
    first = run(tmp_path)
    path = tmp_path / "arena.csv"
    path.write_bytes(path.read_bytes()[:-7])
    again = run(tmp_path)
    assert without_time(again.records) == without_time(first.records)
    assert len(Store(path).runs) == len(first.records)
    assert path.read_bytes().endswith(b"\n")


def test_files_of_parts_can_be_joined(small, tmp_path):
    small.setattr(arena, "CONTESTANTS", (MEAN,))
    whole = run(tmp_path / "whole", repeats=4)
    parts = [run(tmp_path / str(seed), 2, seed) for seed in (0, 2)]
    texts = [(tmp_path / str(seed) / "arena.csv").read_text() for seed in (0, 2)]
    (tmp_path / "arena.csv").write_text(texts[0] + texts[1].split("\n", 1)[1])
    small.setattr(arena.Job, "run", None)
    joined = run(tmp_path, repeats=4)
    assert without_time(joined.records) == without_time(whole.records)
    assert len(parts[0].records) == len(whole.records) // 2


@pytest.mark.parametrize("content", ["a,b\n1,2\n", ",".join(Run._fields) + "\nx,y\n"])
def test_other_files_are_refused_and_kept(small, tmp_path, content):
    (tmp_path / "arena.csv").write_text(content)
    with pytest.raises(DataError, match="--output"):
        run(tmp_path)
    assert (tmp_path / "arena.csv").read_text() == content


def test_a_run_does_not_depend_on_the_others(small, tmp_path):
    both = {(r["task"], r["method"], r["epsilon"], r["seed"]): r for r in run(tmp_path).records}
    small.setattr(arena, "CONTESTANTS", (MEAN,))
    small.setattr(arena, "read_tasks", lambda files: [small_task(AIRFOIL)])
    for record in run(tmp_path / "alone", repeats=1, seed=1).records:
        key = (record["task"], record["method"], record["epsilon"], record["seed"])
        assert without_time([record]) == without_time([both[key]])
    assert len({r["rmse"] for r in both.values() if r["method"] == MEAN.name}) == 20


def test_a_table_may_say_how_many_rows_train():
    task = replace(small_task(AIRFOIL), training_rows=40)
    train, test = arena.split(task, 0)
    assert len(train) == 40
    assert sorted([*train, *test]) == list(range(60))
    assert AIRFOIL.training_rows == 1000


def test_a_table_of_too_few_rows_is_refused():
    with pytest.raises(DataError, match="more than 60 rows are needed"):
        arena.split(replace(small_task(AIRFOIL), training_rows=60), 0)


def test_every_method_sees_the_same_split(small, tmp_path):
    seen = []

    def spy(problem, X_test, rng):
        seen.append((problem.X.tobytes(), X_test.tobytes(), rng.random()))
        return Prediction(np.zeros(len(X_test)))

    spies = [contestant(spy, name, (0.1, 1.0)) for name in ("HM21", "DP-BBB")]
    small.setattr(arena, "CONTESTANTS", spies)
    small.setattr(arena, "read_tasks", lambda files: [small_task(AIRFOIL)])
    run(tmp_path)
    assert len(seen) == 8
    assert len({(train, test) for train, test, _ in seen}) == 2
    assert len({noise for _, _, noise in seen}) == 8


def test_a_method_that_fails_does_not_stop_the_others(small, tmp_path):
    def broken(problem, X_test, rng):
        raise np.linalg.LinAlgError("133.7 is in the message")

    small.setattr(arena, "CONTESTANTS", (contestant(broken), MEAN))
    outcome = run(tmp_path)
    assert {record["method"] for record in outcome.records} == {MEAN.name}
    assert "HM21 on airfoil at ε = 1" in outcome.table.caption
    assert "LinAlgError" in outcome.table.caption
    assert "133.7" not in outcome.table.caption


def test_numbers_that_are_not_finite_are_failures(small, tmp_path):
    nothing = contestant(lambda problem, X_test, rng: Prediction(np.full(len(X_test), math.nan)))
    small.setattr(arena, "CONTESTANTS", (nothing,))
    with pytest.raises(DataError, match="HM21 on howell1_kung"):
        run(tmp_path)


def test_an_interruption_keeps_what_is_done(small, tmp_path):
    def impatient(problem, X_test, rng):
        raise KeyboardInterrupt

    small.setattr(arena, "CONTESTANTS", (MEAN, contestant(impatient)))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert len(Store(tmp_path / "arena.csv").runs) == 5


def test_methods_without_their_package_are_left_out_and_named(small, tmp_path):
    absent = Contestant("x", "y", package="no_such_package")
    small.setattr(arena, "CONTESTANTS", (MEAN, absent))
    outcome = run(tmp_path)
    assert {record["method"] for record in outcome.records} == {MEAN.name}
    assert "x (no_such_package)" in outcome.table.caption
    assert '"./experiments[baselines]"' in outcome.table.caption
    assert installed([MEAN, absent]) == [MEAN]
    assert left_out([MEAN]) == ""


def test_scores_of_a_known_prediction():
    y = np.array([0.0, 10.0, 20.0, 30.0])
    mean = np.array([-50.0, 10.0, 20.0, 31.0])
    scores = arena.score(Prediction(mean, Mixture.gaussian(mean, 1.0)), y, (0.0, 40.0))
    assert scores.rmse == pytest.approx(0.5)  # −50 counts as 0
    assert scores.rmse_over_sd == pytest.approx(0.5 / np.std(y))
    assert (scores.coverage_50, scores.coverage_95) == (0.5, 0.75)
    densities = -0.5 * np.log(2 * np.pi) - np.array([50.0, 0.0, 0.0, 1.0]) ** 2 / 2
    assert scores.log_likelihood == pytest.approx(densities.mean() + np.log(np.std(y)))
    assert arena.score(Prediction(mean), y, (0.0, 40.0)).coverage_95 is None


def test_lines_are_read_back_as_they_were_written():
    cells = [str(value) for value in LINE.record().values()]
    assert Run.parse(cells) == LINE
    empty = LINE._replace(coverage_50=None, epsilon=math.inf)
    assert Run.parse([str(value) for value in empty.record().values()]) == empty


def test_tables_average_over_seeds_and_mark_the_best():
    worse = LINE._replace(method="HM21", coverage_95=None, rmse_over_sd=0.9)
    ceiling = LINE._replace(method="non-private GP", epsilon=math.inf, rmse_over_sd=0.1)
    other_seed = LINE._replace(seed=1, rmse_over_sd=0.7)
    groups = group([LINE, other_seed, worse, ceiling])
    ours, hm21, gp = rows(groups, "airfoil", "rmse_over_sd")
    assert ours == ["ours", "", "", "**0.600 ± 0.100**", "", "", ""]
    assert hm21[3] == "0.900"
    assert gp[-1] == "0.100"
    assert [row[0] for row in rows(groups, "airfoil", "coverage_95")] == ["ours", "non-private GP"]
    text = markdown(groups)
    assert "| ours |  |  | **0.600 ± 0.100** |" in text
    assert "5 training rows, 5 test rows" in text
    assert estimate(groups, next(iter(groups)), "rmse_over_sd").mean == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        ((-1.2, -1.4), "-1.300 ± 0.100"),
        ((-1.2,), "-1.200"),
        ((-2e28, -4e28), "-3.0e+28 ± 1.0e+28"),
        ((-math.inf,), "-inf"),
    ],
)
def test_cells_are_short_whatever_they_hold(values, cell):
    runs = [LINE._replace(seed=k, log_likelihood=value) for k, value in enumerate(values)]
    assert rows(group(runs), "airfoil", "log_likelihood")[0][3] == cell


def test_figure_has_a_panel_for_every_task():
    runs = [LINE._replace(task=table.key, seed=seed) for table in TABLES for seed in (0, 1)]
    figure = draw(group(runs))
    assert [axis.get_title("left") for axis in figure.axes] == [table.title for table in TABLES]
    assert len(draw(group(runs[:2])).axes) == 1


def test_every_method_has_a_look_and_a_name_of_its_own():
    assert len(set(METHODS)) == len(METHODS) > len(CONTESTANTS)
    assert {*LOOKS, *CEILINGS} == set(METHODS)


@pytest.mark.baselines
def test_every_method_can_be_loaded():
    assert all(callable(one.load()) for one in CONTESTANTS)


def test_real_tables_come_without_incomplete_rows():
    tasks = arena.read_tasks(())
    assert [task.key for task in tasks] == ["nhanes_blood_pressure", "nhanes_height"]
    assert all(task.complete.all() for task in tasks)


def test_the_lead_is_over_the_best_peer_on_the_same_splits():
    """Ours 0.5 and 0.7; HM21 is the better peer, and its third split is nobody else's."""
    errors = {"ours": (0.5, 0.7), "HM21": (0.8, 0.8, 0.1), "DP-BBB": (0.9, 0.9)}
    runs = [
        LINE._replace(method=method, seed=seed, rmse_over_sd=error)
        for method, values in errors.items()
        for seed, error in enumerate(values)
    ]
    assert leads(group(runs), "airfoil") == ["", "", "0.200 ± 0.100 (HM21)", "", ""]
    assert "0.200 ± 0.100 (HM21)" in markdown(group(runs))
    assert leads(group(runs[:2]), "airfoil")[2] == ""  # nobody to lead
