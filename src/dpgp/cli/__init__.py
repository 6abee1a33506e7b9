"""The command line: parse, call, print, exit code."""

from __future__ import annotations

from typing import Annotated

import typer

from dpgp.cli.audit import audit
from dpgp.cli.commands import Commands
from dpgp.cli.demo import demo
from dpgp.cli.effects import effects
from dpgp.cli.fit import fit
from dpgp.cli.ledger import app as ledger
from dpgp.cli.papers import registry, statement
from dpgp.cli.plan import plan
from dpgp.cli.predict import predict
from dpgp.cli.report import report
from dpgp.cli.show import show
from dpgp.cli.sites import app as sites
from dpgp.cli.studio import studio
from dpgp.cli.verify import sign, verify

app = typer.Typer(
    name="dpgp",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    add_completion=True,
)


def _print_version(asked: bool) -> None:
    from importlib.metadata import version

    if asked:
        typer.echo(f"dpgp {version('dpgp')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say which dpgp."),
    ] = False,
) -> None:
    """Gaussian-process regression under differential privacy.

    From a table to a model to publish: plan, fit, show, effects,
    report, predict.

    Examples:

    dpgp plan --rows 5000 --target height_cm:70:190 --feature age:2:18

    dpgp fit growth.csv --target height_cm:70:190 --feature age:2:18 \\
        --epsilon 1 --delta 1e-6 -o girls.json

    dpgp predict girls.json new.csv -o out.csv
    """


app.command()(plan)
app.command()(fit)
app.command()(predict)
app.command()(show)
app.command()(effects)
app.command()(report)
app.command()(verify)
app.command()(audit)
app.command()(sign)
app.command()(statement)
app.command()(registry)
app.command()(demo)
app.command()(studio)
app.add_typer(ledger, name="ledger")
app.add_typer(sites, name="sites")
