"""Public tables of three inputs and more that come with packages: people, in their columns' units.

Bounds are what columns can hold by their documentation, or public knowledge of bodies; none was
read from a table. A table whose package is not installed is left out.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes

from dpgp.cli import people
from dpgp.types import Array
from dpgp_experiments.tasks import KnownTable, Task

AGE, WEIGHT, HEIGHT, WAIST, BMI = (
    "AgeInYearsAtScreening", "WeightKg", "StandingHeightCm", "WaistCircumferenceCm",
    "BodyMassIndexKgm2",
)  # fmt: skip
BODY = {
    AGE: people.AGE.bounds,
    WEIGHT: people.WEIGHT.bounds,
    HEIGHT: people.HEIGHT.bounds,
    WAIST: (30.0, 200.0),
    BMI: (10.0, 70.0),
}


def _body(*names: str) -> dict[str, tuple[float, float]]:
    return {name: BODY[name] for name in names}


NHANES = (
    KnownTable("nhanes_waist", "waist, NHANES 2017–18", _body(AGE, WEIGHT, HEIGHT, WAIST)),
    KnownTable(
        "nhanes_pressure",
        "blood pressure, NHANES 2017–18",
        {
            **_body(AGE, WEIGHT, HEIGHT, WAIST),
            "60SecPulse30SecPulse2": (30.0, 200.0),
            "SystolicBloodPres2NdRdgMmHg": (60.0, 240.0),
        },
    ),
    KnownTable(
        "nhanes_cholesterol",
        "cholesterol, NHANES 2017–18",
        {
            **_body(AGE, WAIST, BMI),
            "DirectHdlcholesterolMgdl": (0.0, 200.0),
            "TotalCholesterolMgdl": (50.0, 500.0),
        },
    ),
    KnownTable(
        "nhanes_sleep",
        "hours of sleep, NHANES 2017–18",
        {
            **_body(AGE, BMI),
            "RatioOfFamilyIncomeToPoverty": (0.0, 5.0),
            "SleepHoursWeekdaysOrWorkdays": (2.0, 14.0),
        },
    ),
)
MARRIAGES = KnownTable(
    "fair_rating",
    "rating of marriages, Fair 1978",
    {
        "age": (17.0, 45.0), "yrs_married": (0.0, 25.0), "children": (0.0, 6.0),
        "religious": (1.0, 4.0), "educ": (9.0, 20.0), "rate_marriage": (1.0, 5.0),
    },
)  # fmt: skip
VOTERS = KnownTable(
    "anes_party",
    "party of voters, ANES 1996",
    {
        "TVnews": (0.0, 7.0), "selfLR": (1.0, 7.0), "ClinLR": (1.0, 7.0), "DoleLR": (1.0, 7.0),
        "age": (17.0, 95.0), "educ": (1.0, 7.0), "income": (1.0, 24.0), "PID": (0.0, 6.0),
    },
)  # fmt: skip
INSURED = KnownTable(
    "rand_diseases",
    "chronic diseases, RAND health insurance",
    {
        "lncoins": (0.0, 5.0), "idp": (0.0, 1.0), "lpi": (0.0, 8.0), "fmde": (0.0, 10.0),
        "physlm": (0.0, 1.0), "hlthg": (0.0, 1.0), "hlthf": (0.0, 1.0), "hlthp": (0.0, 1.0),
        "disea": (0.0, 60.0),
    },
)  # fmt: skip
DIABETES = KnownTable(
    "diabetes",
    "progression of diabetes, Efron et al. 2004",
    {
        "age": (18.0, 80.0), "sex": (1.0, 2.0), "bmi": (15.0, 50.0), "bp": (50.0, 140.0),
        "s1": (80.0, 350.0), "s2": (30.0, 250.0), "s3": (15.0, 110.0), "s4": (1.0, 10.0),
        "s5": (3.0, 7.0), "s6": (50.0, 150.0), "target": (0.0, 400.0),
    },
)  # fmt: skip


class CsvOfPackage(NamedTuple):
    """A table in a file of the package ``statsmodels``."""

    known: KnownTable
    path: str
    delimiter: str = ","

    def read(self) -> Task:
        """Read the columns; nothing else of the package is imported."""
        text = (files("statsmodels") / "datasets" / self.path).read_text(encoding="utf-8")
        header, *lines = csv.reader(io.StringIO(text), delimiter=self.delimiter)
        places = [[cell.strip("'") for cell in header].index(name) for name in self.known.columns]
        return Task.of(self.known, _numbers(lines, places))


STATSMODELS = (
    CsvOfPackage(MARRIAGES, "fair/fair.csv"),
    CsvOfPackage(VOTERS, "anes96/anes96.csv", "\t"),
    CsvOfPackage(INSURED, "randhie/randhie.csv"),
)
TABLES = (*NHANES, DIABETES, *(table.known for table in STATSMODELS))


def packaged_tasks() -> list[Task]:
    """Return the complete rows of all tables whose packages are here."""
    tasks = [Task.of(known, people.read_columns(known.columns)) for known in NHANES]
    tasks.append(_diabetes())
    if find_spec("statsmodels") is not None:
        tasks += [table.read() for table in STATSMODELS]
    return [task.complete_rows() for task in tasks]


def _diabetes() -> Task:
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return Task.of(DIABETES, np.column_stack([X, y]))


def _numbers(lines: Sequence[Sequence[str]], places: Sequence[int]) -> Array:
    """Return cells as numbers; empty ones are missing."""
    return np.array([[float(line[place] or math.nan) for place in places] for line in lines])
