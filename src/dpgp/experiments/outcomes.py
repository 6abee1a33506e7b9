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

from dpgp.experiments.outcome import Outcome, Request
from dpgp.experiments.outcome_columns import COLUMNS, NOISE_STD, curve
from dpgp.experiments.outcome_laws import LAWS, Law
from dpgp.experiments.simulated import SIMULATION_NOTE, Array, generator, rmse, simulation
from dpgp.experiments.successor_results import Fitted, Job, Score, Scores, Setting
from dpgp.experiments.tables import Estimate, Record, Table
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import GREY, panels, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, EPSILONS = (5_000, 50_000), (0.3, 1.0, 3.0)
COLUMN_ROWS, COLUMN_EPSILON, INPUTS = 5_000, 1.0, (2, 3, 4, 6)
DELTA = 1e-6
TEST_ROWS = 500
OURS, NO_ATOMS = "ours", "no atoms"
MEASURES = {"rmse": 4, "bias": 4, "coverage_95": 3, "half_width_95": 4}  # and digits to print


def run(request: Request) -> Outcome:
    """Fit every outcome and every kind of columns as often as asked."""
    scores: Scores = {}
    with simulation():
        for job in request.track([*outcome_jobs(request), *column_jobs(request)]):
            for setting, score in job():
                scores.setdefault(setting, []).append(score)
    records = [_record(setting, values) for setting, values in scores.items()]
    return Outcome(records, _table(scores, request), _draw(scores))


def outcome_jobs(request: Request) -> list[Job]:
    """Return one job for every law of the outcome, n, ε and repeat."""
    cases = product(enumerate(LAWS.items()), ROWS, EPSILONS, range(request.repeats))
    return [
        partial(fit_outcome, name, law, n, epsilon, generator(request.seed, repeat, number, n))
        for (number, (name, law)), n, epsilon, repeat in cases
    ]


def column_jobs(request: Request) -> list[Job]:
    """Return one job for every kind of columns, number of inputs and repeat."""
    cases = product(enumerate(COLUMNS.items()), INPUTS, range(request.repeats))
    return [
        partial(fit_columns, name, draw, inputs, generator(request.seed, repeat, number, inputs))
        for (number, (name, draw)), inputs, repeat in cases
    ]


def fit_outcome(
    name: str, law: Law, n: int, epsilon: float, rng: np.random.Generator
) -> Iterator[tuple[Setting, Score]]:
    """Fit one simulated outcome of one input, and score it."""
    x = rng.uniform(-1.0, 1.0, n)
    gp = PrivateGPRegressor(
        epsilon, DELTA, bounds=(-1, 1), target_bounds=law.bounds, n_jobs=1, random_state=rng
    ).fit(x[:, None], law.draw(x, rng))
    points = np.linspace(-1.0, 1.0, TEST_ROWS)
    score = score_mean(gp, points[:, None], law.mean(points))
    yield Setting(f"{name}, n = {n:,}", OURS, epsilon, DELTA), score


def fit_columns(
    name: str,
    draw: Callable[[np.random.Generator, int, int], Array],
    inputs: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Setting, Score]]:
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
            with patch("dpgp.design.density_positions", return_value=None):
                gp.fit(X, y)
        else:
            gp.fit(X, y)
        task = f"{name}, {inputs} inputs"
        yield Setting(task, method, COLUMN_EPSILON, DELTA), score_mean(gp, test, curve(test))


def score_mean(gp: PrivateGPRegressor, X: Array, f: Array) -> dict[str, float]:
    """Return error and coverage of the mean, in half-widths of the target's bounds."""
    centre, half_width = Fitted.of(gp).interval(X, 0.95)
    mean, scale = gp.predict(X), float(gp.target_box_.half_width[0])
    return {
        "rmse": rmse(f, mean) / scale,
        "bias": float(np.mean(mean - f)) / scale,
        "coverage_95": float(np.mean(np.abs(f - centre) <= half_width)),
        "half_width_95": float(np.mean(half_width)) / scale,
    }


def _estimate(scores: Sequence[Score], measure: str) -> Estimate:
    return Estimate.of(score[measure] for score in scores)


def _record(setting: Setting, scores: Sequence[Score]) -> Record:
    values: dict[str, str | int | float] = {**setting._asdict(), "repeats": len(scores)}
    for measure in MEASURES:
        values |= _estimate(scores, measure).columns(measure)
    return values


def _table(scores: Scores, request: Request) -> Table:
    return Table(
        title="Outcomes and columns as people have them",
        headings=("task", "method", "ε", "RMSE", "bias", "95 % for f covers", "± of it"),
        rows=[_row(setting, values) for setting, values in scores.items()],
        caption=(
            f"Means of {request.repeats} repeats ± one standard error; {SIMULATION_NOTE}. RMSE, "
            "bias and half-width of 95 % intervals of the mean of y given x, in half-widths of the "
            "target's bounds."
        ),
    )


def _row(setting: Setting, scores: Sequence[Score]) -> list[str]:
    values = [(_estimate(scores, name), digits) for name, digits in MEASURES.items()]
    texts = [f"{value.mean:.{k}f}±{value.error:.{k}f}" for value, k in values]
    return [setting.task, setting.method, f"{setting.epsilon:g}", *texts]


@styled
def _draw(scores: Scores) -> Figure:
    """Draw coverage against error, one point a setting."""
    figure, [[axis]] = panels(1, 1, (6.0, 4.0))
    for method in (OURS, NO_ATOMS):
        chosen = [values for setting, values in scores.items() if setting.method == method]
        errors = [_estimate(values, "rmse").mean for values in chosen]
        covers = [_estimate(values, "coverage_95").mean for values in chosen]
        axis.plot(errors, covers, "o", ms=4, label=method)
    axis.axhline(0.95, lw=0.8, color=GREY)
    axis.set(xscale="log", xlabel="RMSE, in half-widths", ylabel="coverage of f by 95 % intervals")
    axis.legend(frameon=False)
    return figure
