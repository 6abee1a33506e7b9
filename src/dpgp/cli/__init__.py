"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import typer

from dpgp.cli.demo import demo
from dpgp.cli.fit import fit
from dpgp.cli.plan import plan
from dpgp.cli.predict import predict
from dpgp.cli.reproduce import reproduce
from dpgp.cli.show import show

app = typer.Typer(
    name="dpgp",
    help="Gaussian-process regression under differential privacy.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    add_completion=True,
)
app.command()(plan)
app.command()(fit)
app.command()(predict)
app.command()(show)
app.command()(reproduce)
app.command()(demo)
