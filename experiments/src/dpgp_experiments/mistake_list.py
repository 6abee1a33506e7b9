"""Wrong ways to ask: one function each, which does it for real to a table of people.

Every function takes a :class:`Desk`, on which it asks in Python or on the command line.
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

EPSILON, DELTA, ROWS = 1.0, 1e-6, 3_000
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
            "seen": pd.date_range("2019-01-01", periods=ROWS, freq="h").strftime("%Y-%m-%d"),
            "pressure": pressure.round(4),
            "high": (pressure > 140.0).astype(int),
            "person": np.arange(ROWS) // 3,
        }
    )


@dataclass
class Desk:
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
    do: Callable[[Desk], object]


def _some(values: Any, share: float, instead: Any) -> Any:
    """Return a column with a share of its cells replaced, the first ones."""
    changed = values.astype(object) if isinstance(instead, str) else values.astype(float)
    changed.iloc[: round(share * len(changed))] = instead
    return changed


def _with_levels(desk: Desk, levels: Sequence[str], **changes: Any) -> None:
    inputs: Mapping[str, Any] = {"bounds": {"age": AGE}, "categories": {"sex": levels}}
    desk.regress(desk.table, "age", "sex", **{**inputs, **changes})


def _loop(desk: Desk) -> None:
    for _ in range(3):
        desk.regressor(random_state=None).fit(desk.table[["age"]], desk.table["pressure"])


def _small_ledger(desk: Desk) -> None:
    ledger = Ledger(desk.folder / "purse", epsilon=EPSILON / 2, delta=DELTA)
    desk.regress(desk.table, ledger=ledger, random_state=None)


def _predict_other_levels(desk: Desk) -> None:
    _with_levels(desk, SEXES)
    desk.fitted[-1].predict(pd.DataFrame({"age": [30.0], "sex": ["male"]}))


def _twice_the_name(desk: Desk) -> None:
    both = pd.concat([desk.table[["age"]], desk.table[["age"]]], axis=1)
    desk.regressor().fit(both, desk.table["pressure"])


IGNORE = {"missing": "ignore"}
SPELLING, UNITS, KINDS = "spelling", "units and bounds", "kind of outcome"
CELLS, TABLES, BUDGET, AGAIN = "cells", "tables", "budget", "again and again"
COMMAND = "on the command line: "

MISTAKES: tuple[Mistake, ...] = (
    Mistake(SPELLING, "classes no, yes for cells 0, 1", lambda d: d.classify(d.table, classes=("no", "yes"))),
    Mistake(SPELLING, COMMAND + "the same", lambda d: d.command(d.table, "--classes", "high:no,yes")),
    Mistake(SPELLING, "levels male, female for Male, Female; other cells ignored", lambda d: _with_levels(d, ("male", "female"), **IGNORE)),
    Mistake(SPELLING, "the same, other cells not ignored", lambda d: _with_levels(d, ("male", "female"))),
    Mistake(SPELLING, COMMAND + "the same", lambda d: d.command(d.table, "--category", "sex:male,female")),
    Mistake(SPELLING, "one of two levels misspelt; other cells ignored", lambda d: _with_levels(d, ("Male", "female"), **IGNORE)),
    Mistake(SPELLING, "one of three cities forgotten; other cells ignored", lambda d: d.regress(d.table, "age", "city", categories={"city": CITIES[:2]}, **IGNORE)),
    Mistake(SPELLING, "one of two classes misspelt", lambda d: d.classify(d.table, classes=(0, "yes"))),
    Mistake(SPELLING, "a typo in the name of a bound", lambda d: d.regressor(bounds={"agee": AGE}).fit(d.table[["age"]], d.table["pressure"])),
    Mistake(SPELLING, COMMAND + "the same", lambda d: d.command(d.table, "--feature", "agee:20:80")),
    Mistake(UNITS, "weights in grams, bounds in kilograms", lambda d: d.regress(d.changed(weight=1000.0 * d.table["weight"]), "age", "weight")),
    Mistake(UNITS, "bounds of an input a thousand times too wide", lambda d: d.regress(d.table, bounds={"age": (0, 80_000)})),
    Mistake(UNITS, "bounds of an input that cut a third of the rows", lambda d: d.regress(d.table, bounds={"age": (20, 60)})),
    Mistake(UNITS, "the target a thousand times too large", lambda d: d.regress(d.table, y=1000.0 * d.table["pressure"])),
    Mistake(UNITS, "bounds of the target a thousand times too wide", lambda d: d.regress(d.table, target_bounds=(0, 220_000))),
    Mistake(UNITS, "bounds of the target that cut half of the rows", lambda d: d.regress(d.table, target_bounds=(60, 130))),
    Mistake(UNITS, COMMAND + "bounds in the wrong order", lambda d: d.command(d.table, "--feature", "age:80:20")),
    Mistake(UNITS, "equal bounds", lambda d: d.regress(d.table, bounds={"age": (20, 20)})),
    Mistake(UNITS, "no bounds", lambda d: d.regress(d.table, bounds=None)),
    Mistake(UNITS, "−99 for one age in twelve that is missing", lambda d: d.regress(d.changed(age=_some(d.table["age"], 1 / 12, -99.0)))),
    Mistake(UNITS, "−99 for one pressure in twelve, bounds from −100", lambda d: d.regress(d.changed(pressure=_some(d.table["pressure"], 1 / 12, -99.0)), target_bounds=(-100, 220))),
    Mistake(KINDS, "0 and 1 as a number", lambda d: d.regress(d.table, y=d.table["high"], target_bounds=(0, 1))),
    Mistake(KINDS, COMMAND + "the same", lambda d: d.command(d.table, "--target", "high:0:1")),
    Mistake(KINDS, "0 and 1 as a number, wide bounds", lambda d: d.regress(d.table, y=d.table["high"], target_bounds=(-1, 2))),
    Mistake(KINDS, "three classes", lambda d: d.classify(d.table, classes=("low", "normal", "high"))),
    Mistake(KINDS, "a class that one row in three hundred has", lambda d: d.classify(d.changed(high=(np.arange(ROWS) % 300 == 0).astype(int)))),
    Mistake(KINDS, "counts with negative bounds", lambda d: d.regress(d.table, counts=True, target_bounds=(-5, 20))),
    Mistake(KINDS, "a target that is the same for all", lambda d: d.regress(d.table, y=np.full(ROWS, 120.0))),
    Mistake(KINDS, COMMAND + "the target as an input too", lambda d: d.command(d.table, "--feature", "pressure:60:220")),
    Mistake(KINDS, "text as the target", lambda d: d.regress(d.table, y=d.table["city"])),
    Mistake(CELLS, "missing cells", lambda d: d.regress(d.changed(age=_some(d.table["age"], 0.1, np.nan)))),
    Mistake(CELLS, COMMAND + "the same", lambda d: d.command(d.changed(age=_some(d.table["age"], 0.1, np.nan)))),
    Mistake(CELLS, "half of the rows incomplete, and ignored", lambda d: d.regress(d.changed(age=_some(d.table["age"], 0.5, np.nan)), **IGNORE)),
    Mistake(CELLS, "nine rows in ten incomplete, and ignored", lambda d: d.regress(d.changed(age=_some(d.table["age"], 0.9, np.nan)), **IGNORE)),
    Mistake(CELLS, "text as an input", lambda d: d.regress(d.table, "age", "city", bounds={"age": AGE, "city": (0, 1)})),
    Mistake(CELLS, COMMAND + "a date as an input", lambda d: d.command(d.table, "--feature", "seen:0:1")),
    Mistake(CELLS, COMMAND + "commas for points in numbers", lambda d: d.command(d.table[["age", "pressure"]].to_csv(index=False, sep=";", decimal=","))),
    Mistake(TABLES, "no row", lambda d: d.regress(d.table.iloc[:0])),
    Mistake(TABLES, "one row", lambda d: d.regress(d.table.iloc[:1])),
    Mistake(TABLES, "thirty rows", lambda d: d.regress(d.table.iloc[:30])),
    Mistake(TABLES, COMMAND + "an empty file", lambda d: d.command("")),
    Mistake(TABLES, COMMAND + "headings, and no row", lambda d: d.command(d.table.iloc[:0])),
    Mistake(TABLES, COMMAND + "a separator that is not the file's", lambda d: d.command(d.table.to_csv(index=False, sep="|"))),
    Mistake(TABLES, COMMAND + "a column twice", lambda d: d.command("age,age,pressure\n" + "\n".join(f"{a},{a},{p}" for a, p in zip(d.table["age"], d.table["pressure"], strict=True)))),
    Mistake(TABLES, "a column twice in a frame", _twice_the_name),
    Mistake(TABLES, "a target that is shorter than the table", lambda d: d.regress(d.table, y=d.table["pressure"].iloc[:-1])),
    Mistake(TABLES, "ids of persons that are shorter than the table", lambda d: d.regressor().fit(d.table[["age"]], d.table["pressure"], d.table["person"].iloc[:-1])),
    Mistake(TABLES, "levels in another spelling, to be predicted", _predict_other_levels),
    Mistake(BUDGET, "epsilon as text", lambda d: d.regress(d.table, epsilon="1")),
    Mistake(BUDGET, "a negative delta", lambda d: d.regress(d.table, delta=-1e-6)),
    Mistake(BUDGET, COMMAND + "epsilon and delta exchanged", lambda d: d.command(d.table, "--epsilon", "1e-6", "--delta", "1")),
    Mistake(BUDGET, "an epsilon of 100", lambda d: d.regress(d.table, epsilon=100.0)),
    Mistake(BUDGET, "a delta of one in a hundred", lambda d: d.regress(d.table, delta=0.01)),
    Mistake(BUDGET, "a seed left in", lambda d: d.regress(d.table, random_state=1)),
    Mistake(BUDGET, "a fit that its ledger cannot pay", _small_ledger),
    Mistake(BUDGET, "few rows whose number is private", lambda d: d.regress(d.table.iloc[:40], neighbours="add-remove")),
    Mistake(AGAIN, "the same fit three times", _loop),
    Mistake(AGAIN, "cross_val_score", lambda d: cross_val_score(d.regressor(random_state=None), d.table[["age"]], d.table["pressure"], cv=3)),
    Mistake(AGAIN, "GridSearchCV", lambda d: GridSearchCV(d.regressor(random_state=None), {"stages": [1, 2]}, cv=2).fit(d.table[["age"]], d.table["pressure"])),
    Mistake(AGAIN, "a StandardScaler before it", lambda d: make_pipeline(StandardScaler(), d.regressor(bounds=(-2, 2), random_state=None)).fit(d.table[["age"]], d.table["pressure"])),
    Mistake(AGAIN, "a StandardScaler of the target", lambda d: TransformedTargetRegressor(d.regressor(target_bounds=(-4, 4), random_state=None), transformer=StandardScaler()).fit(d.table[["age"]], d.table["pressure"])),
)  # fmt: skip
"""All of them, by kinds."""
