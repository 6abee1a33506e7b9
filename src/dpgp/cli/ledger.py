"""``dpgp ledger``: a budget for the same people that all fits spend from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dpgp.cli.arguments import Json
from dpgp.cli.output import (
    Screen,
    TextTable,
    failures_in_words,
    print_files,
    print_json,
    print_pairs,
    print_table,
    shown,
)
from dpgp.privacy.neighbours import Neighbours
from dpgp.study.errors import UsageError

app = typer.Typer(no_args_is_help=True)
LedgerFile = Annotated[Path, typer.Argument(help="A ledger file.", show_default=False)]


@app.callback()
def _about() -> None:
    """Keep a budget that outlives a fit: create, show, history, check.

    Examples:

    dpgp ledger create study.ledger --epsilon 3 --delta 1e-5

    dpgp fit growth.csv ... --epsilon 1 --delta 1e-6 --ledger study.ledger

    dpgp ledger show study.ledger
    """


@app.command()
def create(
    ledger: LedgerFile,
    epsilon: Annotated[float, typer.Option(help="ε of all fits together.", show_default=False)],
    delta: Annotated[float, typer.Option(help="δ of all fits together.", show_default=False)],
    neighbours: Annotated[
        Neighbours, typer.Option(help="How data sets that must look alike may differ.")
    ] = Neighbours.REPLACE,
    protects: Annotated[
        str, typer.Option(metavar="UNIT", help="Whom the budget protects: row or person.")
    ] = "row",
    disjoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A group of people of whom nobody is in another such group; repeat for each.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Create a ledger. Its cap cannot be changed later.

    Example:

    dpgp ledger create study.ledger --epsilon 3 --delta 1e-5
    """
    from dpgp.ledger import Ledger

    with failures_in_words():
        if ledger.exists():
            raise UsageError(f"'{ledger}' exists; name another file, or remove it yourself.")
        Ledger(ledger, epsilon, delta, neighbours=neighbours, protects=protects, disjoint=disjoint)
    print_files(Screen(), [ledger])


@app.command()
def show(ledger: LedgerFile, json: Json = False) -> None:
    """Show what was spent and what is left.

    Example:

    dpgp ledger show study.ledger
    """
    from dpgp.ledger import Ledger
    from dpgp.ledger.words import GROUP_HEADINGS, group_rows, state, state_pairs

    with failures_in_words():
        about = state(Ledger(ledger))
    if json:
        print_json(about)
        return
    console = Screen()
    console.print("[bold]Ledger[/]")
    print_pairs(console, state_pairs(about))
    if about["groups"]:
        rows = [[shown(cell) for cell in row] for row in group_rows(about)]
        print_table(console, TextTable("Disjoint groups", GROUP_HEADINGS, rows))
    _print_head(console, about["head"])
    for warning in about["warnings"]:
        console.print(f"[bold red]{shown(warning)}[/]", soft_wrap=True, highlight=False)


@app.command()
def history(ledger: LedgerFile, json: Json = False) -> None:
    """List every entry: what was reserved, what was released, when.

    Example:

    dpgp ledger history study.ledger
    """
    from dpgp.ledger import Ledger
    from dpgp.ledger.words import ENTRY_HEADINGS, entry_rows, entry_values

    with failures_in_words():
        entries = Ledger(ledger).entries()
        if json:
            print_json([entry_values(entry) for entry in entries])
            return
        rows = [[shown(cell) for cell in row] for row in entry_rows(entries)]
    print_table(Screen(), TextTable("Entries", ENTRY_HEADINGS, rows))


@app.command()
def check(
    ledger: LedgerFile,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            help="A hash that was noted before, which the chain must still hold.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Check the chain of hashes, and that no more was spent than the cap.

    An edit breaks the chain. Who writes the whole file anew can mend it:
    only a hash that is kept elsewhere, such as in a published model, shows
    that, and that the last entries were cut off.

    Example:

    dpgp ledger check study.ledger --head 5d41402a
    """
    from dpgp.ledger import Ledger

    with failures_in_words():
        opened = Ledger(ledger)
        opened.check(head)
        entries = opened.entries()
    console = Screen()
    console.print(f"{len(entries)} entries, their chain and their totals are right.")
    _print_head(console, entries[-1].link)


def _print_head(console: Console, head: str) -> None:
    console.print(f"[dim]head[/] {head}", soft_wrap=True, highlight=False)
