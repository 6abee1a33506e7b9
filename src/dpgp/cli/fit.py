"""``dpgp fit``: from a table to a private model, and never a budget spent by accident."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpgp.choices import DecimalMark
from dpgp.cli.arguments import Force, Json, Yes, told_a_study
from dpgp.cli.consent import ask, check_may_spend, print_dry_run, print_study
from dpgp.cli.output import (
    Screen,
    check_output,
    command,
    failures_in_words,
    print_files,
    print_json,
    shown,
)
from dpgp.progress import working
from dpgp.study.errors import UsageError
from dpgp.study.study import Study

if TYPE_CHECKING:
    from dpgp.ledger import Ledger
    from dpgp.model.fitted import FittedModel
    from dpgp.private.engines import Engine
    from dpgp.private.files import Header
    from dpgp.private.source import Source


@told_a_study("fit")
def fit(
    study: Study,
    engine: str | None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and its forecast; spend nothing.")
    ] = False,
    show_lines: Annotated[
        bool,
        typer.Option(
            "--show-lines", help="Tell the lines of cells that cannot be read: about people."
        ),
    ] = False,
    records: Annotated[
        bool,
        typer.Option(
            "--records/--no-records",
            help="Keep what stages measured, to pool the model with others.",
        ),
    ] = True,
    yes: Yes = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Fit a private model to a table, and write it to a file to publish.

    Needs a table, columns with bounds or levels, --epsilon, --delta and -o,
    or a study file that names them. Bounds and levels are public knowledge,
    never read from the data; inputs outside count as at the bound.
    Shows what will be spent on what, with a forecast, and asks; --dry-run
    ends there.

    Examples:

    dpgp fit growth.csv --target height_cm:70:190 --feature age:2:18 \\
        --epsilon 1 --delta 1e-6 -o girls.json

    dpgp fit --study growth.yaml --yes

    Yes and no: --classes smoker:no,yes instead of --target

    Columns of levels: add --category region:north,south --category sex:F,M

    Several rows a person: add --unit person_id --max-rows-per-unit 5

    Survey weights, those above 5 cut to it: add --weight weight:5
    """
    with failures_in_words():
        from dpgp.private.engines import opened_engine

        source, purse = checked_source(study), study.purse
        study.check()
        if dry_run:
            with opened_engine(engine) as workers:
                raw = read_rows(source, study, workers, show_lines=show_lines)
            print_dry_run(study, _expected_rows(raw, study), json)
            return
        path = checked_output(study, source, force)
        check_may_spend(yes)
        with opened_engine(engine) as workers:
            raw = read_rows(source, study, workers, show_lines=show_lines)
            show_and_ask(study, _expected_rows(raw, study), yes=yes, json=json)
            with working("Fitting"):
                release = of_study(fit_study(study, raw, purse), study)
                model = with_earlier(release)
        save_model(model, path, overwrite=force, records=records)
    report_model(model, path, json)


def checked_source(study: Study) -> str:
    """Return the table that was named."""
    data = str(study.needed("data"))
    if Path(data).suffix in (".yaml", ".yml"):
        raise UsageError(f"'{data}' is no table; pass a study file as --study {data}.")
    return data


def checked_output(study: Study, data: str, force: bool) -> Path:
    """Return the file to write, which must not replace what is needed."""
    output: Path | None = study.output
    if output is None or str(output) == "-":
        raise UsageError("a model is written to a file; name one with -o, as in -o model.json.")
    check_output(output, data, *([] if study.file is None else [str(study.file)]), force=force)
    return output


def read_rows(
    data: str, study: Study, workers: Engine | None = None, *, show_lines: bool = False
) -> Source:
    """Go once through the columns that a study names; a TableError where files do not hold them."""
    with working("Reading"):
        from dpgp.private.asked_table import AskedTable
        from dpgp.private.files import open_files

        inputs, targets = (
            tuple(column.name for column in columns) for columns in (study.inputs, study.predicted)
        )
        weight = None if study.weight is None else study.weight.name
        files = open_files(data, study.decimal or DecimalMark.POINT)
        asked = AskedTable(files, targets, study.unit, weight)
        return asked.rows(inputs, study.options, workers, show_lines=show_lines)


def read_header(path: str) -> Header:
    """Return the names of a table's columns, for a page that offers them."""
    from dpgp.private.files import read_header

    return read_header(path)


def _expected_rows(raw: Source, study: Study) -> int | None:
    """Return how many rows a forecast may know of."""
    rows: int | None = study.rows
    return len(raw) if study.options.row_count_is_public else rows


def show_and_ask(study: Study, rows: int | None, *, yes: bool, json: bool) -> None:
    """Show what will be spent on what, and ask unless told not to."""
    messages = Screen(stderr=True)
    if not (yes and json):
        print_study(messages, study, rows)
    if not yes:
        ask()


def fit_study(study: Study, rows: Source, ledger: Ledger | None = None) -> FittedModel:
    """Fit what was asked for; spends the budget."""
    from dpgp.blas import thread_count
    from dpgp.privacy.noise import noise_source
    from dpgp.private.fit import fit_rows

    source, threads = noise_source(None), thread_count(None)
    return fit_rows(rows, study.options, source, threads, ledger=ledger)


def of_study(model: FittedModel, study: Study) -> FittedModel:
    """Return a model whose certificate names the study file that it was told by."""
    from dataclasses import replace

    return replace(model, certificate=model.certificate.of_study(study.record))


def with_earlier(release: FittedModel) -> FittedModel:
    """Return what a fit and the model that it started from, if any, say together."""
    from dpgp.pooling.update import updated
    from dpgp.privacy.certificate import spending_noted

    with spending_noted(lambda: release.certificate):
        return updated(release)


def save_model(
    model: FittedModel, path: Path, *, overwrite: bool = False, records: bool = True
) -> None:
    """Write a model; where that fails, the error says what was spent."""
    from dpgp.privacy.certificate import spending_noted

    with spending_noted(lambda: model.certificate):
        model.save(path, overwrite=overwrite, records=records)


def report_model(
    model: FittedModel, output: Path, json: bool, more: Mapping[str, Any] | None = None
) -> None:
    """Tell what was fitted, and where it is; JSON holds ``more`` besides."""
    from dpgp.cli.show import describe, print_guarantee, print_health

    if json:
        about: dict[str, Any] = {"output": str(output), **describe(model), **(more or {})}
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
