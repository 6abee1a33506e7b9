"""One and two inputs: the fixed grid of features beside the metric that many inputs learn.

Seven functions with inputs that fill their box or crowd in a corner of it, and height and blood
pressure of people; n = 300 to 30,000, ε = 0.3, 1 and 3, δ = 1e-5. Both methods see the same rows.
RMSE of a function is to it, over its sd (a constant's: over that of the others), and coverage is
that of the function; RMSE of people is to other people, over their sd, and coverage is that of
their values. 30,000 rows are fitted once, whatever the repeats. A part is a number of inputs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import GREY, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.outcomes import score_mean
from dpgp_experiments.simulated import generator, rmse
from dpgp_experiments.successor_results import (
    Measures,
    Results,
    Trial,
    Trials,
    average,
    record,
    score_intervals,
)
from dpgp_experiments.tasks import BLOOD_PRESSURE, HEIGHT, KnownTable, Task, package_task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INPUTS, ROWS, EPSILONS = (1, 2), (300, 1_000, 5_000, 30_000), (0.3, 1.0, 3.0)
ROWS_FITTED_ONCE = 30_000
DELTA = 1e-5
TEST_ROWS = 2_000
NOISE, BOUND = 0.5, 4.0  # in sds of the function
GRID, METRIC = "grid", "learned metric"
FROM = {GRID: 3, METRIC: 1}  # number of inputs from which on a metric is learned
MEASURES = ("rmse", "coverage_95", "seconds")
ALL = "all (geometric mean)"


def wave(U: Array) -> Array:
    """A wave across the first two inputs, and a line along the third."""
    weights = np.array([3.0, 2.0, 0.0])[: U.shape[1]]
    return np.asarray(np.sin(U @ weights) + 0.5 * U[:, 2:].sum(axis=1))


def bump(U: Array) -> Array:
    """A bump in the middle of the box, and a line."""
    return np.asarray(2.0 * np.exp(-3.0 * (U**2).sum(axis=1)) + 0.5 * U[:, 0])


def additive(U: Array) -> Array:
    """A wave of every input, each of another phase."""
    return np.asarray(np.cos(2.5 * U + np.arange(U.shape[1])).sum(axis=1))


def step(U: Array) -> Array:
    """A steep step along the first input, and a line along the others."""
    return np.asarray(np.tanh(8.0 * (U[:, 0] - 0.2)) + 0.3 * U[:, 1:].sum(axis=1))


def kink(U: Array) -> Array:
    """A fold across the diagonal of the box."""
    return np.asarray(np.abs(U.sum(axis=1) / np.sqrt(U.shape[1]) + 0.3))


def line(U: Array) -> Array:
    """A straight line along all inputs."""
    return np.asarray(U.sum(axis=1))


def constant(U: Array) -> Array:
    """The same everywhere."""
    return np.zeros(len(U))


def uniform(rows: int, inputs: int, rng: np.random.Generator) -> Array:
    """Return inputs that fill their box."""
    return rng.uniform(-1.0, 1.0, (rows, inputs))


def crowded(rows: int, inputs: int, rng: np.random.Generator) -> Array:
    """Return inputs of which few are in the upper half of their box."""
    return np.asarray(2.0 * rng.beta(2.0, 5.0, (rows, inputs)) - 1.0)


TASKS: dict[str, tuple[Callable[[Array], Array], Callable[..., Array]]] = {
    "wave, uniform inputs": (wave, uniform),
    "bump, crowded inputs": (bump, crowded),
    "additive, crowded inputs": (additive, crowded),
    "step, uniform inputs": (step, uniform),
    "kink, uniform inputs": (kink, uniform),
    "line, crowded inputs": (line, crowded),
    "constant, crowded inputs": (constant, crowded),
}

WAIST = {"WaistCircumferenceCm": (30.0, 180.0)}
PEOPLE: Mapping[str, tuple[KnownTable, Mapping[str, tuple[float, float]]]] = {
    "height of people": (HEIGHT, WAIST),
    "blood pressure of people": (BLOOD_PRESSURE, WAIST),
}
"""Tables of two inputs, and the third; one input is the first of them."""


class DrawnRows(NamedTuple):
    """DrawnRows to fit, and others to score by: their function, or their values."""

    X: Array
    y: Array
    test: Array
    truth: Array
    bounds: Sequence[tuple[float, float]]
    target_bounds: tuple[float, float]
    knows_function: bool


Methods = Mapping[str, Callable[[], AbstractContextManager[object]]]
"""How to make a fit take each of the methods that are compared."""

METHODS: Methods = {
    name: partial(patch, "dpgp.options.MANY_INPUTS", many) for name, many in FROM.items()
}


def run(assignment: Assignment) -> Outcome:
    """Fit every function and every table of people both ways as often as asked."""
    scores = assignment.collect(jobs(assignment))
    records = [record(trial, values, MEASURES) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every task, number of inputs, n, ε and repeat; tasks of all n first."""
    asked = [int(assignment.part)] if assignment.part else INPUTS
    cases = product(asked, ROWS, enumerate([*TASKS, *PEOPLE]), EPSILONS, range(assignment.repeats))
    return [
        partial(fit, name, inputs, n, epsilon, [assignment.seed, repeat, number, inputs, n])
        for inputs, n, (number, name), epsilon, repeat in cases
        if (n < ROWS_FITTED_ONCE or repeat == 0) and n <= _most_rows(name, inputs)
    ]


def fit(
    name: str,
    inputs: int,
    n: int,
    epsilon: float,
    key: Sequence[int],
    methods: Methods = METHODS,
) -> Iterator[tuple[Trial, Measures]]:
    """Fit the same rows by every method, and score all."""
    rng = generator(*key)
    rows = draw(name, inputs, n, rng)
    noise_seed = [int(rng.integers(2**31)), round(10 * epsilon)]
    for method, taken in methods.items():
        with taken():
            start = time.process_time()
            gp = PrivateGPRegressor(
                epsilon, DELTA, bounds=rows.bounds, target_bounds=rows.target_bounds, n_jobs=1,
                random_state=np.random.default_rng(noise_seed),
            ).fit(rows.X, rows.y)  # fmt: skip
            seconds = time.process_time() - start
            score = {**_score(gp, rows), "seconds": seconds}
        yield Trial(f"{name}, {inputs} inputs, n = {n:,}", method, epsilon, DELTA), score


def draw(name: str, inputs: int, n: int, rng: np.random.Generator) -> DrawnRows:
    """Return n rows of a task, and others to score by."""
    if name in PEOPLE:
        people = _people(name, inputs)
        chosen, others = np.split(rng.permutation(len(people.y)), [n])
        X, y = people.X, people.y
        return DrawnRows(
            X[chosen], y[chosen], X[others], y[others], people.bounds, people.target_bounds, False
        )
    function, law = TASKS[name]
    X = law(n + TEST_ROWS, inputs, rng)
    f = function(X)
    f = (f - f.mean()) / (f.std() or 1.0)
    y = np.clip(f[:n] + NOISE * rng.standard_normal(n), -BOUND, BOUND)
    return DrawnRows(X[:n], y, X[n:], f[n:], [(-1.0, 1.0)] * inputs, (-BOUND, BOUND), True)


@cache
def _people(name: str, inputs: int) -> Task:
    """Return the complete rows of a table of people, of which some inputs are taken."""
    table, third = PEOPLE[name]
    *columns, target = (dict([item]) for item in table.bounds.items())
    chosen = [*columns, third][:inputs]
    bounds = {name: limits for column in [*chosen, target] for name, limits in column.items()}
    return package_task(table._replace(bounds=bounds)).complete_rows()


def _most_rows(name: str, inputs: int) -> int:
    """Return how many rows a task has for training."""
    return len(_people(name, inputs).y) - TEST_ROWS // 2 if name in PEOPLE else max(ROWS)


def _score(gp: PrivateGPRegressor, rows: DrawnRows) -> dict[str, float]:
    if rows.knows_function:
        found = score_mean(gp, rows.test, rows.truth)
        return {"rmse": BOUND * found["rmse"], "coverage_95": found["coverage_95"]}
    error = rmse(rows.truth, gp.predict(rows.test)) / float(np.std(rows.truth))
    return {"rmse": error, **score_intervals(gp, rows.test, rows.truth, (0.95,))}


def _table(scores: Results, assignment: Assignment) -> TextTable:
    pairs = _pairs(scores)
    return TextTable(
        title="A fixed grid and a learned metric for few inputs",
        headings=(
            "task", "ε", "grid: RMSE", "95 % covers", "seconds", "metric: RMSE", "95 % covers",
            "seconds", "metric/grid",
        ),
        rows=[*_rows(scores, pairs), *_averages(scores, pairs)],
        caption=(
            f"Means of {assignment.repeats} repeats (one of {ROWS_FITTED_ONCE:,} rows); simulated "
            "rows and people of NHANES, seeded noise. RMSE to the function over its sd, and how "
            "much of it 95 % intervals for the function hold; of people to others, and how many "
            "of them. Seconds of a processor for a fit. In rows of averages RMSE, seconds and "
            "their ratio are geometric means, and coverage is the mean and the least."
        ),
    )  # fmt: skip


Pair = tuple[Trial, Trial]


def _rows(scores: Results, pairs: Sequence[Pair]) -> list[list[str]]:
    """Return a row for every setting, with both methods beside each other."""
    return [
        [grid.task, f"{grid.epsilon:g}", *_cells(scores[grid]), *_cells(scores[metric]),
         f"{_ratio(scores, (grid, metric)):.2f}"]
        for grid, metric in pairs
    ]  # fmt: skip


def _pairs(scores: Results) -> list[Pair]:
    return [(trial, trial._replace(method=METRIC)) for trial in scores if trial.method == GRID]


def _cells(scores: Sequence[Measures]) -> list[str]:
    return [f"{average(scores, measure).mean:.3g}" for measure in MEASURES]


def _ratio(scores: Results, pair: Pair) -> float:
    grid, metric = (average(scores[trial], "rmse").mean for trial in pair)
    return metric / grid


def _averages(scores: Results, pairs: Sequence[Pair]) -> list[list[str]]:
    """Return averages over tasks: by inputs and n, by inputs and ε, by inputs, and of all."""
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        _, inputs, n = pair[0].task.rsplit(", ", 2)
        epsilon = f"{pair[0].epsilon:g}"
        for title in [(f"{inputs}, {n}", ""), (inputs, epsilon), (inputs, ""), (ALL, "")]:
            groups.setdefault(title, []).append(pair)
    ordered = sorted(groups, key=lambda title: (title[0] == ALL, title[0].split(",")[0]))
    return [[*title, *_average(scores, groups[title])] for title in ordered]


def _average(scores: Results, pairs: Sequence[Pair]) -> list[str]:
    cells = []
    for trials in zip(*pairs, strict=True):
        values = {
            measure: np.array([average(scores[trial], measure).mean for trial in trials])
            for measure in MEASURES
        }
        covers = values["coverage_95"]
        cells += [
            f"{_geometric(values['rmse']):.3g}",
            f"{covers.mean():.3f}, {covers.min():.3f}",
            f"{_geometric(values['seconds']):.3g}",
        ]
    ratio = _geometric(np.array([_ratio(scores, pair) for pair in pairs]))
    return [*cells, f"{ratio:.2f}"]


def _geometric(values: Array) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-12)))))


@styled
def _draw(scores: Results) -> Figure:
    """Draw the error in the learned metric against that on the grid, one point a setting."""
    figure, [[axis]] = panels(1, 1, (4.5, 4.0))
    errors = [[average(scores[trial], "rmse").mean for trial in pair] for pair in _pairs(scores)]
    grid, metric = np.array(errors).T
    axis.plot(grid, metric, "o", ms=4)
    axis.axline((grid.min(), grid.min()), slope=1.0, lw=0.8, color=GREY)
    axis.set(xscale="log", yscale="log", xlabel="RMSE, grid", ylabel="RMSE, learned metric")
    return figure
