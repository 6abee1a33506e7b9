"""Before a budget is spent: what for, and whether it is meant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dpgp.cli.failures import UsageError
from dpgp.cli.request import Request

if TYPE_CHECKING:
    from dpgp.planning import Plan

DECLINED = 1


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
        raise typer.Exit(DECLINED)


def print_request(console: Console, request: Request, rows: int | None) -> None:
    """Print what a fit will release; ``rows`` is None where the number is private."""
    lines = [["predict", str(column)] for column in request.targets]
    lines += [["from", str(column)] for column in request.features]
    lines += [
        ["guarantee", f"({request.epsilon:g}, {request.delta:g})-differential privacy"],
        ["protects", request.protects],
        ["rows", "private" if rows is None else f"{rows:,}"],
    ]
    console.print("[bold]A fit spends privacy budget; those of fits to the same people add up[/]")
    print_pairs(console, lines)


def print_forecast(console: Console, request: Request, rows: int | None) -> None:
    """Print what the budget is expected to buy, or why that is not known."""
    from dpgp.cli.plan import print_plan

    try:
        planned = _forecast(request, rows)
    except ValueError as error:
        console.print(f"[yellow]No forecast:[/] {escape(str(error))}", soft_wrap=True)
    else:
        print_plan(console, planned)


def print_dry_run(request: Request, rows: int | None, json: bool) -> None:
    """Print what a fit would release and what it is expected to reach, on standard output."""
    from dpgp.cli.plan import plan_values, print_plan
    from dpgp.cli.show import print_json

    planned = _forecast(request, rows)
    if json:
        print_json({"dry_run": True, **plan_values(planned)})
        return
    console = Console()
    print_request(console, request, rows)
    print_plan(console, planned)
    console.print("Nothing was spent.")


def _forecast(request: Request, rows: int | None) -> Plan:
    from dpgp.cli.plan import forecast

    if rows is None:
        raise UsageError("the number of rows is private here; pass a public guess with --rows.")
    return forecast(request, rows)


def print_pairs(console: Console, pairs: list[list[str]]) -> None:
    """Print words and what they stand for, side by side."""
    grid = Table.grid(padding=(0, 3))
    for word, meaning in pairs:
        grid.add_row(f"  [dim]{escape(word)}[/]", escape(meaning))
    console.print(grid)
