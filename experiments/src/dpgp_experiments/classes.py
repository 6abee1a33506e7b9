"""Several classes: log loss of private probabilities, together, in their order and one by one.

A quarter of the rows tests, split anew in every repeat. δ = 1e-6 and replace neighbours. One by
one, every class is fitted against all others with an equal part of μ², and probabilities are
divided by their sum. AIM makes synthetic rows, on which trees are boosted; it is told which inputs
are whole numbers. The shares of the training rows, a multinomial logistic regression and boosted
trees are not private. The part ``ordered`` has tables whose classes have an order alone, and
methods that are all classes together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dpgp.classifier import PrivateGPClassifier
from dpgp.cli.output import TextTable
from dpgp.privacy.calibration import epsilon_of_mu, mu_of_epsilon_delta
from dpgp.report.style import SERIES, panels, styled
from dpgp.types import Array
from dpgp_experiments.baselines import aim, boosting
from dpgp_experiments.class_tasks import ClassTask, Labels, tasks
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import generator
from dpgp_experiments.tables import Estimate, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS, DELTA = (0.3, 1.0, 3.0), 1e-6
ORDERED = "ordered"
TEST_SHARE = 0.25
CUT = 1e-3  # of all probabilities, before they are divided by their sum: helps peers


class Split(NamedTuple):
    """Rows to learn from, inputs to predict, and what is public."""

    X: Array
    y: Labels
    new: Array
    classes: int
    bounds: tuple[tuple[float, float], ...]
    order: tuple[int, ...]


Method = Callable[[Split, float, np.random.Generator], Array]


class ClassTrial(NamedTuple):
    """A task, a method and its ε; that of methods without privacy is ∞."""

    task: str
    method: str
    epsilon: float


def ours(split: Split, epsilon: float, rng: np.random.Generator) -> Array:
    """Fit all classes together."""
    return _fitted(split, split.y, tuple(range(split.classes)), epsilon, rng).predict_proba(
        split.new
    )


def one_by_one(split: Split, epsilon: float, rng: np.random.Generator) -> Array:
    """Fit every class against all others, each with a K-th of μ²."""
    mu = mu_of_epsilon_delta(epsilon, DELTA) / math.sqrt(split.classes)
    each = epsilon_of_mu(mu, DELTA)
    found = [
        _fitted(split, (split.y == k).astype(int), (0, 1), each, rng).predict_proba(split.new)[:, 1]
        for k in range(split.classes)
    ]
    return np.column_stack(found)


def in_order(split: Split, epsilon: float, rng: np.random.Generator) -> Array:
    """Fit all classes together, as classes that have an order."""
    P = _fitted(split, split.y, split.order, epsilon, rng, ordered=True).predict_proba(split.new)
    return np.asarray(P[:, np.argsort(split.order)])


def _fitted(
    split: Split,
    y: Labels,
    classes: tuple[int, ...],
    epsilon: float,
    rng: np.random.Generator,
    ordered: bool = False,
) -> PrivateGPClassifier:
    clf = PrivateGPClassifier(
        epsilon,
        DELTA,
        bounds=list(split.bounds),
        classes=classes,
        ordered=ordered,
        n_jobs=1,
        random_state=rng,
    )
    return clf.fit(split.X, y)


def constant(split: Split, epsilon: float, rng: np.random.Generator) -> Array:
    """Return the shares of the training rows for everybody."""
    shares = np.bincount(split.y, minlength=split.classes) / len(split.y)
    return np.tile(shares, (len(split.new), 1))


def logistic(split: Split, epsilon: float, rng: np.random.Generator) -> Array:
    """Fit a multinomial logistic regression without privacy."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return np.asarray(model.fit(split.X, split.y).predict_proba(split.new))


def boosted(split: Split, epsilon: float, rng: np.random.Generator) -> Array:
    """Boost trees without privacy, as many as early stopping wants."""
    return boosting.fit_classes(split.X, split.y, split.classes, split.new, rng)


def synthetic(split: Split, epsilon: float, rng: np.random.Generator) -> Array:
    """Boost trees on the rows of AIM; whole inputs of few values have a bin for each."""
    low, high = np.array(split.bounds).T
    values = (high - low + 1.0).astype(int)
    is_fine = (np.round(split.X) != split.X).any(axis=0) | (values > aim.BINS)
    sizes = tuple(np.where(is_fine, aim.BINS, values).tolist())
    scaled = ((np.clip(X, low, high) - low) / (high - low) for X in (split.X, split.new))
    U, new = (2.0 * inputs - 1.0 for inputs in scaled)
    problem = aim.ClassProblem(U, split.y, split.classes, sizes, epsilon, DELTA)
    return aim.fit_classes(problem, new, rng)


OURS, ONE_BY_ONE, IN_ORDER = "all classes together", "one by one", "together, in their order"
AIM = "AIM, boosting"
PRIVATE: Mapping[str, Method] = {
    OURS: ours, ONE_BY_ONE: one_by_one, IN_ORDER: in_order, AIM: synthetic
}  # fmt: skip
OPEN: Mapping[str, Method] = {
    "constant": constant, "logistic regression": logistic, "boosting": boosted
}  # fmt: skip


def run(assignment: Assignment) -> Outcome:
    """Fit every method to every task as often as asked."""
    is_part = assignment.part == ORDERED
    methods = (OURS, IN_ORDER) if is_part else tuple(PRIVATE)
    jobs = [
        partial(_fit_all, task, epsilon, (assignment.seed, number, repeat), methods)
        for (number, task), epsilon, repeat in product(
            enumerate(tasks()), (*EPSILONS, math.inf), range(assignment.repeats)
        )
        if task.order or not is_part
    ]
    scores = assignment.collect(jobs)
    records = [_record(trial, values) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def _fit_all(
    task: ClassTask, epsilon: float, key: tuple[int, int, int], private: Sequence[str]
) -> Iterator[tuple[ClassTrial, float]]:
    """Fit methods to the same rows, and keep how they did on the others."""
    order = generator(*key).permutation(len(task.y))
    test, train = np.split(order, [round(TEST_SHARE * len(order))])
    split = Split(task.X[train], task.y[train], task.X[test], task.classes, task.bounds, task.order)
    for number, (name, method) in enumerate((OPEN if math.isinf(epsilon) else PRIVATE).items()):
        if name not in (*private, *OPEN) or (name == IN_ORDER and not task.order):
            continue
        P = method(split, epsilon, generator(*key, number))
        yield ClassTrial(task.title, name, epsilon), log_loss(P, task.y[test])


def log_loss(P: Array, y: Labels) -> float:
    """Return −mean log p of the classes that came, cut and divided by their sum."""
    cut = np.maximum(P, CUT)
    p = cut[np.arange(len(y)), y] / cut.sum(axis=1)
    return float(-np.mean(np.log(p)))


# --- results --------------------------------------------------------------------------------------


def _record(trial: ClassTrial, losses: Sequence[float]) -> Record:
    values: dict[str, str | int | float] = {**trial._asdict(), "repeats": len(losses)}
    return values | Estimate.of(losses).columns("log_loss")


def _table(scores: Mapping[ClassTrial, Sequence[float]], assignment: Assignment) -> TextTable:
    order = sorted(scores, key=lambda trial: [*{t.task: 0 for t in scores}].index(trial.task))
    rows = [
        [trial.task, f"{trial.epsilon:g}", trial.method, str(Estimate.of(scores[trial])), more]
        for trial in order
        for more in [_more_than_ours(trial, scores)]
    ]
    return TextTable(
        title="Log loss of probabilities of classes, on rows that were held out",
        headings=("table", "ε", "method", "log loss", "more than all together"),
        rows=rows,
        caption=f"Means of {assignment.repeats} splits ± one standard error; seeded noise. What is "
        "more is that of the same split, at the same ε or without privacy at the largest.",
    )


def _more_than_ours(trial: ClassTrial, scores: Mapping[ClassTrial, Sequence[float]]) -> str:
    """Return the difference of the same splits, of which splits have no part."""
    epsilon = max(EPSILONS) if math.isinf(trial.epsilon) else trial.epsilon
    ours = scores[ClassTrial(trial.task, OURS, epsilon)]
    more = Estimate.of(np.subtract(scores[trial], ours))
    return "" if trial.method == OURS else f"{more.mean:+.3f} ± {more.error:.3f}"


@styled
def _draw(scores: Mapping[ClassTrial, Sequence[float]]) -> Figure:
    """Draw log loss against ε, a panel for each table; methods without privacy are lines."""
    names = list(dict.fromkeys(trial.task for trial in scores))
    figure, axes = panels(2, -(-len(names) // 2), (3.0 * -(-len(names) // 2), 5.6), share=False)
    places = [axis for row in axes for axis in row]
    for spare in places[len(names) :]:
        spare.remove()
    for axis, task in zip(places, names, strict=False):
        for colour, method in zip(SERIES, [*PRIVATE, *OPEN], strict=False):
            found = {
                t.epsilon: v for t, v in scores.items() if (t.task, t.method) == (task, method)
            }
            if not found:
                continue
            means = [float(np.mean(values)) for values in found.values()]
            if method in OPEN:
                axis.axhline(means[0], color=colour, lw=1.0, ls="--", label=method)
            else:
                axis.plot(list(found), means, color=colour, marker="o", ms=3, label=method)
        axis.set(xscale="log", xlabel="ε", ylabel="log loss")
        axis.set_title(task, fontsize=9.5)
    places[0].legend(frameon=False, fontsize=7)
    return figure
