"""Yes and no: log loss, Brier score and reliability of private probabilities on real people.

A quarter of the rows tests, split anew in every repeat. δ = 1e-6 and replace neighbours for all;
logistic regression needs no δ. Probabilities of peers are cut to [0.001, 0.999], which helps them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.classifier import PrivateGPClassifier
from dpgp.cli.output import TextTable
from dpgp.report.style import BLUE, INK, SKY, VERMILION, panels, styled
from dpgp.types import Array
from dpgp_experiments.baselines import logistic, network
from dpgp_experiments.baselines.interface import Method, Prediction, Problem
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import generator
from dpgp_experiments.tables import Estimate, averaged
from dpgp_experiments.yes_no_tasks import YesNoTask, tasks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


EPSILONS, DELTA = (0.3, 1.0, 3.0, 10.0), 1e-6
TEST_SHARE = 0.25
CUT = 1e-3
SHOWN_EPSILON = 1.0
BINS = 10
OURS = "PrivateGPClassifier"
COLOURS = {OURS: BLUE, "DP logistic": VERMILION, "DP-SGD": SKY}


class YesNoTrial(NamedTuple):
    """A task, a method and its ε."""

    task: str
    method: str
    epsilon: float


class Scored(NamedTuple):
    """Scores of one repeat, and the probabilities with what came of them."""

    log_loss: float
    brier: float
    p: Array
    y: Array


Scores = dict[YesNoTrial, list[Scored]]


def ours(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Fit the classifier and return probabilities of 1."""
    clf = PrivateGPClassifier(
        problem.epsilon, problem.delta, bounds=list(problem.bounds), classes=(0, 1), n_jobs=1,
        random_state=rng,
    )  # fmt: skip
    return Prediction(clf.fit(problem.X, problem.y).predict_proba(X_test)[:, 1])


METHODS: Mapping[str, Method] = {
    OURS: ours,
    "DP logistic": logistic.fit_predict,
    "DP-SGD": network.fit_classes,
}


def run(assignment: Assignment) -> Outcome:
    """Fit every method to every task at every ε as often as asked."""
    cases = product(enumerate(tasks()), EPSILONS, range(assignment.repeats))
    jobs = [
        partial(_fit_all, task, epsilon, (assignment.seed, number, repeat))
        for (number, task), epsilon, repeat in cases
    ]
    scores = assignment.collect(jobs)
    records = [averaged(trial, values, ("log_loss", "brier")) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def _fit_all(
    task: YesNoTask, epsilon: float, key: tuple[int, int, int]
) -> Iterator[tuple[YesNoTrial, Scored]]:
    """Fit all methods to the same rows, and keep how they did on the others."""
    order = generator(*key).permutation(len(task.y))
    test, train = np.split(order, [round(TEST_SHARE * len(order))])
    problem = Problem(task.X[train], task.y[train], task.bounds, (0.0, 1.0), epsilon, DELTA)
    for number, (name, method) in enumerate(METHODS.items()):
        p = method(problem, task.X[test], generator(*key, number)).mean
        yield YesNoTrial(task.title, name, epsilon), score(p, task.y[test])


def score(p: Array, y: Array) -> Scored:
    """Score probabilities of 1 by what came."""
    q = np.clip(p, CUT, 1.0 - CUT)
    log_loss = -np.mean(np.where(y > 0.5, np.log(q), np.log1p(-q)))
    return Scored(float(log_loss), float(np.mean((p - y) ** 2)), p, y)


def reliability(p: Array, y: Array) -> tuple[Array, Array]:
    """Return mean probability and share of yes in bins of equally many rows."""
    bins = np.array_split(np.argsort(p, kind="stable"), BINS)
    return np.array([p[b].mean() for b in bins]), np.array([y[b].mean() for b in bins])


def _table(scores: Scores, assignment: Assignment) -> TextTable:
    return TextTable(
        title="Probabilities of yes, on rows that were held out",
        headings=("task", "ε", "method", "log loss", "Brier score"),
        rows=[_row(trial, values) for trial, values in scores.items()],
        caption=f"Means of {assignment.repeats} splits ± one standard error; seeded noise.",
    )


def _row(trial: YesNoTrial, scored: Sequence[Scored]) -> list[str]:
    log_loss = Estimate.of(each.log_loss for each in scored)
    brier = Estimate.of(each.brier for each in scored)
    texts = [f"{value.mean:.4f}±{value.error:.4f}" for value in (log_loss, brier)]
    return [trial.task, f"{trial.epsilon:g}", trial.method, *texts]


@styled
def _draw(scores: Scores) -> Figure:
    """Draw log loss against ε, and reliability at one of them, a column for each task."""
    names = list(dict.fromkeys(trial.task for trial in scores))
    figure, axes = panels(2, len(names), (4.2 * len(names), 6.8), share=False)
    for column, task in enumerate(names):
        _draw_losses(axes[0][column], task, scores)
        _draw_reliability(axes[1][column], task, scores)
    axes[0][0].legend(frameon=False)
    return figure


def _draw_losses(axis: Axes, task: str, scores: Scores) -> None:
    for method in METHODS:
        chosen = [(t.epsilon, v) for t, v in scores.items() if (t.task, t.method) == (task, method)]
        losses = [Estimate.of(each.log_loss for each in values) for _, values in chosen]
        epsilons = [epsilon for epsilon, _ in chosen]
        means, errors = [loss.mean for loss in losses], [loss.error for loss in losses]
        colour = COLOURS[method]
        axis.errorbar(epsilons, means, errors, color=colour, marker="o", ms=3, label=method)
    axis.set(xscale="log", xlabel="ε", ylabel="log loss")
    axis.set_title(task, fontsize=9.5)


def _draw_reliability(axis: Axes, task: str, scores: Scores) -> None:
    axis.plot([0, 1], [0, 1], color=INK, lw=0.8, ls="--")
    largest = 0.0
    for method in METHODS:
        scored = scores.get(YesNoTrial(task, method, SHOWN_EPSILON), [])
        if scored:
            p, y = (
                np.concatenate(parts) for parts in zip(*((s.p, s.y) for s in scored), strict=True)
            )
            expected, seen = reliability(p, y)
            axis.plot(expected, seen, color=COLOURS[method], marker="o", ms=3)
            largest = max(largest, float(expected.max()), float(seen.max()))
    axis.set(xlim=(0, largest * 1.05), ylim=(0, largest * 1.05))
    axis.set(xlabel=f"probability at ε = {SHOWN_EPSILON:g}", ylabel="share of yes")
