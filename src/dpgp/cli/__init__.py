"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import typer

from dpgp.cli.demo import demo
from dpgp.cli.reproduce import reproduce

app = typer.Typer(
    name="dpgp",
    help="Gaussian-process regression under differential privacy.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    add_completion=True,
)
app.command()(reproduce)
app.command()(demo)
