"""``dpgp studio``: a page on this machine that leads from a table to a model, without code."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from dpgp.cli.arguments import LedgerPath
from dpgp.cli.output import Screen, failures_in_words, shown
from dpgp.package import install
from dpgp.study.errors import UsageError


def studio(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes any that is free.")
    ] = 0,
    ledger: LedgerPath = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for models and their papers.")
    ] = Path("dpgp-studio"),
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open nothing.")
    ] = False,
) -> None:
    """Open a page in your browser that plans, fits and reports a model.

    Runs on this machine alone and sends nothing anywhere. Only the header of
    a table is shown; nothing is spent before you have read what will be
    public. Needs the extra studio: pip install '.\\[studio]' in a checkout.

    Example:

    dpgp studio --ledger study.ledger
    """
    with failures_in_words():
        if find_spec("starlette") is None or find_spec("uvicorn") is None:
            raise UsageError(f"the studio needs starlette and uvicorn; run {install('studio')}.")
        from dpgp.ledger import Ledger
        from dpgp.studio.entrance import MINUTES
        from dpgp.studio.server import open_browser, serve

        purse = None if ledger is None else Ledger(ledger)

        def show(address: str) -> None:
            screen = Screen(stderr=True)
            screen.print(f"The studio is at {shown(address)}", soft_wrap=True, highlight=False)
            screen.print(
                f"[dim]for one browser, within {MINUTES} minutes; open it again, and another is "
                "shown here. Ctrl-C ends the studio and removes its copies of tables.[/]"
            )

        stopped = serve(
            show,
            browse=None if no_browser else open_browser,
            port=port,
            ledger=purse,
            folder=output.absolute(),
        )
    for job in stopped:
        typer.echo(f"Stopped. {job.message}", err=True)
