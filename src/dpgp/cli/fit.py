"""``dpgp fit``: from a table to a private model, and never a budget spent by accident."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpgp.cli.arguments import (
    Categories,
    Classes,
    Counts,
    Decimals,
    Delta,
    Epsilon,
    Features,
    Incomplete,
    Json,
    LedgerPath,
    MostRows,
    Partition,
    Relation,
    StudyFile,
    Targets,
    Unit,
)
from dpgp.cli.columns import read_classes, read_columns, read_level_columns
from dpgp.cli.consent import (
    ask,
    check_may_spend,
    print_dry_run,
    print_forecast,
    print_ledger,
    print_request,
)
from dpgp.cli.failures import UsageError, check_output, failures_in_words
from dpgp.cli.output import Screen, command, print_files, shown
from dpgp.cli.progress import working
from dpgp.cli.request import Request, request_of, unsaid
from dpgp.cli.show import print_json
from dpgp.cli.study import Study, with_study_file

if TYPE_CHECKING:
    from dpgp.ledger import Ledger
    from dpgp.model.fitted import FittedModel
    from dpgp.private.engines import Engine
    from dpgp.private.source import Source


def fit(
    data: Annotated[
        str | None,
        typer.Argument(
            help="CSV, Excel, Stata, Parquet or Arrow file, a folder or a pattern of them; - reads "
            "standard input.",
            show_default=False,
        ),
    ] = None,
    study: StudyFile = None,
    target: Targets = None,
    classes: Classes = None,
    feature: Features = None,
    category: Categories = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Model file to write.", show_default=False),
    ] = None,
    neighbours: Relation = None,
    unit: Unit = None,
    max_rows_per_unit: MostRows = None,
    missing: Incomplete = None,
    counts: Counts = None,
    decimal: Decimals = None,
    ledger: LedgerPath = None,
    partition: Partition = None,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Public guess of the number of rows, for the forecast, where it is private.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and its forecast; spend nothing.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who reads the files: dask or spark; this machine by default.",
            show_default=False,
        ),
    ] = None,
    show_lines: Annotated[
        bool,
        typer.Option(
            "--show-lines", help="Tell the lines of cells that cannot be read: about people."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Spend without asking.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
    json: Json = False,
) -> None:
    """Fit a private model to a table, and write it to a file to publish.

    Needs a table, columns with bounds or levels, --epsilon, --delta and -o,
    or a study file that names them. Bounds and levels are public knowledge,
    never read from the data; inputs outside count as at the bound. Shows what will be spent
    on what, with a forecast, and asks; --dry-run ends there.

    Examples:

    dpgp fit growth.csv --target height_cm:70:190 --feature age:2:18 \\
        --epsilon 1 --delta 1e-6 -o girls.json

    dpgp fit --study growth.yaml --yes

    Yes and no: --classes smoker:no,yes instead of --target

    Columns of levels: add --category region:north,south --category sex:F,M

    Several rows a person: add --unit person_id --max-rows-per-unit 5
    """
    with failures_in_words():
        options = Study(
            data=data,
            targets=read_columns("--target", target),
            classes=read_classes(classes),
            features=read_columns("--feature", feature),
            categories=read_level_columns(category),
            epsilon=epsilon,
            delta=delta,
            output=output,
            neighbours=neighbours,
            unit=unit,
            max_rows_per_unit=max_rows_per_unit,
            missing=missing,
            counts=counts,
            decimal=decimal,
            rows=rows,
            ledger=ledger,
            partition=partition,
        )
        said = with_study_file(options, study)
        source = checked_source(said)
        purse = ledger_of(said)
        request = request_of(said)
        if dry_run:
            with opened_engine(engine) as workers:
                raw = read_request(source, request, workers, show_lines=show_lines)
            print_dry_run(request, said, _expected_rows(raw, request, said), purse, json)
            return
        path = checked_output(said.output, source, study, force)
        check_may_spend(yes)
        with opened_engine(engine) as workers:
            raw = read_request(source, request, workers, show_lines=show_lines)
            show_and_ask(request, said, _expected_rows(raw, request, said), yes=yes, json=json)
            model = of_study(fit_request(request, raw, purse), said)
        save_model(model, path, overwrite=force)
    report_model(model, path, json)


def checked_source(said: Study) -> str:
    """Return the table that was named."""
    if said.data is None:
        raise unsaid("no table", "a CSV or Parquet file", "data")
    if Path(said.data).suffix in (".yaml", ".yml"):
        raise UsageError(f"'{said.data}' is no table; pass a study file as --study {said.data}.")
    return said.data


def ledger_of(said: Study) -> Ledger | None:
    """Return the ledger to spend from; an error, before any table is read, where it is none."""
    from dpgp.ledger import Ledger

    if said.ledger is None:
        if said.partition is not None:
            raise UsageError("--partition needs --ledger, whose group of people it names; add it.")
        return None
    ledger = Ledger(said.ledger)
    return ledger if said.partition is None else ledger.partition(said.partition)


def checked_output(output: Path | None, data: str, study: Path | None, force: bool) -> Path:
    """Return the file to write, which must not replace what is needed."""
    if output is None or str(output) == "-":
        raise UsageError("a model is written to a file; name one with -o, as in -o model.json.")
    check_output(output, data, *([] if study is None else [str(study)]), force=force)
    return output


@contextmanager
def opened_engine(engine: str | None) -> Iterator[Engine | None]:
    """Keep the workers of a cluster, if one is asked for, while the block lasts."""
    from dpgp.private.engines import opened_engine

    with opened_engine(engine) as workers:
        yield workers


def read_request(
    source: str, request: Request, workers: Engine | None = None, *, show_lines: bool = False
) -> Source:
    """Go through the rows of a request once."""
    with working("Reading"):
        from dpgp.cli.rows import read_rows

        return read_rows(source, request, workers, show_lines=show_lines)


def _expected_rows(raw: Source, request: Request, said: Study) -> int | None:
    """Return how many rows a forecast may know of."""
    return len(raw) if request.options.row_count_is_public else said.rows


def show_and_ask(request: Request, said: Study, rows: int | None, *, yes: bool, json: bool) -> None:
    """Show what will be spent on what, and ask unless told not to."""
    messages = Screen(stderr=True)
    if not (yes and json):
        print_request(messages, request, rows, said.title)
        print_ledger(messages, ledger_of(said))
        print_forecast(messages, request, rows)
    if not yes:
        ask()


def fit_request(request: Request, rows: Source, ledger: Ledger | None = None) -> FittedModel:
    """Fit what was asked for; spends the budget."""
    with working("Fitting", rows_are_public=request.options.row_count_is_public):
        from dpgp.blas import thread_count
        from dpgp.privacy.noise import noise_source
        from dpgp.private.fit import fit_rows

        source, threads = noise_source(None), thread_count(None)
        return fit_rows(rows, request.options, source, threads, ledger=ledger)


def of_study(model: FittedModel, said: Study) -> FittedModel:
    """Return a model whose certificate names the study file that it was told by."""
    from dataclasses import replace

    return replace(model, certificate=model.certificate.of_study(said.record))


def save_model(model: FittedModel, path: Path, *, overwrite: bool = False) -> None:
    """Write a model; where that fails, the error says what was spent."""
    from dpgp.privacy.certificate import spending_noted

    with spending_noted(lambda: model.certificate):
        model.save(path, overwrite=overwrite)


def report_model(model: FittedModel, output: Path, json: bool) -> None:
    """Tell what was fitted, and where it is."""
    from dpgp.cli.description import describe, print_guarantee, print_health

    if json:
        about: dict[str, Any] = {"output": str(output), **describe(model)}
        print_json(about)
        return
    console = Screen()
    print_guarantee(console, model.certificate)
    print_health(console, model)
    print_files(console, [output])
    model_file, page = str(output), str(output.with_suffix(".html"))
    for word, words in (
        ("look at it", ["show", model_file]),
        ("share it", ["report", model_file, "-o", page]),
    ):
        text = shown(command(*words))
        console.print(f"[dim]{word} with[/] {text}", soft_wrap=True, highlight=False)
