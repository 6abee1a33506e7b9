"""Rare outcomes: do probabilities add up, are they reliable, and better than one number for all?

Log losses of simulated tables are expected ones, over true probabilities. Every fit is read four
times: as it is, with log odds that are shifted and not stretched, as one probability for all, the
private average, and beside the share of yes among the test rows, which no method knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logit

from dpgp.classifier import PrivateGPClassifier
from dpgp.cli.output import TextTable
from dpgp.model.fitted import FittedModel
from dpgp.outcomes.log_odds import LogOdds
from dpgp.report.style import BLUE, INK, VERMILION, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.rare_tables import Draw, tables
from dpgp_experiments.simulated import generator
from dpgp_experiments.tables import Estimate, Record, averaged
from dpgp_experiments.yes_no import reliability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS, DELTA = (1.0, 3.0), 1e-6


class RareTrial(NamedTuple):
    """A table and ε."""

    table: str
    epsilon: float


class RareScores(NamedTuple):
    """Average probability, log losses, and what was said and came by decile, of one repeat."""

    events: float
    average: float
    prevalence: float
    log_loss: float
    shifted: float
    average_alone: float
    constant: float
    best: float
    said: Array
    came: Array
    shifted_gap: float

    @property
    def gap(self) -> float:
        """Root mean square of what was said minus what came."""
        return root_mean_square(self.said - self.came)


Scores = dict[RareTrial, list[RareScores]]
LOSSES = ("log_loss", "shifted", "average_alone", "constant", "best")


def run(assignment: Assignment) -> Outcome:
    """Fit all tables at every ε as often as asked."""
    cases = product(enumerate(tables().items()), EPSILONS, range(assignment.repeats))
    jobs = [
        partial(_fit, RareTrial(name, epsilon), draw, (assignment.seed, number, repeat))
        for (number, (name, draw)), epsilon, repeat in cases
    ]
    scores = assignment.collect(jobs)
    records = [_record(trial, found) for trial, found in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def _fit(
    trial: RareTrial, draw: Draw, key: tuple[int, int, int]
) -> Iterator[tuple[RareTrial, RareScores]]:
    rng = generator(*key)
    X, y, X_test, came, best, bounds = draw(rng)
    clf = PrivateGPClassifier(
        trial.epsilon, DELTA, bounds=bounds, classes=(0, 1), n_jobs=1, random_state=rng
    )
    model = clf.fit(X, y).model_
    events = len(y) * min(came.mean(), 1.0 - came.mean()) * (model.certificate.mu or 0.0)
    yield trial, rare_scores(model, X_test, came, best, events)


def rare_scores(
    model: FittedModel, X: Array, came: Array, best: Array, events: float = 0.0
) -> RareScores:
    """Score a model's probabilities by what came, true probabilities or outcomes."""
    p, a = model.mean(X), model.odds(0).shift
    shifted = replace(model, log_odds=(LogOdds(shift=a, level=a),)).mean(X)
    said, seen = reliability(p, came)
    return RareScores(
        events=events,
        average=float(p.mean()),
        prevalence=float(came.mean()),
        log_loss=expected_loss(p, came),
        shifted=expected_loss(shifted, came),
        average_alone=expected_loss(_average_alone(model).mean(X), came),
        constant=expected_loss(np.full_like(came, came.mean()), came),
        best=expected_loss(best, came),
        said=said,
        came=seen,
        shifted_gap=root_mean_square(np.subtract(*reliability(shifted, came))),
    )


def _average_alone(model: FittedModel) -> FittedModel:
    """Return a model of one probability for all: the average over the released inputs."""
    density = model.density
    if density is None:
        raise ValueError("a model without a density of its inputs has no average.")
    average = np.average(model.mean(density.points), weights=density.weights)
    return replace(model, log_odds=(LogOdds(level=float(logit(average)), slope=0.0),))


def expected_loss(found: Array, came: Array) -> float:
    """Return the log loss of outcomes, or that to be expected of true probabilities."""
    return float(-np.mean(came * np.log(found) + (1.0 - came) * np.log1p(-found)))


def root_mean_square(gaps: Array) -> float:
    """Return √mean(gaps²)."""
    return float(np.sqrt(np.mean(np.square(gaps))))


def _record(trial: RareTrial, found: Sequence[RareScores]) -> Record:
    measures = ("events", "average", "prevalence", *LOSSES, "gap", "shifted_gap")
    values = averaged(trial, found, measures)
    for name in ("said", "came"):
        deciles = np.mean([getattr(each, name) for each in found], axis=0)
        values |= {f"{name}_{k}": float(value) for k, value in enumerate(deciles, 1)}
    return values


def _table(scores: Scores, assignment: Assignment) -> TextTable:
    return TextTable(
        title="Rare outcomes: probabilities on rows that were not fitted",
        headings=(
            "table", "ε", "nqμ", "came", "said", "log loss", "shifted", "average", "constant",
            "best", "gap", "shifted", "said − came by decile, per cent",
        ),
        rows=[_row(trial, found) for trial, found in scores.items()],
        caption=(
            f"Means of {assignment.repeats} repeats ± one standard error of the difference to the "
            "constant. nqμ: events of the rarer class times μ. Log losses: ours; log odds shifted "
            "alone; the private average for all; the share of yes among test rows for all; the "
            "truth, of people logistic regression without privacy. Gap: root mean square of said "
            "− came over deciles, ours and shifted alone, and by decile the mean."
        ),
    )  # fmt: skip


def _row(trial: RareTrial, found: Sequence[RareScores]) -> list[str]:
    events, average, prevalence, *losses, gap, shifted_gap = (
        float(np.mean([getattr(each, name) for each in found]))
        for name in ("events", "average", "prevalence", *LOSSES, "gap", "shifted_gap")
    )
    error = Estimate.of(each.log_loss - each.constant for each in found).error
    gaps = 100 * np.mean([each.said - each.came for each in found], axis=0)
    return [
        trial.table,
        f"{trial.epsilon:g}",
        f"{events:.0f}",
        f"{prevalence:.3f}",
        f"{average:.3f}",
        f"{losses[0]:.4f} ± {error:.4f}",
        *(f"{loss:.4f}" for loss in losses[1:]),
        f"{gap:.3f}",
        f"{shifted_gap:.3f}",
        " ".join(f"{value:.1f}" for value in gaps),
    ]


@styled
def _draw(scores: Scores) -> Figure:
    """Draw what came against what was said, by decile, a panel for each ε."""
    figure, axes = panels(1, len(EPSILONS), (4.2 * len(EPSILONS), 4.0), share=False)
    for axis, epsilon in zip(axes[0], EPSILONS, strict=True):
        for trial, found in scores.items():
            if trial.epsilon == epsilon:
                said, came = (
                    np.mean([getattr(each, name) for each in found], axis=0)
                    for name in ("said", "came")
                )
                colour = BLUE if trial.table.startswith("simulated") else VERMILION
                axis.plot(said, came, color=colour, marker="o", ms=2.5, lw=0.7)
        axis.plot([1e-4, 1.0], [1e-4, 1.0], color=INK, lw=0.8, ls="--")
        axis.set(xscale="log", yscale="log", xlim=(5e-4, 1.0), ylim=(5e-4, 1.0))
        axis.set(xlabel=f"probability at ε = {epsilon:g}", ylabel="share of yes")
    return figure
