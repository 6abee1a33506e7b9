"""``dpgp predict``: add mean, standard deviation and interval of every row to a table."""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from dpgp.cli.arguments import ModelFile
from dpgp.cli.failures import UsageError, check_output, failures_in_words
from dpgp.cli.output import Screen, print_files
from dpgp.cli.progress import tracked, working
from dpgp.cli.show import load_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpgp.categories import Category
    from dpgp.model.fitted import FittedModel
    from dpgp.private.tables import Array, Table

    Indices = NDArray[np.intp]

SUFFIXES = ("mean", "std", "lower", "upper")
SUFFIXES_OF_CLASSES = ("probability", "lower", "upper")
STANDARD_OUTPUT = "-"
BATCH = 5000
"""Rows that are predicted at a time: enough for speed, few enough for a bar that moves."""


def predict(
    model: ModelFile,
    data: Annotated[
        str,
        typer.Argument(help="CSV or Parquet file with the model's inputs; - reads standard input."),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="CSV file to write; - is standard output.")
    ] = STANDARD_OUTPUT,
    coverage: Annotated[
        float, typer.Option(help="How often the interval shall hold a new observation.")
    ] = 0.95,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="What the new columns are called before _mean, _std, _lower and _upper; the "
            "target's name by default. Once for each target.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
) -> None:
    """Predict every row of a table: adds mean, std, and an interval.

    Of two classes: the probability of the second one, and an interval for it.
    Spends no budget, however often it is called. Rows with missing inputs
    keep empty cells; inputs outside the model's bounds are predicted as at
    the nearest bound.

    Examples:

    dpgp predict girls.json new.csv -o out.csv --coverage 0.9

    cat new.csv | dpgp predict girls.json - > out.csv
    """
    from dpgp.private.tables import read_table

    with failures_in_words():
        _check_coverage(coverage)
        if output != STANDARD_OUTPUT:
            check_output(Path(output), str(model), data, force=force)
        fitted = load_model(model)
        names = _target_names(fitted, name)
        with working("Reading"):
            table = read_table(data)
        X = _inputs(fitted, table)
        suffixes = SUFFIXES_OF_CLASSES if fitted.options.is_yes_no else SUFFIXES
        header = [*table.names, *(f"{target}_{suffix}" for target in names for suffix in suffixes)]
        _check_header(header, len(table.names))
        _say_what_is_special(fitted, X)
        predictions = _chances if fitted.options.is_yes_no else _predictions
        columns = predictions(fitted, X, coverage)
        with _writing(output) as file:
            _write(file, header, table, columns)
    if output != STANDARD_OUTPUT:
        print_files(Screen(stderr=True), [Path(output)])


def _check_coverage(coverage: float) -> None:
    if not 0.0 < coverage < 1.0:
        raise UsageError(f"--coverage must lie between 0 and 1, got {coverage:g}; 0.95 is usual.")


def _target_names(model: FittedModel, given: Sequence[str] | None) -> Sequence[str]:
    count = len(model.calibrations)
    if given:
        if len(given) != count:
            raise UsageError(f"the model has {count} target(s); give --name {count} time(s).")
        return given
    if model.options.target_box.names is not None:
        return model.options.target_box.names
    return ["prediction"] if count == 1 else [f"prediction_{k + 1}" for k in range(count)]


def _check_header(header: Sequence[str], before: int) -> None:
    taken = [column for column in header[before:] if header.count(column) > 1]
    if taken:
        raise UsageError(
            f"there would be two columns '{taken[0]}'; choose other names with --name."
        )


def _inputs(model: FittedModel, table: Table) -> Array:
    """Return the inputs in the model's order; a model without names takes columns as they come."""
    import numpy as np

    from dpgp.private.tables import TableError

    count = len(model.inputs.box.low)
    names = model.inputs.box.names or table.names
    if len(names) != count:
        raise TableError(
            f"the model does not know the names of its {count} input(s); pass a file with these "
            "columns alone, in order."
        )
    table.require(names)
    box = model.inputs.box
    return np.column_stack([_column(table, name, box.category(k)) for k, name in enumerate(names)])


def _column(table: Table, name: str, category: Category | None) -> Array:
    """Return a column of numbers, or the numbers of its levels."""
    return table.numbers(name) if category is None else table.levels(name, category)


def _predictions(model: FittedModel, X: Array, coverage: float) -> list[Array]:
    """Return mean, std, lower and upper of every target in turn; NaN where inputs are missing."""
    import numpy as np

    complete = np.flatnonzero(np.isfinite(X).all(axis=1))
    columns = np.full((len(model.calibrations), len(SUFFIXES), len(X)), np.nan)
    factors = np.array([calibration.factor(coverage) for calibration in model.calibrations])
    for batch in tracked(_batches(complete), "Predicting"):
        mean, std = _mean_and_std(model, X[batch])
        half_width = factors[:, None] * std
        columns[:, :, batch] = np.stack([mean, std, mean - half_width, mean + half_width], axis=1)
    return list(columns.reshape(-1, len(X)))


def _chances(model: FittedModel, X: Array, coverage: float) -> list[Array]:
    """Return the probability of the second class and an interval for it."""
    import numpy as np

    from dpgp.coded_rows import CodedRows

    complete = np.flatnonzero(np.isfinite(X).all(axis=1))
    columns = np.full((len(SUFFIXES_OF_CLASSES), len(X)), np.nan)
    for batch in tracked(_batches(complete), "Predicting"):
        rows = CodedRows(X[batch])
        lower, upper = model.predict_interval(rows, coverage, latent=True)
        columns[:, batch] = np.stack([model.predict(rows), lower, upper])
    return list(columns)


def _batches(rows: Indices) -> list[Indices]:
    return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]


def _mean_and_std(model: FittedModel, X: Array) -> tuple[Array, Array]:
    """Return both with a row for each target."""
    import numpy as np

    from dpgp.coded_rows import CodedRows

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        mean, std = model.predict(CodedRows(X), return_std=True)
    return np.atleast_2d(mean.T), np.atleast_2d(std.T)


def _say_what_is_special(model: FittedModel, X: Array) -> None:
    import numpy as np

    box = model.inputs.box
    if not np.isfinite(X).all():
        _say("Rows with missing inputs get no prediction: their new cells are empty.")
    if np.any((box.low > X) | (box.high < X)):
        _say("Inputs outside the model's bounds are predicted as at the nearest bound.")


def _say(message: str) -> None:
    Screen(stderr=True).print(message, soft_wrap=True, highlight=False)


@contextmanager
def _writing(output: str) -> Iterator[TextIO]:
    if output == STANDARD_OUTPUT:
        yield sys.stdout
        return
    with Path(output).open("w", newline="", encoding="utf-8") as file:
        yield file


def _write(file: TextIO, header: Sequence[str], table: Table, columns: Sequence[Array]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    for row, numbers in zip(table.rows(), zip(*columns, strict=True), strict=True):
        # NaN is the one number that differs from itself
        cells = ["" if number != number else repr(float(number)) for number in numbers]
        writer.writerow([*row, *cells])
