"""Averages of f beside a private mean: twelve outcomes, three widths of their bounds.

n = 4,000, ε = 1, δ = 1e-6, one input and five. What `average` states of the mean of y over all
people is held against the truth and against a private mean that has the whole budget; and so is
what is predicted where predictions are in their top quarter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.privacy.books import mu_of_guarantee
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import BLUE, GREY, VERMILION, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.outcome_laws import LAWS, Law
from dpgp_experiments.outcomes import index_of
from dpgp_experiments.simulated import SIMULATION_NOTE, generator, rmse
from dpgp_experiments.tables import Record, averaged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, TEST_ROWS = 4_000, 4_000
INPUTS, WIDTHS = (1, 5), (1.0, 2.0, 8.0)
EPSILON, DELTA = 1.0, 1e-6


class AverageTrial(NamedTuple):
    """An outcome, its number of inputs, and how many times as wide as needed its bounds are."""

    outcome: str
    inputs: int
    width: float


class AverageScores(NamedTuple):
    """Of one repeat: what the average is off, its stated sd and a private mean's; f in sds of y.

    ``top`` is what the mean of predictions is off in their top quarter, in sds of a private mean of
    so many rows.
    """

    gap: float
    stated: float
    private: float
    top: float
    rmse: float


Scores = dict[AverageTrial, list[AverageScores]]


def run(assignment: Assignment) -> Outcome:
    """Fit every outcome with every number of inputs and width as often as asked."""
    cases = product(enumerate(product(LAWS, INPUTS, WIDTHS)), range(assignment.repeats))
    jobs = [
        partial(fit_average, AverageTrial(*case), (assignment.seed, number, repeat))
        for (number, case), repeat in cases
    ]
    scores = assignment.collect(jobs)
    records = [_record(trial, found) for trial, found in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def fit_average(
    trial: AverageTrial, key: tuple[int, int, int]
) -> Iterator[tuple[AverageTrial, AverageScores]]:
    """Fit one table, and score what it says of averages."""
    rng, law = generator(*key), LAWS[trial.outcome]
    X = rng.uniform(-1.0, 1.0, (ROWS, trial.inputs))
    y, low = law.draw(index_of(X), rng), law.bounds[0]
    bounds = (low, low + trial.width * (law.bounds[1] - low))
    gp = PrivateGPRegressor(
        EPSILON, DELTA, bounds=[(-1, 1)] * trial.inputs, target_bounds=bounds, n_jobs=1,
        random_state=rng,
    ).fit(X, y)  # fmt: skip
    test = rng.uniform(-1.0, 1.0, (TEST_ROWS, trial.inputs))
    yield trial, average_scores(gp, law, bounds, y, test)


def average_scores(
    gp: PrivateGPRegressor, law: Law, bounds: tuple[float, float], y: Array, test: Array
) -> AverageScores:
    """Score a fit by the law's mean of y given x at test rows."""
    found, f, predicted = gp.average(), law.mean(index_of(test)), gp.predict(test)
    is_top = predicted >= np.quantile(predicted, 0.75)
    return AverageScores(
        gap=float(found.mean[0] - f.mean()),
        stated=float(found.std[0]),
        private=private_mean_sd(float(y.std()), len(y), bounds),
        top=float((predicted - f)[is_top].mean())
        / private_mean_sd(float(y.std()), len(y) // 4, bounds),
        rmse=rmse(f, predicted) / float(y.std()),
    )


def private_mean_sd(sd: float, n: int, bounds: tuple[float, float]) -> float:
    """√(s²/n + (range/nμ)²), the error of a noisy mean of values within bounds."""
    noise = (bounds[1] - bounds[0]) / (n * mu_of_guarantee(EPSILON, DELTA))
    return math.hypot(sd / math.sqrt(n), noise)


class AverageSummary(NamedTuple):
    """Over repeats: mean gap over mean stated sd, rms of gaps over theirs, and the others' means.

    ``sd_ratio`` and ``error_ratio`` are the stated sd and the rms gap over a private mean's sd.
    """

    bias_over_sd: float
    rms_z: float
    sd_ratio: float
    error_ratio: float
    top: float
    rmse: float

    @classmethod
    def of(cls, found: Sequence[AverageScores]) -> AverageSummary:
        """Summarise the repeats of one trial."""
        gap, stated, private, top, rmse_ = (np.array(column) for column in zip(*found, strict=True))
        return cls(
            float(gap.mean() / stated.mean()),
            float(np.sqrt(np.mean((gap / stated) ** 2))),
            float(np.mean(stated / private)),
            float(np.sqrt(np.mean((gap / private) ** 2))),
            float(top.mean()),
            float(rmse_.mean()),
        )


def _record(trial: AverageTrial, found: Sequence[AverageScores]) -> Record:
    return averaged(trial, found, AverageScores._fields) | AverageSummary.of(found)._asdict()


def _table(scores: Scores, assignment: Assignment) -> TextTable:
    return TextTable(
        title="Averages of f beside a private mean",
        headings=(
            "outcome", "inputs", "width", "bias / sd", "rms z", "sd / private", "error / private",
            "top quarter", "RMSE",
        ),
        rows=[_row(trial, AverageSummary.of(found)) for trial, found in scores.items()],
        caption=(
            f"n = {ROWS:,}, ε = {EPSILON:g}, {assignment.repeats} repeats; {SIMULATION_NOTE}. Mean "
            "error of the average over its stated sd, whose standard error is about "
            f"{1 / math.sqrt(assignment.repeats):.2f} where the sd is honest; root mean square of "
            "these; stated sd, and rms error, over the sd of a private mean with the whole budget; "
            "error of the mean prediction in their top quarter, in sds of a private mean of these "
            "rows; RMSE of f in sds of y."
        ),
    )  # fmt: skip


def _row(trial: AverageTrial, found: AverageSummary) -> list[str]:
    numbers = [f"{value:.2f}" for value in found[1:-1]]
    return [
        trial.outcome,
        f"{trial.inputs}",
        f"{trial.width:g}",
        f"{found.bias_over_sd:+.2f}",
        *numbers,
        f"{found.rmse:.3f}",
    ]


@styled
def _draw(scores: Scores) -> Figure:
    """Draw the bias over the stated sd against the stated sd over a private mean's."""
    figure, [[axis]] = panels(1, 1, (6.0, 4.0))
    for inputs, colour in zip(INPUTS, (BLUE, VERMILION), strict=True):
        found = [
            AverageSummary.of(each) for trial, each in scores.items() if trial.inputs == inputs
        ]
        axis.plot(
            [each.sd_ratio for each in found],
            [each.bias_over_sd for each in found],
            "o", ms=4, color=colour, label=f"inputs: {inputs}",
        )  # fmt: skip
    axis.axhline(0.0, lw=0.8, color=GREY)
    axis.set(xlabel="stated sd over that of a private mean", ylabel="bias over the stated sd")
    axis.legend(frameon=False)
    return figure
