"""The table of options: all that a user may ask, each with its names and words on every face.

A new option is an entry here, a parameter of the estimators' ``__init__`` if it is for Python, and
what uses it: commands, help, study files, scripts and model files follow. docs/house.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpgp.choices import DecimalMark, Missing, Passes, RowsOfUnit
from dpgp.privacy.arguments import DELTA, EPSILON
from dpgp.privacy.neighbours import Neighbours
from dpgp.study.entries import Entry
from dpgp.study.errors import UsageError, Words
from dpgp.study.values import (
    BoundsValue,
    ChoiceValue,
    ClassesValue,
    CodesValue,
    FlagValue,
    LevelsValue,
    ModelValue,
    NumberValue,
    PathValue,
    Value,
    WeightValue,
    WholeValue,
)
from dpgp.study.wishes import FamiliesValue, KernelValue, PointsValue, StagesValue, ThreadsValue

REGRESSOR, CLASSIFIER, FIT, PLAN = "PrivateGPRegressor", "PrivateGPClassifier", "fit", "plan"
"""Functions of Python that take options: two estimators, their ``fit``, and ``dpgp.plan``."""
ESTIMATORS = (REGRESSOR, CLASSIFIER)
EVERYWHERE = (*ESTIMATORS, PLAN)
COMMANDS = ("fit", "plan")


@dataclass(frozen=True)
class Lack:
    """What is said where an option is needed and nobody gave it."""

    what: str
    example: str
    on_page: str = "say it under “Columns”"


@dataclass(frozen=True)
class Option:
    """An option, by its name in Python; None and () where a face does not have it."""

    name: str
    value: Value
    help: str = ""
    """What it is, on the command line."""
    default: Any = None
    """What it is in Python where nothing is said."""
    python: tuple[str, ...] = ()
    """Functions that have a parameter of its name."""
    commands: tuple[str, ...] = ()
    """Commands that have it."""
    flags: tuple[str, ...] | None = None
    """How commands have it; its name by default, and () where it is an argument."""
    key: str | None = None
    """Its key in a study file."""
    field: str | None = None
    """What stands beside it on the studio's page; what has none, a page cannot ask for."""
    setting: bool = False
    """Whether a fit's :class:`~dpgp.options.Options` and its model file keep it."""
    asks_outcome: bool = False
    """Whether it is a flag that asks for a kind of outcome, which :mod:`dpgp.outcomes` know."""
    may_be_absent: bool = False
    """Whether model files leave it out where it is the default: so do those older than itself."""
    if_absent: Any = None
    """What it is in files that leave it out, where that is not the default."""
    is_replaceable: bool = False
    """Whether a command may say anew what its study file says: no part of the guarantee."""
    lack: Lack | None = None

    @property
    def declared_flags(self) -> tuple[str, ...]:
        """All flags of commands."""
        return (f"--{self.name.replace('_', '-')}",) if self.flags is None else self.flags

    @property
    def flag(self) -> str:
        """What errors of commands call it."""
        return self.declared_flags[0].split("/")[0] if self.declared_flags else self.name

    @property
    def is_parsed(self) -> bool:
        """Whether options keep it under its name, as its kind of value parses it."""
        return self.setting and self.value.is_parsed

    @property
    def is_for_options(self) -> bool:
        """Whether :class:`~dpgp.options.Options` are told it under its name."""
        return self.is_parsed or self.asks_outcome

    @property
    def left_out(self) -> Any:
        """What it is in model files that leave it out."""
        return self.default if self.if_absent is None else self.if_absent

    def needed(self) -> UsageError:
        """Return the error of whoever needs it, with the remedy of each face."""
        assert self.lack is not None
        remedy = Words(
            f"give `{self.name}`",
            command=f"add {self.lack.example}, or `{self.key}` to a study file",
            page=self.lack.on_page,
        )
        return UsageError(f"{self.lack.what} was named", remedy, code=f"no-{self.name}")


# fmt: off
OPTIONS: tuple[Option, ...] = (
    Option("title", Value(entry=Entry.line), key="title", field="Title of the study (optional)"),
    Option("id", Value(entry=Entry.line), key="id"),
    Option(
        "data", Value(entry=Entry.source),
        "CSV, Excel, Stata, Parquet or Arrow file, a folder or a pattern of them; - reads standard "
        "input.",
        commands=("fit",), flags=(), key="data", is_replaceable=True,
        lack=Lack("no table", "a CSV or Parquet file"),
    ),
    Option(
        "target_bounds", BoundsValue(box="target_box"),
        "What to predict, with its public bounds; repeat for several.",
        python=(REGRESSOR, PLAN), commands=COMMANDS, flags=("--target",), key="targets",
        field="predict it", setting=True,
        lack=Lack("nothing to predict", "--target height_cm:70:190"),
    ),
    Option(
        "classes", ClassesValue(),
        "Instead of --target: a column of public labels, of two the one that counts as yes last.",
        python=(CLASSIFIER, PLAN), commands=COMMANDS, key="classes",
        field="yes or no: one of two classes",
    ),
    Option(
        "ordered", FlagValue(),
        "Classes have an order, and are named in it: poor, fair, good.", False,
        python=(CLASSIFIER,), commands=("fit",), flags=("--ordered/--unordered",), key="ordered",
        field="one of several classes in their order", asks_outcome=True,
    ),
    Option(
        "bounds", BoundsValue(),
        "What to predict from, with its public bounds, numbers or dates; repeat for several.",
        python=EVERYWHERE, commands=COMMANDS, flags=("--feature",), key="features",
        field="predict from it: a number or a date", setting=True,
        lack=Lack("nothing to predict from", "--feature age:2:18"),
    ),
    Option(
        "categories", LevelsValue(),
        "A column of levels to predict from, with all its public levels; repeat for several.",
        python=EVERYWHERE, commands=COMMANDS, flags=("--category",), key="categories",
        field="predict from it: a category",
    ),
    Option(
        "epsilon", NumberValue(), "ε of the guarantee.", EPSILON,
        python=EVERYWHERE, commands=COMMANDS, key="epsilon", field="ε", setting=True,
        lack=Lack("no budget", "--epsilon 1"),
    ),
    Option(
        "delta", NumberValue(positive=False), "δ of the guarantee; far below 1/rows.", DELTA,
        python=EVERYWHERE, commands=COMMANDS, key="delta", field="δ", setting=True,
        lack=Lack("no budget", "--delta 1e-6"),
    ),
    Option(
        "output", PathValue(), "Model file to write.",
        commands=("fit",), flags=("--output", "-o"), key="output", is_replaceable=True,
    ),
    Option("kernel", KernelValue(), python=EVERYWHERE, setting=True),
    Option("inducing_points", PointsValue(), python=EVERYWHERE, setting=True),
    Option("features", FamiliesValue(), python=EVERYWHERE, setting=True),
    Option("stages", StagesValue(), python=EVERYWHERE, setting=True),
    Option(
        "passes", ChoiceValue(Passes), default="few", python=EVERYWHERE, setting=True,
        may_be_absent=True,
    ),
    Option(
        "neighbours", ChoiceValue(Neighbours),
        "How data sets that must look alike may differ; replace by default.", "replace",
        python=EVERYWHERE, commands=COMMANDS, key="neighbours", setting=True,
        field="How many there are is a secret too, and whether somebody is in the table at all",
    ),
    Option(
        "units", Value("COLUMN", entry=Entry.name), "Column that says whose a row is.",
        python=(FIT, PLAN), commands=COMMANDS, flags=("--unit",), key="unit",
        field="Column that says whose a row is",
    ),
    Option(
        "max_rows_per_unit", WholeValue(), "How many rows of one unit count; 1 by default.", 1,
        python=EVERYWHERE, commands=COMMANDS, key="max_rows_per_unit", setting=True,
        field="Rows of one person that count, at most",
    ),
    Option(
        "rows_of_unit", ChoiceValue(RowsOfUnit),
        "Which rows of one unit count: random (by default), or the first of the table (first).",
        "random",
        python=EVERYWHERE, commands=COMMANDS, key="rows_of_unit", setting=True,
        field="Which of them count", may_be_absent=True, if_absent="first",
    ),
    Option("warp", FlagValue(), default=True, python=EVERYWHERE, setting=True),
    Option("calibrate", FlagValue(), default=True, python=(REGRESSOR, PLAN), setting=True),
    Option(
        "missing", ChoiceValue(Missing),
        "Incomplete rows: stop (error, by default), let them contribute nothing (ignore), or what "
        "they have, averaged over what they lack by the private model of the inputs (model).",
        "error",
        python=EVERYWHERE, commands=COMMANDS, key="missing", field="Incomplete rows", setting=True,
    ),
    Option(
        "missing_codes", CodesValue(),
        "Codes that stand for missing values in a column; repeat for several columns.",
        python=ESTIMATORS, commands=("fit",), flags=("--missing-code",), key="missing_codes",
        field="Codes for missing values", setting=True, may_be_absent=True,
    ),
    Option(
        "weight_bound", WeightValue(),
        "A column of weights, and the largest that counts in full; larger ones count as it.",
        python=EVERYWHERE, commands=COMMANDS, flags=("--weight",), key="weight",
        field="weigh rows by it", setting=True, may_be_absent=True,
    ),
    Option("sample_weight", Value(), python=(FIT,)),
    Option(
        "counts", FlagValue(),
        "Targets are counts 0, 1, 2, …: quantiles and intervals are whole numbers.", False,
        python=(REGRESSOR,), commands=("fit",), flags=("--counts/--no-counts",), key="counts",
        field="a count: 0, 1, 2, …", asks_outcome=True,
    ),
    Option(
        "decimal", ChoiceValue(DecimalMark),
        "Mark before the decimals in CSV files; a point by default.", ".",
        python=(FIT,), commands=("fit", "predict"), key="decimal",
        field="Decimals in the table are written with",
    ),
    Option(
        "n", WholeValue(),
        "Number of rows for the forecast, or a public guess where it is private.",
        python=(PLAN,), commands=COMMANDS, flags=("--rows",), key="rows", is_replaceable=True,
        field="How many rows are there, or a public guess?",
        lack=Lack("no number of rows, nor a guess of it,", "--rows 5000",
                  "type how many rows the table has, or a public guess"),
    ),
    Option(
        "ledger", PathValue("FILE"),
        "Budget for these people that the fit spends from: dpgp ledger.",
        python=ESTIMATORS, commands=("fit", "sites fit", "studio"), key="ledger",
    ),
    Option(
        "partition", Value("NAME"),
        "Which of the ledger's disjoint groups the table is about; everybody by default.",
        commands=("fit", "sites fit"), key="partition", field="The table is about",
    ),
    Option(
        "prior_model", ModelValue(),
        "Earlier model of the same columns that the fit starts from, and adds to: no budget.",
        python=(FIT,), commands=("fit",), key="prior_model", setting=True, may_be_absent=True,
    ),
    Option(
        "engine", Value("NAME"), "Who reads the files: dask or spark; this machine by default.",
        python=ESTIMATORS, commands=("fit",),
    ),
    Option("verbose", FlagValue(), default=False, python=(FIT,)),
    Option("random_state", Value(), python=ESTIMATORS),
    Option("n_jobs", ThreadsValue(), python=ESTIMATORS, setting=True),
    Option("site", Value(), python=ESTIMATORS),
    Option(
        "noise_std", NumberValue(), "Noise (sd) of an observation, if it is known.",
        python=(PLAN,), commands=("plan",), flags=("--noise",),
    ),
    Option(
        "r2", NumberValue(), "Share of the variance that inputs explain.",
        python=(PLAN,), commands=("plan",),
    ),
    Option(
        "prevalence", NumberValue(), "Share of the second of two --classes.",
        python=(PLAN,), commands=("plan",),
    ),
    Option(
        "mean_weight", NumberValue(), "Average weight; half its bound where nothing is said.",
        python=(PLAN,), commands=("plan",),
    ),
    Option(
        "error", NumberValue(),
        "Also find the smallest ε expected to reach this error, in units of the target.",
        commands=("plan",),
    ),
)
# fmt: on


def option(name: str) -> Option:
    """Return the option of a name in Python."""
    return next(each for each in OPTIONS if each.name == name)


def options_by_key() -> dict[str, Option]:
    """Return what a study file may say, by its keys."""
    return {each.key: each for each in OPTIONS if each.key is not None}


def options_of(command: str) -> list[Option]:
    """Return what a command may be told."""
    return [each for each in OPTIONS if command in each.commands]


def parsed_options() -> list[Option]:
    """Return what :class:`~dpgp.options.Options` parse."""
    return [each for each in OPTIONS if each.is_parsed]


def kept_apart() -> set[str]:
    """Return the names of what estimators read by themselves: options are not told it."""
    return {each.name for each in OPTIONS if not each.is_for_options}


def settings() -> list[Option]:
    """Return what model files keep."""
    return [each for each in OPTIONS if each.setting]
