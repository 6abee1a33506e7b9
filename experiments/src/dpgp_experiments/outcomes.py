"""Outcomes that are not Gaussian, and columns that do not fill their box: error and coverage of f.

One input, n = 5,000 and 50,000, ε = 0.3, 1 and 3 for outcomes; two to six inputs, n = 5,000, ε = 1
for columns, with and without atoms of a density of the inputs. δ = 1e-6. RMSE is to the mean of y
given x, in half-widths of the target's bounds, at inputs drawn as the rows were.
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
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.outcome_columns import COLUMNS, NOISE_STD, curve
from dpgp_experiments.outcome_laws import LAWS, Law
from dpgp_experiments.simulated import SIMULATION_NOTE, Array, generator, rmse, simulation
from dpgp_experiments.successor_results import Fitted, Measures, Results, Trial, Trials
from dpgp_experiments.tables import Estimate, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, EPSILONS = (5_000, 50_000), (0.3, 1.0, 3.0)
COLUMN_ROWS, COLUMN_EPSILON, INPUTS = 5_000, 1.0, (2, 3, 4, 6)
DELTA = 1e-6
TEST_ROWS = 500
OURS, NO_ATOMS = "ours", "no atoms"
MEASURES = {"rmse": 4, "bias": 4, "coverage_95": 3, "half_width_95": 4}  # and digits to print


def run(assignment: Assignment) -> Outcome:
    """Fit every outcome and every kind of columns as often as asked."""
    scores: Results = {}
    with simulation():
        for job in assignment.track([*outcome_jobs(assignment), *column_jobs(assignment)]):
            for trial, score in job():
                scores.setdefault(trial, []).append(score)
    records = [_record(trial, values) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def outcome_jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every law of the outcome, n, ε and repeat."""
    cases = product(enumerate(LAWS.items()), ROWS, EPSILONS, range(assignment.repeats))
    return [
        partial(fit_outcome, name, law, n, epsilon, generator(assignment.seed, repeat, number, n))
        for (number, (name, law)), n, epsilon, repeat in cases
    ]


def column_jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every kind of columns, number of inputs and repeat."""
    cases = product(enumerate(COLUMNS.items()), INPUTS, range(assignment.repeats))
    return [
        partial(fit_columns, name, draw, inputs, generator(assignment.seed, repeat, number, inputs))
        for (number, (name, draw)), inputs, repeat in cases
    ]


def fit_outcome(
    name: str, law: Law, n: int, epsilon: float, rng: np.random.Generator
) -> Iterator[tuple[Trial, Measures]]:
    """Fit one simulated outcome of one input, and score it."""
    x = rng.uniform(-1.0, 1.0, n)
    gp = PrivateGPRegressor(
        epsilon, DELTA, bounds=(-1, 1), target_bounds=law.bounds, n_jobs=1, random_state=rng
    ).fit(x[:, None], law.draw(x, rng))
    points = np.linspace(-1.0, 1.0, TEST_ROWS)
    score = score_mean(gp, points[:, None], law.mean(points))
    yield Trial(f"{name}, n = {n:,}", OURS, epsilon, DELTA), score


def fit_columns(
    name: str,
    draw: Callable[[np.random.Generator, int, int], Array],
    inputs: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Trial, Measures]]:
    """Fit rows with such columns, with and without atoms and with the same noise, and score it."""
    X = draw(rng, COLUMN_ROWS, inputs)
    y = curve(X) + NOISE_STD * rng.standard_normal(COLUMN_ROWS)
    test, seed = draw(rng, TEST_ROWS, inputs), int(rng.integers(2**31))
    for method in (OURS, NO_ATOMS):
        gp = PrivateGPRegressor(
            COLUMN_EPSILON, DELTA, bounds=[(-1, 1)] * inputs, target_bounds=(-1, 1), n_jobs=1,
            random_state=seed,
        )  # fmt: skip
        if method == NO_ATOMS:
            with patch("dpgp.planning.design.density_positions", return_value=None):
                gp.fit(X, y)
        else:
            gp.fit(X, y)
        task = f"{name}, {inputs} inputs"
        yield Trial(task, method, COLUMN_EPSILON, DELTA), score_mean(gp, test, curve(test))


def score_mean(gp: PrivateGPRegressor, X: Array, f: Array) -> dict[str, float]:
    """Return error and coverage of the mean, in half-widths of the target's bounds."""
    centre, half_width = Fitted.of(gp).interval(X, 0.95)
    mean, scale = gp.predict(X), float(gp.model_.options.target_box.half_width[0])
    return {
        "rmse": rmse(f, mean) / scale,
        "bias": float(np.mean(mean - f)) / scale,
        "coverage_95": float(np.mean(np.abs(f - centre) <= half_width)),
        "half_width_95": float(np.mean(half_width)) / scale,
    }


def _estimate(scores: Sequence[Measures], measure: str) -> Estimate:
    return Estimate.of(score[measure] for score in scores)


def _record(trial: Trial, scores: Sequence[Measures]) -> Record:
    values: dict[str, str | int | float] = {**trial._asdict(), "repeats": len(scores)}
    for measure in MEASURES:
        values |= _estimate(scores, measure).columns(measure)
    return values


def _table(scores: Results, assignment: Assignment) -> TextTable:
    return TextTable(
        title="Outcomes and columns as people have them",
        headings=("task", "method", "ε", "RMSE", "bias", "95 % for f covers", "± of it"),
        rows=[_row(trial, values) for trial, values in scores.items()],
        caption=(
            f"Means of {assignment.repeats} repeats ± one standard error; {SIMULATION_NOTE}. RMSE, "
            "bias and half-width of 95 % intervals of the mean of y given x, in half-widths of the "
            "target's bounds."
        ),
    )


def _row(trial: Trial, scores: Sequence[Measures]) -> list[str]:
    values = [(_estimate(scores, name), digits) for name, digits in MEASURES.items()]
    texts = [f"{value.mean:.{k}f}±{value.error:.{k}f}" for value, k in values]
    return [trial.task, trial.method, f"{trial.epsilon:g}", *texts]


@styled
def _draw(scores: Results) -> Figure:
    """Draw coverage against error, one point a trial."""
    figure, [[axis]] = panels(1, 1, (6.0, 4.0))
    for method in (OURS, NO_ATOMS):
        chosen = [values for trial, values in scores.items() if trial.method == method]
        errors = [_estimate(values, "rmse").mean for values in chosen]
        covers = [_estimate(values, "coverage_95").mean for values in chosen]
        axis.plot(errors, covers, "o", ms=4, label=method)
    axis.axhline(0.95, lw=0.8, color=GREY)
    axis.set(xscale="log", xlabel="RMSE, in half-widths", ylabel="coverage of f by 95 % intervals")
    axis.legend(frameon=False)
    return figure
