"""``dpgp fit``: from a table to a private model, and never a budget spent by accident."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from dpgp.cli.consent import ask, check_may_spend, print_dry_run, print_forecast, print_request
from dpgp.cli.failures import UsageError, check_output, failures_in_words
from dpgp.cli.output import print_files
from dpgp.cli.request import Missing, Request, read_request
from dpgp.cli.show import print_json
from dpgp.privacy.neighbours import Neighbours

if TYPE_CHECKING:
    from dpgp.cli.rows import Rows
    from dpgp.regressor import PrivateGPRegressor


def fit(
    data: Annotated[
        str,
        typer.Argument(help="CSV or Parquet file; - reads standard input.", show_default=False),
    ],
    target: Annotated[
        list[str],
        typer.Option(
            metavar="NAME:LOW:HIGH",
            help="What to predict, with its public bounds; repeat for several.",
            show_default=False,
        ),
    ],
    feature: Annotated[
        list[str],
        typer.Option(
            metavar="NAME:LOW:HIGH",
            help="What to predict from, with its public bounds; repeat for several.",
            show_default=False,
        ),
    ],
    epsilon: Annotated[float, typer.Option(help="ε of the guarantee.", show_default=False)],
    delta: Annotated[
        float, typer.Option(help="δ of the guarantee; far below 1/rows.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Model file to write.", show_default=False),
    ] = None,
    neighbours: Annotated[
        Neighbours, typer.Option(help="How data sets that must look alike may differ.")
    ] = Neighbours.REPLACE,
    unit: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that says whose a row is.", show_default=False),
    ] = None,
    max_rows_per_unit: Annotated[
        int | None,
        typer.Option(min=1, help="How many rows of one unit count; 1 by default."),
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Incomplete rows: stop, or let them contribute nothing.")
    ] = Missing.ERROR,
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
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Spend without asking.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Fit a private model to a table, and write it to a file that may be published.

    Bounds are public knowledge, never read from the data; inputs outside count as at the bound.
    Shows what will be spent on what, with a forecast, and asks; --dry-run ends there.

    Example: dpgp fit growth.csv --target height_cm:70:190 --feature age:2:18
    --feature weight_kg:5:120 --epsilon 1 --delta 1e-6 -o girls.json

    Several rows a person: add --unit person_id --max-rows-per-unit 5
    """
    from dpgp.cli.rows import read_rows

    messages = Console(stderr=True)
    with failures_in_words():
        request = read_request(
            feature, target, epsilon, delta, neighbours, unit, max_rows_per_unit, missing
        )
        path = None if dry_run else _checked_output(output, data, force)
        if not dry_run:
            check_may_spend(yes)
        raw = read_rows(data, request)
        expected = len(raw.X) if request.row_count_is_public else rows
        if path is None:
            print_dry_run(request, expected, json)
            return
        if not (yes and json):
            print_request(messages, request, expected)
        if not yes:
            print_forecast(messages, request, expected)
            ask()
        with messages.status("Fitting …"):
            model = _fit(request, raw)
            model.save(path)
    _report(model, path, json)


def _checked_output(output: Path | None, data: str, force: bool) -> Path:
    if output is None or str(output) == "-":
        raise UsageError("a model is written to a file; name one with -o, as in -o model.json.")
    check_output(output, data, force=force)
    return output


def _fit(request: Request, rows: Rows) -> PrivateGPRegressor:
    from dpgp.regressor import PrivateGPRegressor

    model = PrivateGPRegressor(
        epsilon=request.epsilon,
        delta=request.delta,
        bounds=[column.bounds for column in request.features],
        target_bounds=[column.bounds for column in request.targets],
        neighbours=request.neighbours.value,
        max_rows_per_unit=request.max_rows_per_unit,
        missing=request.missing.value,
    )
    model.fit(rows.X, rows.y, units=rows.units)
    return _named(model, request)


def _named(model: PrivateGPRegressor, request: Request) -> PrivateGPRegressor:
    """Tell the model the names of its columns, which arrays do not have."""
    import numpy as np

    names = tuple(column.name for column in request.features)
    targets = tuple(column.name for column in request.targets)
    model.inputs_ = replace(model.inputs_, box=replace(model.inputs_.box, names=names))
    model.target_box_ = replace(model.target_box_, names=targets)
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _report(model: PrivateGPRegressor, output: Path, json: bool) -> None:
    from dpgp.cli.description import describe, print_guarantee

    if json:
        about: dict[str, Any] = {"output": str(output), **describe(model)}
        print_json(about)
        return
    console = Console()
    print_guarantee(console, model.certificate_)
    print_files(console, [output])
    console.print(f"[dim]look at it with[/] dpgp show {escape(str(output))}", soft_wrap=True)
