"""The command line: parse, call, print, exit code."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from dpgp.cli.demo import demo
from dpgp.cli.effects import effects
from dpgp.cli.fit import fit
from dpgp.cli.ledger import app as ledger
from dpgp.cli.output import USAGE_ERROR, stop
from dpgp.cli.papers import registry, report, statement
from dpgp.cli.plan import plan
from dpgp.cli.pool import pool
from dpgp.cli.predict import predict
from dpgp.cli.show import show
from dpgp.cli.sites import app as sites
from dpgp.cli.studio import studio
from dpgp.cli.verify import audit, sign, verify

GROUP = "dpgp.commands"

ELSEWHERE = {
    "reproduce": "the experiments are no part of the package; run `make experiments` in a checkout "
    "of dpgp, then .venv/bin/dpgp reproduce.",
}
"""What to say about commands that a user may have read of, where nobody has added them."""


class Commands(TyperGroup):
    """Our own commands, and after them what the entry points ``dpgp.commands`` name.

    An entry point is a function such as one writes for typer.
    """

    @cached_property
    def added(self) -> dict[str, EntryPoint]:
        """Commands of other packages; none replaces one of ours."""
        found = entry_points(group=GROUP)
        return {point.name: point for point in found if point.name not in self.commands}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names."""
        return [*super().list_commands(ctx), *self.added]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; one of another package is imported here, and None where it fails."""
        # looking for what others add takes time
        if cmd_name not in self.commands and cmd_name in self.added:
            with suppress(ImportError):  # it was made for another version of ours
                alone = typer.Typer(add_completion=False)
                alone.command(cmd_name)(self.added[cmd_name].load())
                return get_command(alone)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is meant, or say where it is to be had."""
        name = args[0]
        missed = name in ELSEWHERE and self.get_command(ctx, name) is None
        if missed and not ctx.resilient_parsing:
            raise stop(ELSEWHERE[name], USAGE_ERROR)
        return super().resolve_command(ctx, args)


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
app.command()(pool)
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
