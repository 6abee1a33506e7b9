"""``dpgp audit``: attack our own releases, on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from dpgp.cli.arguments import Json
from dpgp.cli.failures import STOPPED, failures_in_words
from dpgp.cli.output import Screen, shown
from dpgp.cli.progress import working
from dpgp.cli.show import print_json


def audit(
    rows: Annotated[
        int, typer.Option(min=1, help="Number of rows of the run with canaries: that of your data.")
    ] = 5000,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Thousands of neighbours and of releases: minutes.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Chooses the made-up tables, never the noise.")] = 0,
    json: Json = False,
) -> None:
    """Attack our own releases: neighbours, many releases, canaries.

    On made-up tables; reads no data and spends nothing. Replays fits on
    neighbouring tables with the same released history and compares exact
    integers; releases worst-case neighbours many times and bounds ε from
    below; guesses canaries in one run; looks for noise that repeats.
    Ends with exit code 1 where an attack found more than is claimed.

    Examples:

    dpgp audit

    dpgp audit --rows 20000 --thorough
    """
    from dpgp.audit.run import QUICK, THOROUGH
    from dpgp.audit.run import audit as attacks

    console, found = Screen(), []
    with failures_in_words(), working("Attacking"):
        for attack in attacks(THOROUGH if thorough else QUICK, rows, seed):
            found.append(attack)
            if not json:
                mark = "[green]holds[/]" if attack.holds else "[bold red]BROKEN[/]"
                line = f"{mark}  {attack.name}: [dim]{shown(attack.detail)}[/]"
                console.print(line, soft_wrap=True, highlight=False)
    holds = all(attack.holds for attack in found)
    if json:
        print_json({"holds": holds, "attacks": [vars(attack) for attack in found]})
    if not holds:
        raise typer.Exit(STOPPED)
