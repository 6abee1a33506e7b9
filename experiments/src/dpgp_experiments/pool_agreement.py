"""Does the test of agreement find one of ten releases in another unit, and how often is it wrong?

In the part "corrupt" ten releases are pooled of which none or one has another unit, and it is
counted what is refused and which is named. In the part "alarms" pairs of releases are about one
function, and it is counted how often they are told apart, pooled or one as an update of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.model.fitted import FittedModel
from dpgp.pooling import PoolingError, pool
from dpgp.report.style import panels, styled
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.pool import Job, count, groups, mean_of, records_of
from dpgp_experiments.pool_tasks import TASKS, fitted
from dpgp_experiments.simulated import generator
from dpgp_experiments.tables import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEN, WRONG_UNIT = 10, 0.7
"""Releases of the part with a wrong unit, and by what one of them is multiplied."""
ALARMS, SMALL, PAIRS = "alarms", 500, 20
"""Rows of a release among pairs that agree, and pairs a repeat."""
FEW = ("sinc", "growth")


def run(assignment: Assignment) -> Outcome:
    """Pool releases of one or two inputs, and count what is told apart."""
    found = records_of(jobs(assignment), assignment)
    return Outcome(found, _table(found, assignment), _draw(found))


def jobs(assignment: Assignment) -> list[Job]:
    """Return one job for every task and repeat."""
    parts: list[Callable[[str, Sequence[int]], Iterator[Record]]] = [_corrupt, _alarms]
    if assignment.part:
        parts = [_alarms] if assignment.part == ALARMS else [_corrupt]
    return [
        partial(part, name, [assignment.seed, 9, list(TASKS).index(name), repeat])
        for part in parts
        for name in FEW
        for repeat in range(assignment.repeats)
    ]


def _corrupt(name: str, key: Sequence[int]) -> Iterator[Record]:
    """Pool ten releases, and the same with one whose outcome has another unit."""
    task, rng = TASKS[name], generator(*key)
    X, _, y = task.sample(task.rows, rng)
    parts = np.array_split(np.arange(task.rows), TEN)
    models = [fitted(task, X[rows], y[rows], [*key, j]) for j, rows in enumerate(parts)]
    odd, low = int(rng.integers(TEN)), task.public["target_bounds"][0]
    spoiled = np.maximum(WRONG_UNIT * y[parts[odd]], low)
    wrong = [*models]
    wrong[odd] = fitted(task, X[parts[odd]], spoiled, [*key, odd])
    yield {"task": name, "releases": "ten alike", **_refused(models, None)}
    yield {"task": name, "releases": "one in another unit", **_refused(wrong, odd)}


def _refused(models: Sequence[FittedModel], odd: int | None) -> dict[str, float]:
    try:
        pool(models)
    except PoolingError as error:
        named = odd is not None and f"function: release {odd + 1} has" in str(error)
        return {"refused": 1.0, "named": float(named)}
    return {"refused": 0.0, "named": 0.0}


def _alarms(name: str, key: Sequence[int]) -> Iterator[Record]:
    """Pool pairs of small releases that are about one function, and let one update the other."""
    task, rng = TASKS[name], generator(*key, 1)
    for pair in range(PAIRS):
        X, _, y = task.sample(2 * SMALL, rng)
        first, second = slice(0, SMALL), slice(SMALL, None)
        seeds = [[*key, pair, k] for k in range(3)]
        one = fitted(task, X[first], y[first], seeds[0])
        other = fitted(task, X[second], y[second], seeds[1])
        yield {"task": name, "releases": "two alike", **_refused([one, other], None)}
        last = fitted(task, X[second], y[second], seeds[2], prior_model=one)
        moved = float(not last.members)
        yield {"task": name, "releases": "an update alike", "refused": moved, "named": 0.0}


def _table(found: Sequence[Record], assignment: Assignment) -> TextTable:
    rows = []
    for (task, releases), records in groups(found, "task", "releases").items():
        rows.append([task, releases, count(records, "refused"), count(records, "named")])
    return TextTable(
        "Releases that are told apart",
        ("task", "releases", "told apart", "the right one named"),
        rows,
        f"{assignment.repeats} repeats; the wrong release has {WRONG_UNIT:g} of its outcomes. The "
        "level is 1 %.",
    )


@styled
def _draw(found: Sequence[Record]) -> Figure:
    """Draw how often releases are told apart."""
    told = groups(found, "task", "releases")
    figure, [[axis]] = panels(1, 1, (4.0, 3.0))
    labels = [f"{task}, {releases}" for task, releases in told]
    axis.barh(labels, [mean_of(records, "refused").mean for records in told.values()])
    axis.set(xlabel="told apart", xlim=(0, 1))
    return figure
