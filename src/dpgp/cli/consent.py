"""Before a budget is spent: what for, and whether it is meant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from dpgp.cli.output import STOPPED, Screen, print_json, print_pairs, shown
from dpgp.study.doubts import doubts
from dpgp.study.errors import Face, UsageError, Words, said
from dpgp.study.study import Study

if TYPE_CHECKING:
    from dpgp.planning.plan import Plan

GUESS_NEEDED = Words(
    "give a public guess of it",
    command="pass a public guess with --rows",
    page="type a public guess",
)


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


def print_study(console: Console, study: Study, rows: int | None) -> None:
    """Print what a fit will release, from which ledger, and what that is expected to buy.

    ``rows`` is their number, a public guess of it, or None.
    """
    if study.title is not None:
        console.print(shown(study.title), style="bold", highlight=False)
    console.print("[bold]A fit spends privacy budget; those of fits to the same people add up[/]")
    print_pairs(console, study_pairs(study, rows, Face.COMMAND))
    print_weak_points(console, study, rows)
    for doubt in doubts(study.options):
        text = f"[yellow]{doubt.question}[/] {shown(doubt.words.on(Face.COMMAND))}"
        console.print(text, soft_wrap=True, highlight=False)
    if study.purse is not None:
        from dpgp.ledger.words import ledger_line

        print_pairs(console, [["ledger", ledger_line(study.purse)]])
    _print_forecast(console, study, rows)


def print_weak_points(console: Console, study: Study, rows: int | None) -> None:
    """Print what makes a guarantee weak; nothing where it is not."""
    from dpgp.report.guarantee import weak_points

    for warning in weak_points(study.options.epsilon, study.options.delta, rows):
        text = f"[yellow]Weak guarantee:[/] {shown(warning)}"
        console.print(text, soft_wrap=True, highlight=False)


def study_pairs(study: Study, rows: int | None, face: Face) -> list[list[str]]:
    """Return what a fit will make public, as words and what they stand for."""
    options = study.options
    guarantee = f"({options.epsilon:g}, {options.delta:g})-differential privacy"
    return [
        *(["predict", f"{column}{options.outcome.aside}"] for column in study.predicted),
        *(["from", str(column)] for column in study.inputs),
        *(["missing", str(column)] for column in study.missing_codes or ()),
        *([] if study.weight is None else [["weights", str(study.weight)]]),
        ["guarantee", guarantee],
        ["protects", study.protects.on(face)],
        ["rows", _rows_in_words(study, rows)],
    ]


def _rows_in_words(study: Study, rows: int | None) -> str:
    if rows is None:
        return "private"
    is_public = study.options.row_count_is_public
    return f"{rows:,}" if is_public else f"private; a public guess is {rows:,}"


def _print_forecast(console: Console, study: Study, rows: int | None) -> None:
    """Print what the budget is expected to buy, or why that is not known."""
    from dpgp.cli.plan import print_plan

    try:
        print_plan(console, _forecast(study, rows))
    except ValueError as error:
        why = shown(said(error, Face.COMMAND))
        console.print(f"[yellow]No forecast:[/] {why}", soft_wrap=True)


def print_dry_run(study: Study, rows: int | None, json: bool) -> None:
    """Print what a fit would release and what it is expected to reach, on standard output."""
    if json:
        from dpgp.cli.plan import plan_values

        try:
            values = plan_values(_forecast(study, rows))
        except ValueError as error:
            values = {"forecast": None, "no_forecast": said(error, Face.COMMAND)}
        print_json({"dry_run": True, **values})
        return
    console = Screen()
    print_study(console, study, rows)
    console.print("Nothing was spent.")


def _forecast(study: Study, rows: int | None) -> Plan:
    from dpgp.planning.plan import plan_of

    if rows is None:
        raise UsageError("the number of rows is private here", GUESS_NEEDED)
    return plan_of(study.options, rows)
