"""Rare outcomes: do probabilities add up, and are they better than one number for all?

Simulated tables whose log odds are a line in correlated inputs, or have an interaction; 20,000 rows
test. Log losses are expected ones, over the true probabilities of these rows, and the constant is
the true average, which no private method knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from dpgp.classifier import PrivateGPClassifier
from dpgp.cli.output import TextTable
from dpgp.report.style import BLUE, INK, VERMILION, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import generator, simulation
from dpgp_experiments.tables import Estimate, Record
from dpgp_experiments.yes_no import reliability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PREVALENCES = (0.01, 0.05, 0.1, 0.2, 0.5)
INPUTS = (2, 10)
EPSILONS, DELTA = (1.0, 3.0), 1e-6
ROWS, TEST_ROWS = 2700, 20_000
SIGNAL = 1.2  # sd of the log odds
EDGE = 3.0


class RareTrial(NamedTuple):
    """A prevalence, a number of inputs, and ε."""

    prevalence: float
    inputs: int
    epsilon: float


class RareTable(NamedTuple):
    """Inputs, outcomes, and the true probabilities."""

    X: Array
    y: Array
    p: Array

    def __repr__(self) -> str:
        return f"RareTable({len(self.y)} rows)"


class RareScores(NamedTuple):
    """Average probability, log losses, and the largest gap of a decile, of one repeat."""

    average: float
    log_loss: float
    constant: float
    truth: float
    decile: float


Scores = dict[RareTrial, list[RareScores]]


def run(assignment: Assignment) -> Outcome:
    """Fit tables of every prevalence and number of inputs at every ε as often as asked."""
    scores: Scores = {}
    cases = product(enumerate(product(PREVALENCES, INPUTS, EPSILONS)), range(assignment.repeats))
    jobs = [
        partial(_fit, RareTrial(*case), (assignment.seed, number, repeat), scores)
        for (number, case), repeat in cases
    ]
    with simulation():
        for job in assignment.track(jobs):
            job()
    records = [_record(trial, found) for trial, found in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def table(prevalence: float, inputs: int, rows: int, rng: np.random.Generator) -> RareTable:
    """Draw a table whose average probability is the prevalence."""
    X = rng.standard_normal((rows, inputs))
    X[:, 1] = 0.5 * X[:, 0] + np.sqrt(0.75) * X[:, 1]
    X = np.clip(X, -EDGE, EDGE)
    f = X @ (rng.standard_normal(inputs) * 0.6 ** np.arange(inputs))
    f = f + rng.integers(2) * 0.7 * X[:, 0] * X[:, -1]
    f = SIGNAL * (f - f.mean()) / f.std()
    p = expit(f + brentq(lambda a: float(expit(f + a).mean()) - prevalence, -30.0, 30.0))
    return RareTable(X, (rng.random(rows) < p).astype(np.float64), p)


def _fit(trial: RareTrial, key: tuple[int, int, int], scores: Scores) -> None:
    rng = generator(*key)
    X, y, p = table(trial.prevalence, trial.inputs, ROWS + TEST_ROWS, rng)
    clf = PrivateGPClassifier(
        trial.epsilon, DELTA, bounds=[(-EDGE, EDGE)] * trial.inputs, classes=(0, 1), n_jobs=1,
        random_state=rng,
    )  # fmt: skip
    found = clf.fit(X[:ROWS], y[:ROWS]).predict_proba(X[ROWS:])[:, 1]
    scores.setdefault(trial, []).append(rare_scores(found, p[ROWS:]))


def rare_scores(found: Array, p: Array) -> RareScores:
    """Score probabilities by the true ones."""
    expected, seen = reliability(found, p)
    return RareScores(
        average=float(found.mean()),
        log_loss=expected_loss(found, p),
        constant=expected_loss(np.full_like(p, p.mean()), p),
        truth=expected_loss(p, p),
        decile=float(np.abs(expected - seen).max()),
    )


def expected_loss(found: Array, p: Array) -> float:
    """Return the log loss to be expected of outcomes with probabilities p."""
    return float(-np.mean(p * np.log(found) + (1.0 - p) * np.log1p(-found)))


def _record(trial: RareTrial, found: Sequence[RareScores]) -> Record:
    values: dict[str, str | int | float] = {**trial._asdict(), "repeats": len(found)}
    for name in RareScores._fields:
        values |= Estimate.of(getattr(each, name) for each in found).columns(name)
    return values


def _table(scores: Scores, assignment: Assignment) -> TextTable:
    return TextTable(
        title="Rare outcomes: probabilities on rows that were not fitted",
        headings=(
            "prevalence", "inputs", "ε", "average", "log loss", "constant", "truth", "worst decile",
        ),
        rows=[_row(trial, found) for trial, found in scores.items()],
        caption=f"n = {ROWS:,}. Means of {assignment.repeats} repeats ± one standard error.",
    )  # fmt: skip


def _row(trial: RareTrial, found: Sequence[RareScores]) -> list[str]:
    average, loss, constant, truth, decile = (
        Estimate.of(getattr(each, name) for each in found) for name in RareScores._fields
    )
    return [
        f"{trial.prevalence:g}",
        f"{trial.inputs}",
        f"{trial.epsilon:g}",
        f"{average.mean:.3f} ± {average.error:.3f}",
        f"{loss.mean:.3f} ± {loss.error:.3f}",
        f"{constant.mean:.3f}",
        f"{truth.mean:.3f}",
        f"{decile.mean:.3f} ± {decile.error:.3f}",
    ]


@styled
def _draw(scores: Scores) -> Figure:
    """Draw average probability against prevalence, a panel for each number of inputs."""
    figure, axes = panels(1, len(INPUTS), (4.2 * len(INPUTS), 3.6), share=False)
    for axis, inputs in zip(axes[0], INPUTS, strict=True):
        axis.plot(PREVALENCES, PREVALENCES, color=INK, lw=0.8, ls="--")
        for epsilon, colour in zip(EPSILONS, (BLUE, VERMILION), strict=True):
            trials = [RareTrial(prevalence, inputs, epsilon) for prevalence in PREVALENCES]
            found = [Estimate.of(each.average for each in scores[trial]) for trial in trials]
            means, errors = [each.mean for each in found], [each.error for each in found]
            axis.errorbar(
                PREVALENCES, means, errors, color=colour, marker="o", label=f"ε = {epsilon:g}"
            )
        axis.set(xscale="log", yscale="log", xlabel="prevalence", ylabel="average probability")
        axis.set_title(f"{inputs} inputs", fontsize=9.5)
    axes[0][0].legend(frameon=False)
    return figure
