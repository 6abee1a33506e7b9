"""Made-up tables and their worst neighbours: no data of anybody, and values that try to do harm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.categories import Category
from dpgp.choices import Missing
from dpgp.domain import Box
from dpgp.options import Options
from dpgp.outcomes.labels import class_box
from dpgp.privacy.neighbours import Neighbours
from dpgp.private.rows import Rows, scaled_rows
from dpgp.types import Array

Random = np.random.Generator

ROWS = 24
FAR = (1e3, 1e12, 1e300)


@dataclass(frozen=True)
class MadeUpTable:
    """Raw inputs (rows, columns), targets (rows, targets), whose the rows are, and their weights.

    Where rows have weights these are one more column of the inputs, the last.
    """

    X: Array
    y: Array
    units: tuple[str, ...] | None = None

    def rows(self, options: Options) -> Rows:
        """Return the rows as a fit reads them, of people by the same key for all tables.

        The guarantee holds for every key, so neighbours are compared under one.
        """
        X, weights = (self.X[:, :-1], self.X[:, -1]) if options.are_weighted else (self.X, None)
        return scaled_rows(X, self.y.T, options, self.units, seed=0, weights=weights)


@dataclass(frozen=True)
class Case:
    """A kind of fit to attack: number of inputs and targets, and options.

    The first input is a category of so many ``levels`` where there are any, and the target one of
    so many ``classes``.
    """

    columns: int
    targets: int = 1
    asked: tuple[tuple[str, Any], ...] = ()
    levels: int = 0
    classes: int = 0

    @property
    def options(self) -> Options:
        """What the fit is asked for."""
        numbers = [None] * (self.columns - 1)
        categories = (Category(tuple(range(self.levels))), *numbers) if self.levels else ()
        return Options.parse(
            box=Box.from_bounds((-1, 1), self.columns, categories=categories),
            target_box=self._target_box,
            **{"epsilon": 1.0, "delta": 1e-6, **dict(self.asked)},
        )

    @property
    def _target_box(self) -> Box:
        if self.classes:
            return class_box(Category(tuple(range(self.classes))))
        return Box.from_bounds((-1, 1), self.targets, argument="target_bounds")


def _case(columns: int, targets: int = 1, **asked: Any) -> Case:
    return Case(columns, targets, tuple(asked.items()))


PEOPLE = {"per_person": True, "max_rows_per_unit": 3}
CASES: dict[str, Case] = {
    "one input": _case(1),
    "a line": _case(2, features="linear", stages=2),
    "additive features, two targets": _case(2, 2, features="additive", stages=1),
    "joint features": _case(2, features="joint", inducing_points=12, stages=1),
    "a grid": _case(2, features="grid", inducing_points=4, stages=1),
    "given points": _case(2, inducing_points=[[0.0, 0.0], [0.5, -0.5]], stages=1),
    "rows that come and go": _case(1, neighbours="add-remove", stages=2),
    "missing values": _case(1, missing="ignore", stages=2),
    "people": _case(1, stages=1, rows_of_unit="first", **PEOPLE),
    # with less, so few people would end the fit after the first release
    "people who come and go": _case(
        1, neighbours="add-remove", missing="ignore", stages=1, epsilon=80.0, **PEOPLE
    ),
    "weights": _case(1, weight_bound=0.5, stages=2, epsilon=20.0),
    "weights of people": _case(
        1, weight_bound=2.0, missing="ignore", stages=1, epsilon=80.0, **PEOPLE
    ),
    "weights and classes": replace(
        _case(1, weight_bound=0.5, missing="ignore", stages=2, epsilon=80.0), classes=3
    ),
    "a learned metric": _case(4, stages=2),
    "a model of the inputs": _case(4, neighbours="add-remove", stages=2),
    "gaps": replace(_case(4, missing="model", stages=2), levels=3),
    "levels": replace(_case(2, missing="ignore", stages=2), levels=3),
    "yes and no": replace(_case(1, stages=2), classes=2),
    "classes": replace(_case(2, stages=2), classes=4),
    "classes that come and go": replace(
        _case(4, neighbours="add-remove", stages=2, epsilon=20.0), classes=3
    ),
}


def random_table(options: Options, random: Random, rows: int = ROWS) -> MadeUpTable:
    """Return rows of which some are ordinary and some are not."""
    if not options.per_person:
        return _table([_row(options, random) for _ in range(rows)], None)
    most = options.max_rows_per_unit
    made = [row for _ in range(rows // most) for row in _rows_of_one(options, random, most)]
    return _table(made, tuple(f"p{k // most}" for k in range(len(made))))


def _table(made: Sequence[tuple[Array, Array]], units: tuple[str, ...] | None) -> MadeUpTable:
    return MadeUpTable(np.array([x for x, _ in made]), np.array([y for _, y in made]), units)


def tame_table(options: Options, random: Random) -> MadeUpTable:
    """Return rows inside the bounds, among which a single other one would stand out."""
    table = random_table(options, random, ROWS)
    X, y = (random.uniform(-0.9, 0.9, part.shape) for part in (table.X, table.y))
    if options.are_weighted:
        X[:, -1] = np.abs(X[:, -1])
    levels = np.flatnonzero(~options.box.is_numeric)
    X[:, levels] = table.X[:, levels]
    return replace(table, X=X, y=np.where(options.target_box.is_numeric, y, table.y))


def _rows_of_one(options: Options, random: Random, count: int) -> list[tuple[Array, Array]]:
    """Return the rows of one unit, often all alike, which moves a sum the farthest."""
    if random.integers(2):
        return [_row(options, random)] * count
    return [_row(options, random) for _ in range(count)]


def _row(options: Options, random: Random) -> tuple[Array, Array]:
    may_lack = options.missing is not Missing.ERROR
    inputs = _cells(options, options.box, may_lack, random)
    if options.are_weighted:
        weight = _value(options, random)
        inputs = np.append(inputs, weight if may_lack else abs(weight))
    unreadable = may_lack or not options.outcome.unreadable_is_error
    return inputs, _cells(options, options.target_box, unreadable, random)


def _cells(options: Options, box: Box, may_lack: bool, random: Random) -> Array:
    """Return one value for every column of a box."""
    kinds = [box.category(k) for k in range(len(box.low))]
    return np.array(
        [
            _value(options, random) if kind is None else _level(kind, may_lack, random)
            for kind in kinds
        ]
    )


def _level(category: Category, may_lack: bool, random: Random) -> float:
    """Return the number of a level, or of none of them."""
    number = int(random.integers(len(category.levels) + may_lack))
    return float(number) if number < len(category.levels) else float("nan")


def _value(options: Options, random: Random) -> float:
    """Return a number inside the bounds, at one of them, far outside, or none at all."""
    sign = float(random.choice([-1.0, 1.0]))
    kinds: list[Callable[[], float]] = [
        lambda: float(random.uniform(-1.0, 1.0)),
        lambda: float(random.uniform(-1.0, 1.0)),
        lambda: sign,
        lambda: sign * float(random.choice(FAR)),
        lambda: sign * float(random.choice(FAR)),
        lambda: 0.0,
    ]
    if options.missing is not Missing.ERROR:
        kinds += [lambda: float("nan"), lambda: sign * float("inf")]
    return kinds[int(random.integers(len(kinds)))]()


def neighbour(table: MadeUpTable, options: Options, random: Random) -> MadeUpTable:
    """Return a table that differs in one unit, which is chosen to do harm."""
    replaced = options.neighbours is Neighbours.REPLACE
    if table.units is None and replaced:
        X, y = table.X.copy(), table.y.copy()
        place = int(random.integers(len(X)))
        X[place], y[place] = _row(options, random)
        return replace(table, X=X, y=y)
    removed = replaced or bool(random.integers(2))
    smaller, unit = _without_a_unit(table, random) if removed else (table, None)
    return smaller if removed and not replaced else _with_a_unit(smaller, unit, options, random)


def _without_a_unit(table: MadeUpTable, random: Random) -> tuple[MadeUpTable, str | None]:
    place = int(random.integers(len(table.X)))
    if table.units is None:
        return _taken(table, np.arange(len(table.X)) != place), None
    unit = table.units[place]
    return _taken(table, np.array([other != unit for other in table.units])), unit


def _taken(table: MadeUpTable, kept: NDArray[np.bool_]) -> MadeUpTable:
    units = None if table.units is None else tuple(np.array(table.units)[kept].tolist())
    return MadeUpTable(table.X[kept], table.y[kept], units)


def _with_a_unit(
    table: MadeUpTable, unit: str | None, options: Options, random: Random
) -> MadeUpTable:
    """Return a table with one unit more, its rows anywhere, also more of them than count."""
    most = options.max_rows_per_unit + 2 if table.units is not None else 1
    name = unit if unit is not None and random.integers(2) else f"new {random.integers(10**6)}"
    for x, y in _rows_of_one(options, random, int(random.integers(1, most + 1))):
        place = int(random.integers(len(table.X) + 1))
        units = table.units
        if units is not None:
            units = (*units[:place], name, *units[place:])
        X = np.insert(table.X, place, x, axis=0)
        table = MadeUpTable(X, np.insert(table.y, place, y, axis=0), units)
    return table
