"""Before a budget is spent: what for, and whether it is meant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from dpgp.cli.failures import STOPPED, UsageError
from dpgp.cli.output import Screen, shown
from dpgp.cli.request import Request
from dpgp.cli.study import Study

if TYPE_CHECKING:
    from dpgp.ledger import Ledger
    from dpgp.planning.plan import Plan


def check_may_spend(yes: bool) -> None:
    """Raise where nobody can be asked and nobody said yes."""
    if not yes and not _is_interactive():
        raise UsageError(
            "nothing was spent: a fit spends privacy budget, and there is no terminal to ask at; "
            "pass --yes to spend it."
        )


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def ask() -> None:
    """Ask whether to spend; end the command where the answer is no."""
    if not typer.confirm("Spend this budget?", err=True):
        typer.echo("Nothing was spent.", err=True)
        raise typer.Exit(STOPPED)


def print_request(
    console: Console, request: Request, rows: int | None, title: str | None = None
) -> None:
    """Print what a fit will release; ``rows`` is their number, a public guess of it, or None."""
    if title is not None:
        console.print(shown(title), style="bold", highlight=False)
    console.print("[bold]A fit spends privacy budget; those of fits to the same people add up[/]")
    print_pairs(console, request_pairs(request, rows))
    print_weak_points(console, request, rows)


def print_weak_points(console: Console, request: Request, rows: int | None) -> None:
    """Print what makes a guarantee weak; nothing where it is not."""
    from dpgp.report.guarantee import weak_points

    for warning in weak_points(request.epsilon, request.delta, rows):
        text = f"[yellow]Weak guarantee:[/] {shown(warning)}"
        console.print(text, soft_wrap=True, highlight=False)


def request_pairs(request: Request, rows: int | None) -> list[list[str]]:
    """Return what a fit will make public, as words and what they stand for."""
    aside = request.options.outcome.aside
    lines = [["predict", f"{column}{aside}"] for column in request.predicted]
    lines += [["from", str(column)] for column in (*request.features, *request.categories)]
    return [
        *lines,
        ["guarantee", f"({request.epsilon:g}, {request.delta:g})-differential privacy"],
        ["protects", request.protects],
        ["rows", _rows_in_words(request, rows)],
    ]


def _rows_in_words(request: Request, rows: int | None) -> str:
    if rows is None:
        return "private"
    return (
        f"{rows:,}"
        if request.options.row_count_is_public
        else f"private; a public guess is {rows:,}"
    )


def print_ledger(console: Console, ledger: Ledger | None) -> None:
    """Print what is left of the ledger that a fit will spend from, if there is one."""
    if ledger is not None:
        from dpgp.cli.ledger_words import ledger_line

        print_pairs(console, [["ledger", ledger_line(ledger)]])


def print_forecast(console: Console, request: Request, rows: int | None) -> None:
    """Print what the budget is expected to buy, or why that is not known."""
    from dpgp.cli.plan import print_plan

    try:
        planned = _forecast(request, rows)
    except ValueError as error:
        console.print(f"[yellow]No forecast:[/] {shown(str(error))}", soft_wrap=True)
    else:
        print_plan(console, planned)


def print_dry_run(
    request: Request, said: Study, rows: int | None, ledger: Ledger | None, json: bool
) -> None:
    """Print what a fit would release and what it is expected to reach, on standard output."""
    from dpgp.cli.show import print_json

    if json:
        print_json({"dry_run": True, **_forecast_values(request, rows)})
        return
    console = Screen()
    print_request(console, request, rows, said.title)
    print_ledger(console, ledger)
    print_forecast(console, request, rows)
    console.print("Nothing was spent.")


def _forecast_values(request: Request, rows: int | None) -> dict[str, Any]:
    """Return the forecast in plain values, or why there is none."""
    from dpgp.cli.plan import plan_values

    try:
        return plan_values(_forecast(request, rows))
    except ValueError as error:
        return {"forecast": None, "no_forecast": str(error)}


def _forecast(request: Request, rows: int | None) -> Plan:
    from dpgp.cli.plan import forecast

    if rows is None:
        raise UsageError("the number of rows is private here; pass a public guess with --rows.")
    return forecast(request, rows)


def print_pairs(console: Console, pairs: list[list[str]]) -> None:
    """Print words and what they stand for, side by side."""
    grid = Table.grid(padding=(0, 3))
    for _ in range(2):
        grid.add_column(overflow="fold")
    for word, meaning in pairs:
        grid.add_row(f"[dim]{shown(word)}[/]", shown(meaning))
    console.print(Padding(grid, (0, 0, 0, 2)))
