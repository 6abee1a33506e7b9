"""Survey weights: what an informative sample does to a fit, with its weights and without.

The ill are six times as likely to be in the sample, at every x they are another share of the
population, and no input tells who they are. What is estimated is the mean of y given x in the
population, and its average. n = 4,000, ε = 1, δ = 1e-6. A part is one number of inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import BLUE, GREY, VERMILION, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import SIMULATION_NOTE, generator, rmse
from dpgp_experiments.tables import Estimate, averaged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, TEST_ROWS, INPUTS = 4_000, 500, (1, 3)
EPSILON, DELTA = 1.0, 1e-6
OFTEN = 6.0  # as likely are the ill to be in the sample
BOUNDS = (-2.0, 8.0)


class WeightTrial(NamedTuple):
    """Whether weights are told, and of how many inputs."""

    weights: str
    inputs: int


class WeightScores(NamedTuple):
    """Of one repeat: what the average is off, whether its interval holds it, and the same of f."""

    gap: float
    average_covered: float
    f_covered: float
    rmse: float
    effective: float


Scores = dict[WeightTrial, list[WeightScores]]


def run(assignment: Assignment) -> Outcome:
    """Fit every sample with its weights and without, as often as asked."""
    asked = [inputs for inputs in INPUTS if assignment.part in ("", str(inputs))]
    jobs = [
        partial(fit_sample, inputs, (assignment.seed, inputs, repeat))
        for inputs, repeat in product(asked, range(assignment.repeats))
    ]
    scores = assignment.collect(jobs)
    records = [averaged(trial, found, WeightScores._fields) for trial, found in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def fit_sample(
    inputs: int, key: tuple[int, int, int]
) -> Iterator[tuple[WeightTrial, WeightScores]]:
    """Draw one sample, fit it both ways, and score what is said of the population."""
    rng = generator(*key)
    X, y, weights = sample(inputs, rng)
    test = rng.uniform(-1.0, 1.0, (TEST_ROWS, inputs))
    for told, words in ((None, "none"), (weights, "told")):
        gp = PrivateGPRegressor(
            EPSILON, DELTA, bounds=[(-1, 1)] * inputs, target_bounds=BOUNDS, n_jobs=1,
            random_state=rng, weight_bound=None if told is None else OFTEN,
        ).fit(X, y, sample_weight=told)  # fmt: skip
        yield WeightTrial(words, inputs), weight_scores(gp, test)


def sample(inputs: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return rows of a sample: inputs, outcomes, and one over how often such people are drawn."""
    X = rng.uniform(-1.0, 1.0, (4 * ROWS, inputs))
    is_ill = rng.uniform(size=len(X)) < share_ill(X)
    drawn = np.flatnonzero(is_ill | (rng.uniform(size=len(X)) < 1.0 / OFTEN))[:ROWS]
    X, is_ill = X[drawn], is_ill[drawn]
    y = healthy(X) + 2.0 * is_ill + 0.5 * rng.standard_normal(len(X))
    return X, y, np.where(is_ill, 1.0, OFTEN)


def healthy(X: Array) -> Array:
    """Return the mean of y of those who are not ill."""
    return np.asarray(2.0 + X[:, 0] + 0.5 * np.sin(3.0 * X[:, -1]))


def share_ill(X: Array) -> Array:
    """Return how many in the population are ill at each x."""
    return np.asarray(0.1 + 0.1 * (1.0 + X[:, 0]))


def weight_scores(gp: PrivateGPRegressor, test: Array) -> WeightScores:
    """Hold a fit against the population."""
    f, average = healthy(test) + 2.0 * share_ill(test), gp.average()
    mean, std = gp.predict(test, return_std=True, latent=True)
    truth = 2.0 + 2.0 * 0.2  # E x = E sin(3x) = 0
    model = gp.model_
    return WeightScores(
        gap=float(average.mean[0]) - truth,
        average_covered=float(average.lower[0] <= truth <= average.upper[0]),
        f_covered=float(np.mean(np.abs(mean - f) <= 1.959964 * std)),
        rmse=rmse(f, mean),
        effective=float(model.stages[0][0].n),
    )


def _table(scores: Scores, assignment: Assignment) -> TextTable:
    return TextTable(
        title="An informative sample, with its weights and without",
        headings=(
            "weights", "inputs", "average is off by", "its interval covers", "those of f",
            "RMSE of f", "effective rows",
        ),
        rows=[_row(trial, found) for trial, found in scores.items()],
        caption=(
            f"n = {ROWS:,}, ε = {EPSILON:g}, {assignment.repeats} repeats; {SIMULATION_NOTE}. "
            "Means ± standard errors; 95 % intervals, of f at each of 500 x."
        ),
    )  # fmt: skip


def _row(trial: WeightTrial, found: list[WeightScores]) -> list[str]:
    pairs = [Estimate.of(column) for column in zip(*found, strict=True)]
    return [
        *map(str, trial),
        "{:+.3f} ± {:.3f}".format(*pairs[0]),
        *(f"{100 * mean:.0f} ± {100 * error:.0f} %" for mean, error in pairs[1:3]),
        "{:.3f} ± {:.3f}".format(*pairs[3]),
        f"{pairs[4][0]:,.0f}",
    ]


@styled
def _draw(scores: Scores) -> Figure:
    """Draw what averages are off, repeat by repeat."""
    figure, [[axis]] = panels(1, 1, (6.0, 3.0))
    for place, (trial, found) in enumerate(scores.items()):
        colour = BLUE if trial.weights == "told" else VERMILION
        axis.plot([each.gap for each in found], [place] * len(found), "o", ms=3, color=colour)
    words = {"none": "without weights", "told": "with weights"}
    labels = [f"{words[trial.weights]}, inputs: {trial.inputs}" for trial in scores]
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(-0.5, len(labels) - 0.5)
    axis.axvline(0.0, lw=0.8, color=GREY)
    axis.set(xlabel="average of the population is off by")
    return figure
