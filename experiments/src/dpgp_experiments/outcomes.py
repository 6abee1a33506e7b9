"""Outcomes that are not Gaussian, and columns that do not fill their box: error and coverage of f.

One input, n = 2,000, 5,000 and 50,000, ε = 0.3, 1 and 3 for outcomes, and five inputs for two of
them; two to six inputs, n = 5,000, ε = 1 for columns, with and without atoms of a density of the
inputs. δ = 1e-6. RMSE is to the mean of y given x, in half-widths of the target's bounds, at inputs
drawn as the rows were, and over that of the same rows without privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from scipy.stats import norm

from dpgp.cli.output import TextTable
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import GREY, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.outcome_columns import COLUMNS, NOISE_STD, curve
from dpgp_experiments.outcome_laws import LAWS
from dpgp_experiments.simulated import SIMULATION_NOTE, generator, rmse
from dpgp_experiments.successor_results import (
    Fitted,
    Measures,
    Results,
    Trial,
    Trials,
    average,
    record,
)
from dpgp_experiments.tables import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, EPSILONS = (2_000, 5_000, 50_000), (0.3, 1.0, 3.0)
MANY_ROWS, MANY_INPUTS, MANY_LAWS = (5_000,), 5, ("yes/no, 10 %", "logistic", "costs")
COLUMN_ROWS, COLUMN_EPSILON, INPUTS = 5_000, 1.0, (2, 3, 4, 6)
DELTA = 1e-6
TEST_ROWS = 500
OURS, NO_ATOMS = "ours", "no atoms"
MEASURES = {
    "rmse": 4,
    "rmse_ratio": 2,
    "bias": 4,
    "bias_over_sd": 2,
    "coverage_95": 3,
    "half_width_95": 4,
}  # and digits to print


def run(assignment: Assignment) -> Outcome:
    """Fit every outcome and every kind of columns as often as asked."""
    scores = assignment.collect([*outcome_jobs(assignment), *column_jobs(assignment)])
    records = [_record(trial, values) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def outcome_jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every law of the outcome, n and repeat, with one input and with five."""
    settings = [(name, n, 1) for name, n in product(LAWS, ROWS)]
    settings += [(name, n, MANY_INPUTS) for name, n in product(MANY_LAWS, MANY_ROWS)]
    cases = product(enumerate(settings), range(assignment.repeats))
    return [
        partial(fit_outcome, name, n, inputs, generator(assignment.seed, repeat, number))
        for (number, (name, n, inputs)), repeat in cases
    ]


def column_jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every kind of columns, number of inputs and repeat."""
    cases = product(enumerate(COLUMNS.items()), INPUTS, range(assignment.repeats))
    return [
        partial(fit_columns, name, draw, inputs, generator(assignment.seed, repeat, number, inputs))
        for (number, (name, draw)), inputs, repeat in cases
    ]


def fit_outcome(
    name: str, n: int, inputs: int, rng: np.random.Generator
) -> Iterator[tuple[Trial, Measures]]:
    """Fit one simulated outcome with every ε and without privacy, and score it."""
    law, X = LAWS[name], rng.uniform(-1.0, 1.0, (n, inputs))
    y, seed = law.draw(index_of(X), rng), int(rng.integers(2**31))
    points = (
        np.linspace(-1.0, 1.0, TEST_ROWS)[:, None]
        if inputs == 1
        else rng.uniform(-1.0, 1.0, (TEST_ROWS, inputs))
    )
    exact = None
    for epsilon in (np.inf, *EPSILONS):
        gp = PrivateGPRegressor(
            epsilon, DELTA, bounds=[(-1, 1)] * inputs, target_bounds=law.bounds, n_jobs=1,
            random_state=seed,
        ).fit(X, y)  # fmt: skip
        score = score_mean(gp, points, law.mean(index_of(points)), exact)
        exact = score["rmse"] if exact is None else exact
        task = f"{name}, n = {n:,}" + (f", {inputs} inputs" if inputs > 1 else "")
        yield Trial(task, OURS, float(epsilon), DELTA), score


def index_of(X: Array) -> Array:
    """Return what the outcome depends on, Σx/√D cut to [−1, 1]."""
    return np.asarray(np.clip(X.sum(axis=1) / np.sqrt(X.shape[1]), -1.0, 1.0))


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
            with patch("dpgp.inference.few.gram_estimate.doubt", return_value=1.0):
                gp.fit(X, y)
        else:
            gp.fit(X, y)
        task = f"{name}, {inputs} inputs"
        yield Trial(task, method, COLUMN_EPSILON, DELTA), score_mean(gp, test, curve(test))


def score_mean(
    gp: PrivateGPRegressor, X: Array, f: Array, exact: float | None = None
) -> dict[str, float]:
    """Return error and coverage of the mean, in half-widths of the target's bounds.

    ``exact`` is the error of the same rows without privacy, this fit's own where there is none.
    """
    centre, half_width = Fitted.of(gp).interval(X, 0.95)
    mean, scale = gp.predict(X), float(gp.model_.options.target_box.half_width[0])
    error, bias = rmse(f, mean) / scale, float(np.mean(mean - f)) / scale
    width = float(np.mean(half_width)) / scale
    return {
        "rmse": error,
        "rmse_ratio": error / (error if exact is None else exact),
        "bias": bias,
        "bias_over_sd": abs(bias) / (width / norm.ppf(0.975)),
        "coverage_95": float(np.mean(np.abs(f - centre) <= half_width)),
        "half_width_95": width,
    }


def _record(trial: Trial, scores: Sequence[Measures]) -> Record:
    return {**record(trial, scores, MEASURES), "worst_coverage_95": _worst(scores)}


def _worst(scores: Sequence[Measures]) -> float:
    return min(score["coverage_95"] for score in scores)


def _table(scores: Results, assignment: Assignment) -> TextTable:
    return TextTable(
        title="Outcomes and columns as people have them",
        headings=(
            "task",
            "method",
            "ε",
            "RMSE",
            "over ε = ∞",
            "bias",
            "over sd",
            "95 % for f covers",
            "± of it",
            "worst",
        ),
        rows=[_row(trial, values) for trial, values in scores.items()],
        caption=(
            f"Means of {assignment.repeats} repeats ± one standard error; {SIMULATION_NOTE}. RMSE, "
            "bias and half-width of 95 % intervals of the mean of y given x, in half-widths of the "
            "target's bounds; RMSE also over that of the same rows with ε = ∞, bias also over the "
            "stated sd; the last column is the coverage of the worst repeat."
        ),
    )


def _row(trial: Trial, scores: Sequence[Measures]) -> list[str]:
    values = [(average(scores, name), digits) for name, digits in MEASURES.items()]
    texts = [f"{value.mean:.{k}f}±{value.error:.{k}f}" for value, k in values]
    return [trial.task, trial.method, f"{trial.epsilon:g}", *texts, f"{_worst(scores):.2f}"]


@styled
def _draw(scores: Results) -> Figure:
    """Draw coverage against error, one point a trial."""
    figure, [[axis]] = panels(1, 1, (6.0, 4.0))
    for method in (OURS, NO_ATOMS):
        chosen = [values for trial, values in scores.items() if trial.method == method]
        errors = [average(values, "rmse").mean for values in chosen]
        covers = [average(values, "coverage_95").mean for values in chosen]
        axis.plot(errors, covers, "o", ms=4, label=method)
    axis.axhline(0.95, lw=0.8, color=GREY)
    axis.set(xscale="log", xlabel="RMSE, in half-widths", ylabel="coverage of f by 95 % intervals")
    axis.legend(frameon=False)
    return figure
