"""Ours beside what users would pick instead: tasks × methods × ε × seeds, one row a run.

Rows are random halves of real tables (1,000 rows of airfoil), the same for every method; whatever
is drawn depends on the seed, the task, the method and ε alone. A run that is interrupted goes on
where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import log
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dpgp.cli.output import DataError, TextTable
from dpgp.types import Array
from dpgp_experiments.arena_figure import draw
from dpgp_experiments.arena_methods import CONTESTANTS, Contestant, installed, left_out
from dpgp_experiments.arena_results import Group, Run, RunKey, Store, group
from dpgp_experiments.arena_tables import HEADINGS, markdown, rows
from dpgp_experiments.baselines.interface import Distribution, Prediction, Problem
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import generator, rmse, simulation
from dpgp_experiments.tasks import BLOOD_PRESSURE, HEIGHT, Task, package_task, read_task

Indices = NDArray[np.int64]

DELTA = 1e-5  # below one over the rows of the largest table


class Job(NamedTuple):
    """One method on one split of one task."""

    task: Task
    contestant: Contestant
    epsilon: float
    seed: int

    @property
    def key(self) -> RunKey:
        """How the run is known in the file of results."""
        return RunKey(self.task.key, self.contestant.name, self.epsilon, DELTA, self.seed)

    def run(self) -> Run:
        """Fit to one part of the rows and score on the other."""
        task, method = self.task, self.contestant.load()
        train, test = split(task, self.seed)
        problem = Problem(
            task.X[train], task.y[train], task.bounds, task.target_bounds, self.epsilon, DELTA
        )
        rng = generator(self.seed, *_key(task.key, self.contestant.name, f"{self.epsilon:g}"))
        start = process_time()
        prediction = method(problem, task.X[test], rng)
        seconds = process_time() - start
        scores = score(prediction, task.y[test], task.target_bounds)
        measures: list[Any] = [_rounded(value) for value in (*scores, seconds)]
        return Run(*self.key, len(train), len(test), *measures)


def _key(*names: str) -> list[int]:
    """Return numbers for names, the same on every machine."""
    return [crc32(name.encode()) for name in names]


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def split(task: Task, seed: int) -> tuple[Indices, Indices]:
    """Return the rows of a random part for training, and all others for testing."""
    order = generator(seed, *_key(task.key)).permutation(len(task.y))
    count = task.training_rows or (len(order) + 1) // 2
    if not 0 < count < len(order):
        raise DataError(f"{task.title}: more than {count:,} rows are needed, to train and to test.")
    return order[:count], order[count:]


class RunScores(NamedTuple):
    """Measures of one run, in the order of the file; None where there is no distribution."""

    rmse: float
    rmse_over_sd: float
    coverage_50: float | None = None
    coverage_95: float | None = None
    log_likelihood: float | None = None


def score(prediction: Prediction, y: Array, target_bounds: tuple[float, float]) -> RunScores:
    """Score predictions of held-out targets; points are cut to the public bounds, for everyone."""
    error, sd = rmse(y, np.clip(prediction.mean, *target_bounds)), float(np.std(y))
    if not np.isfinite(error):
        raise ValueError("a prediction is not a finite number.")
    distribution = prediction.distribution
    if distribution is None:
        return RunScores(error, error / sd)
    return RunScores(
        error,
        error / sd,
        coverage(distribution, y, 0.5),
        coverage(distribution, y, 0.95),
        float(np.mean(distribution.log_density(y))) + log(sd),
    )


def coverage(distribution: Distribution, y: Array, level: float) -> float:
    """Return the share of targets within their central intervals."""
    low, high = distribution.interval(level)
    return float(np.mean((low <= y) & (y <= high)))


class Finished(NamedTuple):
    """All runs of a file in their order, and what is to be said about them."""

    runs: list[Run]
    caption: str

    def caption_with(self, tables: str) -> str:
        """Say as well what is bold, and which file has more tables."""
        return f"{self.caption} Bold: the smallest private error. More in {tables}."


def run(assignment: Assignment) -> Outcome:
    """Run what is not yet in ``arena.csv`` of the folder; write tables to ``arena.md`` there."""
    tasks = read_tasks(assignment.data)
    finished = run_all(tasks, assignment, "arena", CONTESTANTS)
    groups = group(finished.runs)
    (assignment.folder / "arena.md").write_text(markdown(groups), encoding="utf-8")
    body = [[task.title, *row] for task in tasks for row in rows(groups, task.key, "rmse_over_sd")]
    table = TextTable(
        "Error of held-out rows: RMSE over their sd",
        ("task", *HEADINGS),
        body,
        finished.caption_with("arena.md"),
    )
    return Outcome([run.record() for run in finished.runs], table, draw(groups))


def run_all(
    tasks: Sequence[Task],
    assignment: Assignment,
    name: str,
    contestants: Sequence[Contestant],
) -> Finished:
    """Run all methods that are installed on all tasks, as far as the file does not hold them."""
    assignment.folder.mkdir(parents=True, exist_ok=True)
    store = Store(assignment.folder / f"{name}.csv")
    todo = jobs(tasks, assignment, contestants)
    failures = _run_missing(todo, store, assignment)
    if not store.runs:
        raise DataError(f"no method has finished; {_failed(failures)}")
    return Finished(store.ordered(), _caption(failures, contestants))


def read_tasks(files: Sequence[Path]) -> list[Task]:
    """Return the complete rows of the two tables that everybody has, and of those in files."""
    packaged = [package_task(BLOOD_PRESSURE), package_task(HEIGHT)]
    return [task.complete_rows() for task in (*packaged, *map(read_task, files))]


def jobs(
    tasks: Sequence[Task], assignment: Assignment, contestants: Sequence[Contestant]
) -> list[Job]:
    """Return all runs, seed by seed."""
    seeds = range(assignment.seed, assignment.seed + assignment.repeats)
    return [
        Job(task, contestant, epsilon, seed)
        for seed, task, contestant in product(seeds, tasks, installed(contestants))
        for epsilon in contestant.epsilons
    ]


def _run_missing(todo: Sequence[Job], store: Store, assignment: Assignment) -> dict[Group, str]:
    """Run what the store does not hold; return what failed, and how. Nothing else is lost by it."""
    failures: dict[Group, str] = {}
    missing = [job for job in todo if job.key not in store.runs]
    with simulation():
        for job in assignment.track(missing):
            try:
                store.add(job.run())
            except Exception as error:
                failures[Group(*job.key[:3])] = type(error).__name__
    return failures


def _caption(failures: dict[Group, str], contestants: Sequence[Contestant]) -> str:
    caption = (
        f"Means over seeds ± one standard error; random splits, seeded noise, δ = {DELTA:g}, one "
        "row replaced."
    )
    notes = [caption, left_out(contestants), _failed(failures) if failures else ""]
    return " ".join(note for note in notes if note)


def _failed(failures: dict[Group, str]) -> str:
    names = "; ".join(f"{g.method} on {g.task} at ε = {g.epsilon:g}" for g in failures)
    return f"Failed ({', '.join(sorted(set(failures.values())))}): {names}."
