"""``dpgp predict``: add mean, standard deviation and interval of every row to a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from dpgp.choices import DecimalMark
from dpgp.cli.arguments import Decimals, Force, ModelFile
from dpgp.cli.output import Screen, check_output, failures_in_words, print_files
from dpgp.cli.show import load_model
from dpgp.progress import working
from dpgp.study.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpgp.cli.csv_text import Marks
    from dpgp.model.fitted import FittedModel
    from dpgp.private.cells import Cells
    from dpgp.private.tables import Piece, TableFile

    Array = NDArray[np.float64]

STANDARD_OUTPUT = "-"


def predict(
    model: ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            help="CSV, Excel, Stata, Parquet or Arrow file with the model's inputs, a folder or a "
            "pattern of them; - reads standard input."
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="CSV file to write; - is standard output.")
    ] = STANDARD_OUTPUT,
    coverage: Annotated[
        float, typer.Option(help="How often the interval shall hold a new observation.")
    ] = 0.95,
    quantile: Annotated[
        list[float] | None,
        typer.Option(
            metavar="SHARE",
            help="Add the value that this share of new observations stays below, such as 0.97, as "
            "a column _q0.97. Once for each.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="What the new columns are called before _mean, _std, _lower and _upper; the "
            "target's name by default. Once for each target.",
            show_default=False,
        ),
    ] = None,
    decimal: Decimals = None,
    force: Force = False,
) -> None:
    """Predict every row of a table: adds mean, std, and an interval.

    Of two classes: the probability of the second one, and an interval for it;
    of more, that of each.
    _lower and _upper hold a new observation as often as --coverage says;
    _std is the model's own spread of observations. Where the mean of
    people alike is, with its own interval, tells Python: latent=True.
    Spends no budget, however often it is called. Rows with missing inputs
    keep empty cells; inputs outside the model's bounds are predicted as at
    the nearest bound. A CSV file keeps its separator and decimal mark: what
    is written can be read as the table was.

    Examples:

    dpgp predict girls.json new.csv -o out.csv --coverage 0.9

    dpgp predict girls.json new.csv --quantile 0.03 --quantile 0.97

    cat new.csv | dpgp predict girls.json - > out.csv
    """
    with failures_in_words():
        quantiles = quantile or []
        _check_share("--coverage", coverage, "0.95 is usual")
        for level in quantiles:
            _check_share("--quantile", level, "0.5 is the median")
        if output != STANDARD_OUTPUT:
            check_output(Path(output), str(model), data, force=force)
        fitted = load_model(model)
        names = _target_names(fitted, name)
        mark = decimal or DecimalMark.POINT
        files = _open(fitted, data, mark)
        columns = files[0].names
        suffixes = _suffixes(fitted, quantiles)
        header = [*columns, *(f"{target}_{suffix}" for target in names for suffix in suffixes)]
        taken = [column for column in header[len(columns) :] if header.count(column) > 1]
        if taken:
            raise UsageError(
                f"there would be two columns '{taken[0]}'; choose other names with --name."
            )
        marks = _marks(files[0], mark)
        with _writing(output) as file, working("Predicting"):
            file.write(marks.header(header))
            notes = _write(file, _predicted(fitted, files, marks, coverage, quantiles))
        for note in notes:
            Screen(stderr=True).print(note, soft_wrap=True, highlight=False)
    if output != STANDARD_OUTPUT:
        print_files(Screen(stderr=True), [Path(output)])


def _check_share(flag: str, share: float, remedy: str) -> None:
    if not 0.0 < share < 1.0:
        raise UsageError(f"{flag} must lie between 0 and 1, got {share:g}; {remedy}.")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _target_names(model: FittedModel, given: Sequence[str] | None) -> Sequence[str]:
    if given:
        count = len(model.calibrations)
        if len(given) != count:
            what = "class" if model.outcome.labels else "target"
            raise UsageError(
                f"--name was given {_times(len(given))}; give it once for each {what} of the "
                f"model, {_times(count)}."
            )
        return given
    return model.outcome.prediction_names(model.options.target_box)


def _open(model: FittedModel, data: str, decimal: DecimalMark) -> list[TableFile]:
    """Open the files, all of which must have the columns of the first, among them the inputs."""
    from dpgp.private.files import open_files
    from dpgp.private.tables import require

    files = open_files(data, decimal)
    require(files[0], _input_names(model, files[0].names))
    for file in files:
        require(file, files[0].names)
    return files


def _marks(file: TableFile, decimal: DecimalMark) -> Marks:
    """Return the marks of a CSV file, or those that CSV has where this decimal mark is usual."""
    from dpgp.cli.csv_text import Marks
    from dpgp.private.csv_files import CsvFile

    usual = "," if decimal == DecimalMark.POINT else ";"
    return Marks(file.delimiter if isinstance(file, CsvFile) else usual, decimal)


def _input_names(model: FittedModel, names: Sequence[str]) -> Sequence[str]:
    """Return the inputs in the model's order; a model without names takes columns as they come."""
    from dpgp.private.tables import TableError

    count, inputs = len(model.inputs.box.low), model.inputs.box.names or names
    if len(inputs) != count:
        raise TableError(
            f"the model does not know the names of its {count} input(s); pass a file with these "
            "columns alone, in order."
        )
    return inputs


def _predicted(
    model: FittedModel,
    files: Sequence[TableFile],
    marks: Marks,
    coverage: float,
    quantiles: Sequence[float],
) -> Iterator[tuple[bytes, set[str]]]:
    """Return lines of CSV, some rows at a time, in order, and what is special about them."""
    from dpgp.blas import in_order
    from dpgp.progress import watched_first

    names = files[0].names

    def lines(piece: Piece) -> tuple[bytes, set[str]]:
        cells = piece()
        X = _inputs(model, cells, _input_names(model, names))
        return marks.lines(cells, _predictions(model, X, coverage, quantiles)), _notes(model, X)

    pieces = (piece for file in files for piece in file.pieces(names))
    return in_order(watched_first(pieces), lines)


def _inputs(model: FittedModel, cells: Cells, names: Sequence[str]) -> Array:
    """Return columns of numbers, or of the numbers of their levels or dates."""
    import numpy as np

    def column(k: int) -> Array:
        box, codes = model.inputs.box, model.options.missing_codes.of_input(k)
        category, days = box.category(k), box.days(k)
        if category is not None:
            return cells.known_levels(names[k], category, codes)
        if days is not None:
            return cells.known_days(names[k], days, codes)
        return cells.numbers(names[k], codes)

    return np.column_stack([column(k) for k in range(len(names))])


def _predictions(
    model: FittedModel, X: Array, coverage: float, quantiles: Sequence[float]
) -> list[Array]:
    """Return mean, std, ends and quantiles of every target; NaN where inputs are missing."""
    import numpy as np

    complete = np.isfinite(X).all(axis=1)
    columns = np.full((model.n_targets, len(_suffixes(model, quantiles)), len(X)), np.nan)
    if complete.any():
        U = model.inputs(X[complete])
        for k in range(model.n_targets):
            found = _at(model, k, U, coverage, quantiles)
            _, noise, _ = model.noise_quantiles(k)
            columns[k][:, complete] = np.round(found, model.outcome.decimals(noise))
    return [column for target in columns for column in target]


def _at(
    model: FittedModel, k: int, U: Array, coverage: float, quantiles: Sequence[float]
) -> list[Array]:
    """Return what is predicted of one target at unit inputs, in the order of its suffixes."""
    law = model.observations(k, U)
    if not model.outcome.shows_observations:
        return [law.mean, *model.function_interval(k, U, coverage)]
    return [law.mean, law.std, *law.ends(coverage), *map(law.quantile, quantiles)]


def _suffixes(model: FittedModel, quantiles: Sequence[float]) -> list[str]:
    """Return what new columns end in; a UsageError for quantiles that would say nothing."""
    outcome = model.outcome
    if quantiles and not outcome.shows_observations:
        raise UsageError(f"a model of a {outcome.mean_word} has no quantiles; leave them.")
    return [*outcome.prediction_columns, *(f"q{level:g}" for level in quantiles)]


def _notes(model: FittedModel, X: Array) -> set[str]:
    """Say what is special about some rows."""
    import numpy as np

    box, found = model.inputs.box, set()
    if not np.isfinite(X).all():
        found.add("Rows with missing inputs get no prediction: their new cells are empty.")
    if np.any((box.low > X) | (box.high < X)):
        found.add("Inputs outside the model's bounds are predicted as at the nearest bound.")
    return found


@contextmanager
def _writing(output: str) -> Iterator[BinaryIO]:
    """Open the output; a file appears under its name when all of it is written."""
    if output == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        return
    unfinished = Path(f"{output}.unfinished")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)


def _write(file: BinaryIO, parts: Iterable[tuple[bytes, set[str]]]) -> list[str]:
    """Write all lines, and return what is special about any of them."""
    special: set[str] = set()
    for lines, notes in parts:
        file.write(lines)
        special |= notes
    file.flush()
    return sorted(special, reverse=True)
