"""Coverage by group: levels of every category, and octiles of every number.

Simulated tables of one to eight inputs whose spread is even, grows fourfold along an input, differs
fourfold between the levels of a category, or both; bells and skewed noise take turns. Real people:
half of the complete rows for training. ε = 1, δ = 1e-5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import BLUE, GREY, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import generator, rmse
from dpgp_experiments.tables import Estimate, Record
from dpgp_experiments.tasks import BLOOD_PRESSURE, HEIGHT, Task, package_task, read_task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILON, DELTA = 1.0, 1e-5
ROWS, TEST_ROWS = 4000, 6000
SHAPES = {1: (1, 0), 2: (1, 1), 4: (2, 2), 8: (5, 3)}  # numbers and categories by inputs
SPREADS = ("even", "by input", "by level", "by both")
OCTILES, FEWEST = 8, 100
GOALS = {0.95: (0.92, 0.98), 0.5: (0.44, 0.56)}
FREQUENCIES = ((0.5, 0.25, 0.12, 0.08, 0.05), (0.6, 0.4), (0.4, 0.3, 0.2, 0.1))
DOUBLINGS = np.array([-0.5, 0.5, 1.0, -1.0, 0.75])
"""How many times the spread of a level of the first category is doubled."""
EFFECTS = np.array([0.3, -0.4, 0.6, 0.0, -0.7])
SLOPES = (0.8, -0.6, 0.5, 0.4)
NOISE, EDGE = 0.8, 6.0


class GroupTable(NamedTuple):
    """Rows with the function behind them, and what is public about them.

    ``levels`` has the number of levels of every category, by column.
    """

    title: str
    X: Array
    y: Array
    f: Array
    bounds: list[tuple[float, float]]
    levels: dict[int, int]
    target_bounds: tuple[float, float]
    training_rows: int

    def __repr__(self) -> str:
        return f"GroupTable({self.title!r}, {len(self.y)} rows)"


class GroupScores(NamedTuple):
    """Coverage by group for every level, and error, width and mean coverage of one repeat."""

    groups: Array  # (levels of coverage, groups)
    means: Array  # (levels of coverage,)
    rmse: float
    width: float


Scores = dict[str, list[GroupScores]]


def run(assignment: Assignment) -> Outcome:
    """Fit every table as often as asked, and count by group whom intervals cover."""
    tasks = [*map(package_task, (HEIGHT, BLOOD_PRESSURE)), *map(read_task, assignment.data)]
    draws: list[Callable[[], GroupTable]] = []
    for repeat in range(assignment.repeats):
        cells = enumerate(product(SHAPES, SPREADS))
        for number, (inputs, spread) in cells:
            if inputs > 1 or spread in SPREADS[:2]:
                rng = generator(assignment.seed, repeat, number)
                draws.append(partial(simulated, inputs, spread, _is_skewed(inputs, spread), rng))
        for number, task in enumerate(tasks):
            rng = generator(assignment.seed, repeat, 100 + number)
            draws.append(partial(of_people, task.complete_rows(), rng))
    scores = assignment.collect([partial(_fit, draw, seed) for seed, draw in enumerate(draws)])
    records = [_record(title, found) for title, found in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def _fit(draw: Callable[[], GroupTable], seed: int) -> Iterator[tuple[str, GroupScores]]:
    table = draw()
    yield table.title, score(table, seed)


def _is_skewed(inputs: int, spread: str) -> bool:
    """Let the laws of the noise take turns."""
    return (list(SHAPES).index(inputs) + SPREADS.index(spread)) % 2 == 1


def simulated(inputs: int, spread: str, skewed: bool, rng: np.random.Generator) -> GroupTable:
    """Draw a table: numbers that are even or crowded, and levels of 5 to 60 % of the rows."""
    rows, (numbers, categories) = ROWS + TEST_ROWS, SHAPES[inputs]
    u = rng.uniform(-1, 1, (rows, numbers))
    u[:, 1::2] = np.clip(rng.normal(0, 0.35, u[:, 1::2].shape), -1, 1)
    chosen = FREQUENCIES[:categories]
    codes = np.array([rng.choice(len(p), rows, p=p) for p in chosen], dtype=int).reshape(-1, rows)
    f = np.sin(2.5 * u[:, 0]) + u[:, 1:] @ np.array(SLOPES[: numbers - 1])
    f += 0.6 * u[:, 0] * (u[:, 1] if numbers > 1 else 0.0)
    f += sum(EFFECTS[code] / (k + 1) for k, code in enumerate(codes))
    size, doublings = 0.5 if spread == "by both" else 1.0, np.zeros(rows)
    if spread in ("by input", "by both"):
        doublings += size * u[:, 0]
    if spread in ("by level", "by both"):
        doublings += size * DOUBLINGS[codes[0]]
    scale = 2.0**doublings / np.sqrt(np.mean(4.0**doublings))
    bell = rng.standard_normal(rows)
    z = (rng.gamma(2.0, 1.0, rows) - 2.0) / np.sqrt(2.0) if skewed else bell
    return GroupTable(
        title=f"{inputs}, {spread}, {'skewed' if skewed else 'bell'}",
        X=np.column_stack([u, codes.T]),
        y=f + NOISE * scale * z,
        f=f,
        bounds=[(-1.0, 1.0)] * numbers,
        levels={numbers + k: len(p) for k, p in enumerate(chosen)},
        target_bounds=(-EDGE, EDGE),
        training_rows=ROWS,
    )  # fmt: skip


def of_people(task: Task, rng: np.random.Generator) -> GroupTable:
    """Return a table of people in a random order; their outcomes stand for the function."""
    order, half = rng.permutation(len(task.y)), len(task.y) // 2
    X, y = task.X[order], task.y[order]
    return GroupTable(task.title, X, y, y, list(task.bounds), {}, task.target_bounds, half)


def score(table: GroupTable, seed: int) -> GroupScores:
    """Fit the first rows, and score the others."""
    cut = table.training_rows
    categories = {column: list(range(count)) for column, count in table.levels.items()}
    gp = PrivateGPRegressor(
        EPSILON, DELTA, bounds=table.bounds, categories=categories or None,
        target_bounds=table.target_bounds, n_jobs=1, random_state=seed,
    ).fit(table.X[:cut], table.y[:cut])  # fmt: skip
    X, y = table.X[cut:], table.y[cut:]
    ends = [gp.predict_interval(X, level) for level in GOALS]
    covered = np.array([(y >= lower) & (y <= upper) for lower, upper in ends], dtype=np.float64)
    groups = np.column_stack([covered @ group / group.sum() for group in groups_of(table, X)])
    width = float(np.mean(ends[0][1] - ends[0][0]))
    return GroupScores(groups, covered.mean(axis=1), rmse(table.f[cut:], gp.predict(X)), width)


def groups_of(table: GroupTable, X: Array) -> list[Array]:
    """Return who is in every level of a category, and in every octile of a number."""
    found = []
    for column, x in enumerate(X.T):
        if column in table.levels:
            found += [x == level for level in range(table.levels[column])]
        else:
            octile = np.digitize(x, np.quantile(x, np.arange(1, OCTILES) / OCTILES))
            found += [octile == k for k in range(OCTILES)]
    return [group for group in found if group.sum() >= FEWEST]


class GroupSummary(NamedTuple):
    """Of one level: the worst groups, their largest error, the share of groups in the goal."""

    low: float
    high: float
    error: float
    share: float


def summary(found: Sequence[GroupScores], level: int) -> GroupSummary:
    """Summarise the means over repeats of all groups."""
    values = [Estimate.of(column) for column in np.array([each.groups[level] for each in found]).T]
    means = np.array([value.mean for value in values])
    low, high = list(GOALS.values())[level]
    within = (means >= low) & (means <= high)
    return GroupSummary(
        means.min(), means.max(), max(value.error for value in values), float(within.mean())
    )


def _record(title: str, found: Sequence[GroupScores]) -> Record:
    values: dict[str, str | int | float] = {"table": title, "repeats": len(found)}
    for k, level in enumerate(GOALS):
        worst = summary(found, k)._asdict()
        values |= {f"{name}_{level:.0%}": value for name, value in worst.items()}
        values |= Estimate.of(each.means[k] for each in found).columns(f"mean_{level:.0%}")
    for name in ("rmse", "width"):
        values |= Estimate.of(getattr(each, name) for each in found).columns(name)
    return values


def _table(scores: Scores, assignment: Assignment) -> TextTable:
    return TextTable(
        title="Coverage by group at ε = 1",
        headings=(
            "inputs, spread, noise", "95 %: worst", "in goal", "mean", "50 %: worst", "in goal",
            "mean", "RMSE", "width of 95 %",
        ),
        rows=[_row(title, found) for title, found in scores.items()],
        caption=(
            f"Means of {assignment.repeats} repeats, smallest and largest of all groups ± the "
            "largest standard error; seeded noise, not private. Goals are 92 to 98 % and 44 to "
            f"56 %. Simulated tables have {ROWS:,} rows."
        ),
    )  # fmt: skip


def _row(title: str, found: Sequence[GroupScores]) -> list[str]:
    cells = []
    for k in range(len(GOALS)):
        worst, mean = summary(found, k), np.mean([each.means[k] for each in found])
        cells += [
            f"{100 * worst.low:.0f}–{100 * worst.high:.0f} ± {100 * worst.error:.1f}",
            f"{100 * worst.share:.0f} %",
            f"{100 * mean:.1f}",
        ]
    numbers = [Estimate.of(getattr(each, name) for each in found) for name in ("rmse", "width")]
    return [title, *cells, *(f"{each.mean:.4g} ± {each.error:.2g}" for each in numbers)]


@styled
def _draw(scores: Scores) -> Figure:
    """Draw the coverage of every group of every table, a panel for each level."""
    figure, axes = panels(1, len(GOALS), (7.0, 0.8 + 0.25 * len(scores)), share=False)
    for k, (axis, (level, goal)) in enumerate(zip(axes[0], GOALS.items(), strict=True)):
        axis.axvspan(*goal, color=GREY, alpha=0.2)
        axis.axvline(level, color=GREY, lw=0.8)
        for place, found in enumerate(scores.values()):
            means = np.mean([each.groups[k] for each in found], axis=0)
            axis.plot(means, np.full(len(means), -place), ".", color=BLUE, ms=4)
        axis.set(title=f"{level:.0%} intervals", xlabel="share covered")
        axis.set_yticks(-np.arange(len(scores)), list(scores) if k == 0 else [""] * len(scores))
    return figure
