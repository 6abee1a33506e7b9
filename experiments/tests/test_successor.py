"""Our estimator on the paper's tasks and others: repeatable, complete, and better where claimed."""

import math
from pathlib import Path

import pytest

from dpgp_experiments import REGISTRY, hyperparameters
from dpgp_experiments import successor_calibration as calibration
from dpgp_experiments import successor_candidates as candidates
from dpgp_experiments import successor_function as function
from dpgp_experiments import successor_guard as guard
from dpgp_experiments import successor_surveys as surveys
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.simulated import generator, simulation
from dpgp_experiments.successor import _table
from dpgp_experiments.successor_figure import draw
from dpgp_experiments.successor_results import MEASURES, Trial, record
from dpgp_experiments.tasks import GIRLS, HEIGHT


def collect(part, repeats=2, seed=0, job=slice(None), data=()):
    scores = {}
    with simulation():
        for one in part.jobs(Assignment(repeats, seed, iter, data))[job]:
            for trial, score in one():
                scores.setdefault(trial, []).append(score)
    return scores


def made_up(trials, **measures):
    return {trial: [measures, measures] for trial in trials}


@pytest.fixture(scope="module")
def first_task():
    return collect(function, 1)


@pytest.fixture
def all_scores(first_task):
    """Real scores of §5.1, made-up ones elsewhere."""
    budget, guards = {"epsilon": 1.0, "delta": 1e-4}, (guard.GUARDED, guard.UNGUARDED)
    covers = dict.fromkeys(("coverage_50", "coverage_80", "coverage_95"), 0.6)
    methods = [candidates.OURS, *candidates.ALGORITHM_2.values()]
    return {
        **first_task,
        **made_up(
            [Trial(t, m, **budget) for t in calibration.TASKS for m in calibration.METHODS],
            **covers,
        ),
        **made_up([Trial(candidates.TASK, m, **budget) for m in methods], rmse=0.1, found=1.0),
        **made_up(
            [Trial(HEIGHT.title, surveys.METHOD, e, 1e-5) for e in surveys.EPSILONS],
            rmse=0.3, coverage_50=0.5, coverage_95=0.95,
        ),
        **made_up(
            [Trial(t, m, **budget) for t in guard.TASKS for m in guards],
            rmse=0.01, bias=0.001, coverage_50=0.5, coverage_95=0.95,
        ),
    }  # fmt: skip


def test_it_is_registered():
    assert callable(REGISTRY["successor"].load())
    assert REGISTRY["successor"].repeats == 20


def test_ours_beats_the_paper_on_its_own_task(first_task):
    errors = {(s.method, s.epsilon): record(s, values)["rmse"] for s, values in first_task.items()}
    for epsilon in (0.3, 1.0, 3.0, 10.0):
        assert errors[function.OURS, epsilon] < 0.5 * errors[function.HM21, epsilon]
    assert errors[function.OURS, math.inf] < errors[function.OURS, 1.0]
    assert errors[function.NARROW, math.inf] > errors[function.OURS, math.inf]


def test_same_seed_same_scores(first_task):
    with simulation():
        (trial, again), (_, other) = (
            next(function.jobs(Assignment(1, seed, iter))[0]()) for seed in (0, 1)
        )
    assert trial == Trial(function.TASK, function.OURS, 0.3, 1e-4)
    assert first_task[trial] == [again]
    assert again != other


def test_calibration_scores_three_kinds_of_intervals():
    scores = collect(calibration, 1, job=slice(1))
    assert len(scores) == len(calibration.METHODS) * 4
    assert {s.task for s in scores} == {"§5.2, σ = 0.03"}
    for (values,) in scores.values():
        assert set(values) == {"coverage_50", "coverage_80", "coverage_95"}
        assert values["coverage_50"] <= values["coverage_80"] <= values["coverage_95"]


def test_ours_finds_the_right_candidate(monkeypatch):
    panels = [panel for panel in hyperparameters.PANELS if panel.epsilon == 1.0]
    monkeypatch.setattr(hyperparameters, "PANELS", panels)
    monkeypatch.setattr(candidates, "EPSILONS", (1.0,))
    scores = collect(candidates, 1)
    assert {s.method for s in scores} == {candidates.OURS, *candidates.ALGORITHM_2.values()}
    (score,) = scores[Trial(candidates.TASK, candidates.OURS, 1.0, 1e-4)]
    assert score["found"] == 1.0
    assert score["rmse"] < 0.03


@pytest.mark.parametrize(
    ("length", "noise", "right"),
    [(1.0, 0.1, True), (1.0, 0.16, True), (1.0, 0.18, False), (3.0, 0.1, False)],
)
def test_right_means_nearest_by_ratio(length, noise, right):
    assert candidates.is_right(length, noise) is right


@pytest.mark.parametrize("law", guard.LAWS)
def test_laws_have_mean_zero_and_unit_variance(law):
    draws = guard.LAWS[law](generator(0), 400_000)
    assert abs(draws.mean()) < 0.01
    assert draws.std() == pytest.approx(1.0, abs=0.15)  # t₃ has no fourth moment


def test_skewed_noise_leaves_little_bias():
    law = list(guard.LAWS).index("lognormal 1")
    scores = collect(guard, 2, job=slice(2 * law, 2 * law + 2))
    assert {trial.task for trial in scores} == {guard.TASKS[law]}
    with_guard, without = (record(*item)["bias"] for item in scores.items())
    # the law of residuals has widened the clip by then: some 0.02 where it is Gaussian
    assert max(abs(with_guard), abs(without)) < 0.012


def write(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


def test_a_table_is_scored_on_its_held_out_half(tmp_path, monkeypatch):
    rng = generator(0)
    age, weight = rng.uniform(2, 18, 600), rng.uniform(10, 60, 600)
    height = 75 + 5 * age + 0.3 * weight + 4 * rng.standard_normal(600)
    write(tmp_path / "a.csv", "age,weight_kg,height_cm", zip(age, weight, height, strict=True))
    monkeypatch.setattr(surveys, "EPSILONS", (3.0,))
    files = [tmp_path / "a.csv"]
    ((trial, (score,)),) = collect(surveys, 1, job=slice(1, None), data=files).items()
    assert trial == Trial(GIRLS.title, surveys.METHOD, 3.0, 1e-5)
    assert score["rmse"] < 0.4
    assert 0.85 < score["coverage_95"] <= 1.0


def test_records_share_their_columns(all_scores):
    records = [record(trial, values) for trial, values in all_scores.items()]
    assert len({tuple(line) for line in records}) == 1
    assert {*MEASURES, "task", "method", "epsilon", "repeats"} <= set(records[0])
    assert records[0]["found"] == ""


def test_table_says_what_was_left_out(all_scores):
    table = _table(all_scores, Assignment(2, 0, iter))
    assert all(len(row) == len(table.headings) for row in table.rows)
    assert "--data" in table.caption
    assert "simulated data, seeded noise" in table.caption
    assert "--data" not in _table(all_scores, Assignment(2, 0, iter, [Path("a.csv")])).caption


def test_figure_has_a_panel_for_every_comparison(all_scores):
    titles = [axis.get_title("left") for axis in draw(all_scores).axes]
    assert len(titles) == 6
    assert [title[:4] for title in titles[:4]] == ["§5.1", "§5.1", "§5.2", "§5.3"]
