"""Intervals and centiles at each x: coverage by age, with and without a scale that follows x.

Height of people by age and weight, half of the complete rows for training: how many of the others
their intervals cover by octile of age, the log density and the error. δ = 1e-5. Simulated rows with
the same noise everywhere say what the scale costs where none is needed, and rows with exponential
noise whether both tails are right. With the same seed both methods draw the same noise until the
scale is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import product
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from dpgp.cli.output import TextTable
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import BLUE, GREY, VERMILION, legend_above, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.outcome_laws import gaussian
from dpgp_experiments.simulated import generator, rmse
from dpgp_experiments.successor_results import (
    Measures,
    Results,
    Trial,
    Trials,
    average,
    record,
)
from dpgp_experiments.tasks import HEIGHT, Task, package_task, read_task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Indices = NDArray[np.intp]

EPSILONS = (0.3, 1.0, 3.0)
DELTA = 1e-5
OCTILES = 8
LEVELS = {"95": 0.95, "50": 0.5}
LOCAL, ONE = "local scale", "one scale"
METHODS = (LOCAL, ONE)
LOOKS = {LOCAL: (BLUE, "o"), ONE: (VERMILION, "s")}
EVEN_NOISE, SKEWED_NOISE = "even noise, simulated", "exponential noise, simulated"
EVEN_ROWS, SKEWED_ROWS, SKEWED_EPSILON = 5_000, 20_000, 1.0
TEST_ROWS = 20_000
WHOLE = ("log_density", "rmse", "width", "below_5", "above_95")


def run(assignment: Assignment) -> Outcome:
    """Fit every table and every simulation as often as asked, with and without the scale."""
    scores = assignment.collect(_jobs(assignment))
    records = [record(trial, values, MEASURES) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def _jobs(assignment: Assignment) -> list[Trials]:
    tasks = [package_task(HEIGHT), *map(read_task, assignment.data)]
    jobs: list[Trials] = []
    for repeat in range(assignment.repeats):
        seeds = partial(generator, assignment.seed, repeat)
        for number, (task, epsilon) in enumerate(product(tasks, EPSILONS)):
            jobs.append(partial(fit_task, task.complete_rows(), epsilon, seeds(number)))
        for number, epsilon in enumerate(EPSILONS):
            jobs.append(partial(fit_even, epsilon, seeds(100 + number)))
        jobs.append(partial(fit_skewed, seeds(200)))
    return jobs


def fit_task(
    task: Task, epsilon: float, rng: np.random.Generator
) -> Iterator[tuple[Trial, Measures]]:
    """Fit half of a table, and score the other half by octile of its first column."""
    train, test = np.array_split(rng.permutation(len(task.y)), 2)
    age = task.X[test, 0]
    octile = np.digitize(age, np.quantile(age, np.arange(1, OCTILES) / OCTILES))
    for method, gp in _fits(task, train, epsilon, rng):
        yield (
            Trial(task.title, method, epsilon, DELTA),
            _score(gp, task.X[test], task.y[test], task.y[test])
            | _by_octile(gp, task, test, octile),
        )


def fit_even(epsilon: float, rng: np.random.Generator) -> Iterator[tuple[Trial, Measures]]:
    """Fit a function with the same Gaussian noise everywhere; the error is to the function."""
    law = gaussian(0.1)
    x, at = rng.uniform(-1, 1, EVEN_ROWS), rng.uniform(-1, 1, TEST_ROWS)
    task = Task("", EVEN_NOISE, x[:, None], law.draw(x, rng), ((-1.0, 1.0),), law.bounds)
    for method, gp in _fits(task, np.arange(EVEN_ROWS), epsilon, rng):
        score = _score(gp, at[:, None], law.draw(at, rng), law.mean(at))
        yield Trial(EVEN_NOISE, method, epsilon, DELTA), score


def fit_skewed(rng: np.random.Generator) -> Iterator[tuple[Trial, Measures]]:
    """Fit a function with exponential noise, and see how often its outer quantiles are exceeded."""
    (x, y, _), (at, observed, f) = (_skewed(rows, rng) for rows in (SKEWED_ROWS, TEST_ROWS))
    task = Task("", SKEWED_NOISE, x[:, None], y, ((-1.0, 1.0),), (-2.0, 2.0))
    for method, gp in _fits(task, np.arange(SKEWED_ROWS), SKEWED_EPSILON, rng):
        score = _score(gp, at[:, None], observed, f)
        yield Trial(SKEWED_NOISE, method, SKEWED_EPSILON, DELTA), score


def _skewed(rows: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    x = rng.uniform(-1, 1, rows)
    f = 0.5 * np.sin(3 * x)
    return x, f + 0.2 * (rng.standard_exponential(rows) - 1), f


def _fits(
    task: Task, rows: Indices, epsilon: float, rng: np.random.Generator
) -> Iterator[tuple[str, PrivateGPRegressor]]:
    seed = int(rng.integers(2**31))
    for method in METHODS:
        gp = PrivateGPRegressor(
            epsilon, DELTA, bounds=list(task.bounds), target_bounds=task.target_bounds, n_jobs=1,
            random_state=seed,
        )  # fmt: skip
        with _without_scale() if method == ONE else nullcontext():
            yield method, gp.fit(task.X[rows], task.y[rows])


def _without_scale() -> AbstractContextManager[object]:
    return patch("dpgp.steps.MeasureScale.planned", return_value=())


def _score(gp: PrivateGPRegressor, X: Array, y: Array, f: Array) -> dict[str, float]:
    """Return coverage, log density of y, error to f, width, and how often tails are exceeded."""
    lower, upper = gp.predict_interval(X)
    low, high = gp.predict_quantile(X, [0.05, 0.95])
    covers = {name: float(np.mean(_covered(gp, X, y, level))) for name, level in LEVELS.items()}
    return {
        **{f"coverage_{name}": value for name, value in covers.items()},
        "log_density": float(np.mean(gp.log_predictive_density(X, y))),
        "rmse": rmse(f, gp.predict(X)),
        "width": float(np.mean(upper - lower)),
        "below_5": float(np.mean(y < low)),
        "above_95": float(np.mean(y > high)),
    }


def _covered(gp: PrivateGPRegressor, X: Array, y: Array, level: float) -> Array:
    lower, upper = gp.predict_interval(X, level)
    return np.asarray((y >= lower) & (y <= upper))


def _by_octile(
    gp: PrivateGPRegressor, task: Task, test: Indices, octile: Indices
) -> dict[str, float]:
    covered = {n: _covered(gp, task.X[test], task.y[test], level) for n, level in LEVELS.items()}
    return {
        _octile(name, k): float(np.mean(held[octile == k]))
        for name, held in covered.items()
        for k in range(OCTILES)
    }


def _octile(level: str, k: int) -> str:
    return f"coverage_{level}_octile_{k + 1}"


MEASURES = (
    *(f"coverage_{level}" for level in LEVELS),
    *WHOLE,
    *(_octile(level, k) for level in LEVELS for k in range(OCTILES)),
)


def _table(scores: Results, assignment: Assignment) -> TextTable:
    return TextTable(
        title="Intervals and centiles at each x",
        headings=(
            "task", "method", "ε", "95 % by octile", "50 % by octile", "log density", "RMSE",
            "width of 95 %", "below 5 %, above 95 %",
        ),
        rows=[_row(trial, values) for trial, values in scores.items()],
        caption=(
            f"Means of {assignment.repeats} splits or repeats ± one standard error, of octiles the "
            "largest; seeded noise, not private. Percentages of held-out people whose height lies "
            "in its interval, from the youngest eighth to the oldest."
        ),
    )  # fmt: skip


def _row(trial: Trial, scores: Sequence[Measures]) -> list[str]:
    tails = " ".join(_percent(scores, name) for name in ("below_5", "above_95"))
    numbers = [_number(scores, name) for name in ("log_density", "rmse", "width")]
    octiles = [_octiles(scores, level) for level in LEVELS]
    return [trial.task, trial.method, f"{trial.epsilon:g}", *octiles, *numbers, tails]


def _octiles(scores: Sequence[Measures], level: str) -> str:
    if _octile(level, 0) not in scores[0]:
        return _percent(scores, f"coverage_{level}")
    values = [average(scores, _octile(level, k)) for k in range(OCTILES)]
    worst = max(value.error for value in values)
    return " ".join(f"{100 * value.mean:.0f}" for value in values) + f" ± {100 * worst:.1f}"


def _percent(scores: Sequence[Measures], measure: str) -> str:
    value = average(scores, measure)
    return f"{100 * value.mean:.1f}±{100 * value.error:.1f}"


def _number(scores: Sequence[Measures], measure: str) -> str:
    value = average(scores, measure)
    return f"{value.mean:.4g}±{value.error:.2g}"


@styled
def _draw(scores: Results) -> Figure:
    """Draw coverage by octile of age, one panel a table and level, at ε = 1."""
    shown = {t: s for t, s in scores.items() if _octile("95", 0) in s[0] and t.epsilon == 1.0}
    tasks = list(dict.fromkeys(trial.task for trial in shown))
    figure, axes = panels(len(tasks), len(LEVELS), (7.0, 0.8 + 2.4 * len(tasks)))
    places = [axis for row in axes for axis in row]
    for axis, (task, level) in zip(places, product(tasks, LEVELS), strict=True):
        axis.axhline(LEVELS[level], color=GREY, lw=0.8)
        for trial, values in ((t, s) for t, s in shown.items() if t.task == task):
            found = [average(values, _octile(level, k)) for k in range(OCTILES)]
            color, mark = LOOKS[trial.method]
            axis.errorbar(
                range(1, OCTILES + 1), [e.mean for e in found], [e.error for e in found],
                color=color, marker=mark, ms=4, lw=1.2, label=trial.method,
            )  # fmt: skip
        axis.set(title=f"{task}, {level} %", xlabel="octile of age", ylabel="share covered")
    legend_above(figure, axes[0][0])
    return figure
