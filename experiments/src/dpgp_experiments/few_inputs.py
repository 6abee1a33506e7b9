"""One to three inputs: the fixed grid of features beside the metric that many inputs learn.

Two functions: a wave across uniform inputs, and a bump beside a line where inputs crowd in a corner
of their box; n = 1,000 and 5,000, ε = 0.3, 1 and 3, δ = 1e-5. Both methods see the same rows. RMSE
is to the function, over its sd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import GREY, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.outcomes import score_mean
from dpgp_experiments.simulated import SIMULATION_NOTE, generator, simulation
from dpgp_experiments.successor_results import Measures, Results, Trial, Trials
from dpgp_experiments.tables import Estimate, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INPUTS, ROWS, EPSILONS = (1, 2, 3), (1_000, 5_000), (0.3, 1.0, 3.0)
DELTA = 1e-5
TEST_ROWS = 2_000
NOISE, BOUND = 0.5, 4.0  # in sds of the function
GRID, METRIC = "grid", "learned metric"
FROM = {GRID: 4, METRIC: 1}  # number of inputs from which on a metric is learned
MEASURES = ("rmse", "coverage_95")


def wave(U: Array) -> Array:
    """A wave across the first two inputs, and a line along the third."""
    weights = np.array([3.0, 2.0, 0.0])[: U.shape[1]]
    return np.asarray(np.sin(U @ weights) + 0.5 * U[:, 2:].sum(axis=1))


def bump(U: Array) -> Array:
    """A bump in the middle of the box, and a line."""
    return np.asarray(2.0 * np.exp(-3.0 * (U**2).sum(axis=1)) + 0.5 * U[:, 0])


def uniform(rows: int, inputs: int, rng: np.random.Generator) -> Array:
    """Return inputs that fill their box."""
    return rng.uniform(-1.0, 1.0, (rows, inputs))


def crowded(rows: int, inputs: int, rng: np.random.Generator) -> Array:
    """Return inputs of which few are in the upper half of their box."""
    return np.asarray(2.0 * rng.beta(2.0, 5.0, (rows, inputs)) - 1.0)


TASKS: dict[str, tuple[Callable[[Array], Array], Callable[..., Array]]] = {
    "wave, uniform inputs": (wave, uniform),
    "bump, crowded inputs": (bump, crowded),
}


def run(assignment: Assignment) -> Outcome:
    """Fit every function both ways as often as asked."""
    scores: Results = {}
    with simulation():
        for job in assignment.track(jobs(assignment)):
            for trial, score in job():
                scores.setdefault(trial, []).append(score)
    records = [_record(trial, values) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every function, number of inputs, n, ε and repeat."""
    cases = product(INPUTS, enumerate(TASKS), ROWS, EPSILONS, range(assignment.repeats))
    return [
        partial(fit, name, inputs, n, epsilon, [assignment.seed, repeat, number, inputs, n])
        for inputs, (number, name), n, epsilon, repeat in cases
    ]


def fit(
    name: str, inputs: int, n: int, epsilon: float, key: Sequence[int]
) -> Iterator[tuple[Trial, Measures]]:
    """Fit the same rows both ways, and score both."""
    function, law = TASKS[name]
    rng = generator(*key)
    X = law(n + TEST_ROWS, inputs, rng)
    f = function(X)
    f = (f - f.mean()) / f.std()
    y = np.clip(f[:n] + NOISE * rng.standard_normal(n), -BOUND, BOUND)
    for method, many in FROM.items():
        with patch("dpgp.options.MANY_INPUTS", many):
            gp = PrivateGPRegressor(
                epsilon, DELTA, bounds=[(-1, 1)] * inputs, target_bounds=(-BOUND, BOUND), n_jobs=1,
                random_state=key[0],
            ).fit(X[:n], y)  # fmt: skip
            found = score_mean(gp, X[n:], f[n:])
        score = {"rmse": BOUND * found["rmse"], "coverage_95": found["coverage_95"]}
        yield Trial(f"{name}, {inputs} inputs, n = {n:,}", method, epsilon, DELTA), score


def _estimate(scores: Sequence[Measures], measure: str) -> Estimate:
    return Estimate.of(score[measure] for score in scores)


def _record(trial: Trial, scores: Sequence[Measures]) -> Record:
    values: dict[str, str | int | float] = {**trial._asdict(), "repeats": len(scores)}
    for measure in MEASURES:
        values |= _estimate(scores, measure).columns(measure)
    return values


def _table(scores: Results, assignment: Assignment) -> TextTable:
    return TextTable(
        title="A fixed grid and a learned metric for few inputs",
        headings=(
            "task", "ε", "grid: RMSE", "95 % covers", "metric: RMSE", "95 % covers", "metric/grid",
        ),
        rows=[*_rows(scores), _average(scores)],
        caption=(
            f"Means of {assignment.repeats} repeats; {SIMULATION_NOTE}. RMSE to the function over "
            "its sd, and how much of it 95 % intervals for the function hold."
        ),
    )  # fmt: skip


def _rows(scores: Results) -> list[list[str]]:
    """Return a row for every setting, with both methods beside each other."""
    return [
        [grid.task, f"{grid.epsilon:g}", *_cells(scores[grid]), *_cells(scores[metric]),
         f"{_ratio(scores, grid, metric):.2f}"]
        for grid, metric in _pairs(scores)
    ]  # fmt: skip


def _pairs(scores: Results) -> list[tuple[Trial, Trial]]:
    return [(trial, trial._replace(method=METRIC)) for trial in scores if trial.method == GRID]


def _cells(scores: Sequence[Measures]) -> list[str]:
    return [f"{_estimate(scores, measure).mean:.3f}" for measure in MEASURES]


def _ratio(scores: Results, grid: Trial, metric: Trial) -> float:
    return _estimate(scores[metric], "rmse").mean / _estimate(scores[grid], "rmse").mean


def _average(scores: Results) -> list[str]:
    """Return the geometric mean of all ratios of errors."""
    ratios = [_ratio(scores, *pair) for pair in _pairs(scores)]
    return ["all (geometric mean)", "", "", "", "", "", f"{np.exp(np.mean(np.log(ratios))):.2f}"]


@styled
def _draw(scores: Results) -> Figure:
    """Draw the error in the learned metric against that on the grid, one point a setting."""
    figure, [[axis]] = panels(1, 1, (4.5, 4.0))
    errors = [[_estimate(scores[trial], "rmse").mean for trial in pair] for pair in _pairs(scores)]
    grid, metric = np.array(errors).T
    axis.plot(grid, metric, "o", ms=4)
    axis.axline((grid.min(), grid.min()), slope=1.0, lw=0.8, color=GREY)
    axis.set(xscale="log", yscale="log", xlabel="RMSE, grid", ylabel="RMSE, learned metric")
    return figure
