"""Wrong ways to ask: one function each, which does it for real to a table of people.

Every function takes a :class:`Asking`, on which it asks in Python or on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from dpgp import Ledger, PrivateGPClassifier, PrivateGPRegressor, load
from dpgp.cli import app
from dpgp.model.fitted import FittedModel

EPSILON, DELTA, ROWS = 1.0, 1e-6, 8_000
AGE, WEIGHT, PRESSURE = (20.0, 80.0), (40.0, 140.0), (60.0, 220.0)
SEXES, CITIES = ("Male", "Female"), ("Ulmstadt", "Korvingen", "Aspelund")


class Heard(NamedTuple):
    """What a command said, whether it failed, and the model that it wrote, if any."""

    text: str
    failed: bool
    model: FittedModel | None


def people(seed: int) -> pd.DataFrame:
    """Return a table of people, simulated: blood pressure by age, weight and sex."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(*AGE, ROWS)
    weight = np.clip(rng.normal(75.0, 15.0, ROWS), *WEIGHT)
    sex = rng.choice(SEXES, ROWS)
    pressure = 90.0 + 0.5 * age + 0.2 * weight + 4.0 * (sex == "Male") + rng.normal(0, 12, ROWS)
    return pd.DataFrame(
        {
            "age": age.round(4),
            "weight": weight.round(4),
            "sex": sex,
            "city": rng.choice(CITIES, ROWS),
            "seen": pd.date_range("2016-05-03", periods=ROWS, freq="h").strftime("%Y-%m-%d"),
            "pressure": pressure.round(4),
            "high": (pressure > 140.0).astype(int),
            "person": np.arange(ROWS) // 3,
        }
    )


@dataclass
class Asking:
    """A table, a folder for files, and what was fitted or run on the way."""

    table: pd.DataFrame
    folder: Path
    seed: int
    fitted: list[Any] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)

    def changed(self, **columns: Any) -> pd.DataFrame:
        """Return the table with other columns."""
        return self.table.assign(**columns)

    def regressor(self, **changes: Any) -> PrivateGPRegressor:
        """Return an estimator of blood pressure by age, asked for as it should be."""
        usual: dict[str, Any] = {"bounds": {"age": AGE}, "target_bounds": PRESSURE}
        seed: dict[str, Any] = {"random_state": self.seed}
        gp = PrivateGPRegressor(**{"epsilon": EPSILON, "delta": DELTA} | usual | seed | changes)
        self.fitted.append(gp)
        return gp

    def classifier(self, **changes: Any) -> PrivateGPClassifier:
        """Return an estimator of high blood pressure by age."""
        usual = {"bounds": {"age": AGE}, "classes": (0, 1), "random_state": self.seed}
        gp = PrivateGPClassifier(EPSILON, DELTA, **usual | changes)
        self.fitted.append(gp)
        return gp

    def regress(self, table: pd.DataFrame, *inputs: str, y: Any = None, **changes: Any) -> None:
        """Fit blood pressure to columns of a table, age alone where none is named."""
        columns = list(inputs or ["age"])
        known = {"age": AGE, "weight": WEIGHT}
        bounds = {name: known[name] for name in columns if name in known}
        target = table["pressure"] if y is None else y
        self.regressor(**{"bounds": bounds} | changes).fit(table[columns], target)

    def classify(self, table: pd.DataFrame, **changes: Any) -> None:
        """Fit high blood pressure to age."""
        self.classifier(**changes).fit(table[["age"]], table["high"])

    def command(self, table: pd.DataFrame | str, *words: str) -> None:
        """Run ``dpgp fit`` of blood pressure by age to a file with these cells, with more words."""
        path, model = self.folder / "people.csv", self.folder / "model.json"
        path.write_text(table if isinstance(table, str) else table.to_csv(index=False))
        model.unlink(missing_ok=True)
        usual = {
            "--target": "pressure:60:220", "--feature": "age:20:80", "--epsilon": f"{EPSILON:g}",
            "--delta": f"{DELTA:g}", "-o": str(model),
        }  # fmt: skip
        instead = {"--classes": "--target"}
        replaced = {instead.get(word, word) for word in words}
        kept = [part for flag in usual if flag not in replaced for part in (flag, usual[flag])]
        found = CliRunner().invoke(app, ["fit", str(path), *kept, *words, "--yes"])
        written = load(model) if model.exists() else None
        self.heard.append(Heard(found.stderr, found.exit_code != 0, written))


@dataclass(frozen=True)
class Mistake:
    """One wrong way to ask, in words, and what does it."""

    kind: str
    what: str
    do: Callable[[Asking], object]


def _some(values: Any, share: float, instead: Any) -> Any:
    """Return a column with a share of its cells replaced, the first ones."""
    changed = values.astype(object) if isinstance(instead, str) else values.astype(float)
    changed.iloc[: round(share * len(changed))] = instead
    return changed


def _with_levels(desk: Asking, levels: Sequence[str], **changes: Any) -> None:
    inputs: Mapping[str, Any] = {"bounds": {"age": AGE}, "categories": {"sex": levels}}
    desk.regress(desk.table, "age", "sex", **{**inputs, **changes})


def _loop(desk: Asking) -> None:
    for _ in range(3):
        desk.regressor(random_state=None).fit(desk.table[["age"]], desk.table["pressure"])


def _small_ledger(desk: Asking) -> None:
    ledger = Ledger(desk.folder / "purse", epsilon=EPSILON / 2, delta=DELTA)
    desk.regress(desk.table, ledger=ledger, random_state=None)


IGNORE = {"missing": "ignore"}
SEED_LEFT_IN = "a seed left in"
"""The one mistake whose seed is meant: all other fits are seeded to be repeatable."""


def _with_age(desk: Asking, share: float, instead: float, **changes: Any) -> None:
    desk.regress(desk.changed(age=_some(desk.table["age"], share, instead)), **changes)


def _with_pressure(desk: Asking, values: Any, **changes: Any) -> None:
    desk.regress(desk.table, y=values, **changes)


def _without(desk: Asking, share: float) -> pd.DataFrame:
    return desk.changed(age=_some(desk.table["age"], share, np.nan))


def _column_twice(desk: Asking) -> None:
    both = desk.table[["age", "age", "pressure"]]
    desk.command(both.to_csv(index=False))


def _by(estimator: Any, desk: Asking) -> None:
    estimator.fit(desk.table[["age"]], desk.table["pressure"])


def _scaled(desk: Asking) -> None:
    _by(make_pipeline(StandardScaler(), desk.regressor(bounds=(-2, 2), random_state=None)), desk)


def _scaled_target(desk: Asking) -> None:
    gp = desk.regressor(target_bounds=(-4, 4), random_state=None)
    _by(TransformedTargetRegressor(gp, transformer=StandardScaler()), desk)


def _cross_validated(desk: Asking) -> None:
    gp = desk.regressor(random_state=None)
    cross_val_score(gp, desk.table[["age"]], desk.table["pressure"], cv=3)


def _searched(desk: Asking) -> None:
    _by(GridSearchCV(desk.regressor(random_state=None), {"stages": [1, 2]}, cv=2), desk)


def _short_ids(desk: Asking) -> None:
    _with_ids(desk, desk.table["person"].iloc[:-1])


def _with_ids(desk: Asking, ids: Any) -> None:
    desk.regressor().fit(desk.table[["age"]], desk.table["pressure"], ids)


def _two_targets(desk: Asking) -> None:
    both = np.column_stack([desk.table["pressure"], 1000.0 * desk.table["weight"]])
    desk.regress(desk.table, y=both, target_bounds=[PRESSURE, WEIGHT])


def _predicted_in_grams(desk: Asking) -> None:
    desk.regress(desk.table, "age", "weight")
    people = desk.table[["age", "weight"]]
    desk.fitted[-1].predict(people.assign(weight=1000.0 * people["weight"]))


def _sorted_otherwise(desk: Asking) -> None:
    desk.regress(desk.table, y=desk.table["pressure"].sort_values())


def _weighted(desk: Asking, weights: Any) -> None:
    gp = desk.regressor(weight_bound=5.0)
    gp.fit(desk.table[["age"]], desk.table["pressure"], sample_weight=weights)


def _ends(column: Any) -> tuple[float, float]:
    return float(column.min()), float(column.max())


def _in_groups(desk: Asking) -> pd.DataFrame:
    return desk.changed(group=np.array(list("abcdef"))[np.arange(ROWS) % 6])


def _rare(desk: Asking) -> pd.DataFrame:
    return desk.changed(high=(np.arange(ROWS) % 300 == 0).astype(int))


Done = Callable[[Asking], object]

WRONG: dict[str, dict[str, Done]] = {
    "spelling": {
        "classes no, yes for cells 0, 1": lambda d: d.classify(d.table, classes=("no", "yes")),
        "the same on the command line": lambda d: d.command(d.table, "--classes", "high:no,yes"),
        "levels male, female for Male, Female, other cells ignored": lambda d: _with_levels(
            d, ("male", "female"), **IGNORE
        ),
        "the same, other cells not ignored": lambda d: _with_levels(d, ("male", "female")),
        "that on the command line": lambda d: d.command(d.table, "--category", "sex:male,female"),
        "one of two levels misspelt, other cells ignored": lambda d: _with_levels(
            d, ("Male", "female"), **IGNORE
        ),
        "one of three cities forgotten, other cells ignored": lambda d: d.regress(
            d.table, "age", "city", categories={"city": CITIES[:2]}, **IGNORE
        ),
        "three of six levels misspelt, other cells ignored": lambda d: d.regress(
            _in_groups(d), "age", "group", categories={"group": tuple("abcDEF")}, **IGNORE
        ),
        "one of two classes misspelt": lambda d: d.classify(d.table, classes=(0, "yes")),
        "a typo in the name of a bound": lambda d: d.regress(d.table, bounds={"agee": AGE}),
        "that on the command line, of a column": lambda d: d.command(
            d.table, "--feature", "agee:20:80"
        ),
    },
    "units and bounds": {
        "weights in grams, bounds in kilograms": lambda d: d.regress(
            d.changed(weight=1000.0 * d.table["weight"]), "age", "weight"
        ),
        "weights in pounds, bounds in kilograms": lambda d: d.regress(
            d.changed(weight=2.2 * d.table["weight"]), "age", "weight"
        ),
        "weights in kilograms, bounds in pounds": lambda d: d.regress(
            d.table, "age", "weight", bounds={"age": AGE, "weight": (88, 308)}
        ),
        "ages in months, bounds in years": lambda d: d.regress(
            d.changed(age=12.0 * d.table["age"])
        ),
        "years of birth for ages": lambda d: d.regress(d.changed(age=2020.0 - d.table["age"])),
        "an input that is the same for all": lambda d: d.regress(
            d.changed(weight=70.0), "age", "weight"
        ),
        "bounds of an input read from the data": lambda d: d.regress(
            d.table, bounds={"age": _ends(d.table["age"])}
        ),
        "bounds of the target read from the data": lambda d: d.regress(
            d.table, target_bounds=_ends(d.table["pressure"])
        ),
        "the same on the command line": lambda d: d.command(
            d.table, "--target", "pressure:{}:{}".format(*_ends(d.table["pressure"]))
        ),
        "rows to predict in grams": _predicted_in_grams,
        "bounds of an input a thousand times too wide": lambda d: d.regress(
            d.table, bounds={"age": (0, 80_000)}
        ),
        "bounds of an input thirty times too wide": lambda d: d.regress(
            d.table, "age", "weight", bounds={"age": (0, 2_700), "weight": WEIGHT}
        ),
        "bounds of an input that cut a third of the rows": lambda d: d.regress(
            d.table, bounds={"age": (20, 60)}
        ),
        "−99 for one age in six": lambda d: _with_age(d, 1 / 6, -99.0, bounds={"age": (0, 110)}),
        "999 for one weight in seven, above its bounds": lambda d: d.regress(
            d.changed(weight=_some(d.table["weight"], 1 / 7, 999.0)), "age", "weight"
        ),
        "a target a thousand times too large": lambda d: _with_pressure(
            d, 1000.0 * d.table["pressure"]
        ),
        "a target in another unit, a seventh of it": lambda d: _with_pressure(
            d, d.table["pressure"] / 7.5
        ),
        "one of two targets a thousand times too large": _two_targets,
        "bounds of the target a thousand times too wide": lambda d: d.regress(
            d.table, target_bounds=(0, 220_000)
        ),
        "bounds of the target that cut half of the rows": lambda d: d.regress(
            d.table, target_bounds=(60, 130)
        ),
        "−99 for one pressure in twelve, bounds from −100 on": lambda d: _with_pressure(
            d, _some(d.table["pressure"], 1 / 12, -99.0), target_bounds=(-100, 220)
        ),
        "bounds in the wrong order, on the command line": lambda d: d.command(
            d.table, "--feature", "age:80:20"
        ),
        "equal bounds": lambda d: d.regress(d.table, bounds={"age": (20, 20)}),
        "no bounds": lambda d: d.regress(d.table, bounds=None),
    },
    "kind of outcome": {
        "0 and 1 as a number": lambda d: _with_pressure(d, d.table["high"], target_bounds=(0, 1)),
        "the same on the command line": lambda d: d.command(d.table, "--target", "high:0:1"),
        "1 and 2 as a number": lambda d: _with_pressure(
            d, d.table["high"] + 1, target_bounds=(1, 2)
        ),
        "two classes of which nobody has one": lambda d: d.classify(d.changed(high=0)),
        "counts whose bounds cut all of them": lambda d: d.regress(
            d.table, counts=True, target_bounds=(0, 10)
        ),
        "three classes that no cell has": lambda d: d.classify(
            d.table, classes=("low", "normal", "high")
        ),
        "a class that one row in three hundred has": lambda d: d.classify(_rare(d)),
        "counts with negative bounds": lambda d: d.regress(
            d.table, counts=True, target_bounds=(-5, 20)
        ),
        "a target that is the same for all": lambda d: _with_pressure(d, np.full(ROWS, 120.0)),
        "the target as an input too, on the command line": lambda d: d.command(
            d.table, "--feature", "pressure:60:220"
        ),
        "text as the target": lambda d: _with_pressure(d, d.table["city"]),
    },
    "cells": {
        "missing cells": lambda d: d.regress(_without(d, 0.1)),
        "the same on the command line": lambda d: d.command(_without(d, 0.1)),
        "half of the rows incomplete, and ignored": lambda d: d.regress(_without(d, 0.5), **IGNORE),
        "nine rows in ten incomplete, and ignored": lambda d: d.regress(_without(d, 0.9), **IGNORE),
        "no complete row, and ignored": lambda d: d.regress(_without(d, 1.0), **IGNORE),
        "numbers as text": lambda d: d.regress(d.changed(age=d.table["age"].astype(str))),
        "a word for what is missing, and ignored, on the command line": lambda d: d.command(
            d.changed(age=_some(d.table["age"], 0.1, "unknown")), "--missing", "ignore"
        ),
        "commas in thousands, on the command line": lambda d: d.command(
            d.changed(age=[f"{1000.0 * age:,.0f}" for age in d.table["age"]])
        ),
        "text as an input": lambda d: d.regress(d.table, "city", bounds=(0, 1)),
        "a date as an input, on the command line": lambda d: d.command(
            d.table, "--feature", "seen:0:1"
        ),
        "commas for points, on the command line": lambda d: d.command(
            d.table.to_csv(index=False, sep=";", decimal=",")
        ),
    },
    "tables": {
        "no row": lambda d: d.regress(d.table.iloc[:0]),
        "one row": lambda d: d.regress(d.table.iloc[:1]),
        "thirty rows": lambda d: d.regress(d.table.iloc[:30]),
        "forty rows whose number is private": lambda d: d.regress(
            d.table.iloc[:40], neighbours="add-remove"
        ),
        "an empty file, on the command line": lambda d: d.command(""),
        "headings and no row, on the command line": lambda d: d.command(d.table.iloc[:0]),
        "a strange separator, on the command line": lambda d: d.command(
            d.table.to_csv(index=False, sep="|")
        ),
        "a column twice, on the command line": _column_twice,
        "a column twice": lambda d: d.regress(d.table, "age", "age"),
        "a target that is shorter than the table": lambda d: _with_pressure(
            d, d.table["pressure"].iloc[:-1]
        ),
        "a target that was sorted, and the inputs were not": _sorted_otherwise,
        "weights of mean 1,000, whose bound is for a mean of one": lambda d: _weighted(
            d, np.full(ROWS, 1000.0)
        ),
        "ids of persons that are shorter than the table": _short_ids,
        "ids of persons some of whom have none": lambda d: _with_ids(
            d, _some(d.table["person"], 0.2, np.nan)
        ),
        "one id for all persons": lambda d: _with_ids(d, np.zeros(ROWS)),
    },
    "budget": {
        "epsilon as text": lambda d: d.regress(d.table, epsilon="1"),
        "a negative delta": lambda d: d.regress(d.table, delta=-1e-6),
        "epsilon and delta exchanged, on the command line": lambda d: d.command(
            d.table, "--epsilon", "1e-6", "--delta", "1"
        ),
        "an epsilon of 100": lambda d: d.regress(d.table, epsilon=100.0),
        "a delta of one in a hundred": lambda d: d.regress(d.table, delta=0.01),
        SEED_LEFT_IN: lambda d: d.regress(d.table, random_state=1),
        "a fit that its ledger cannot pay": _small_ledger,
        "the same fit three times": _loop,
        "cross_val_score": _cross_validated,
        "GridSearchCV": _searched,
        "a StandardScaler before it": _scaled,
        "a StandardScaler of the target": _scaled_target,
    },
}
"""What is done wrong, by kinds, and what does it."""

MISTAKES = tuple(
    Mistake(kind, what, do) for kind, mistakes in WRONG.items() for what, do in mistakes.items()
)
"""All of them."""
