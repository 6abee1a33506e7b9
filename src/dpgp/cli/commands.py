"""Commands that other packages add: found by name, imported when asked for."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from dpgp.cli.output import USAGE_ERROR, stop

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
                return _as_command(cmd_name, self.added[cmd_name])
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is meant, or say where it is to be had."""
        name = args[0]
        missed = name in ELSEWHERE and self.get_command(ctx, name) is None
        if missed and not ctx.resilient_parsing:
            raise stop(ELSEWHERE[name], USAGE_ERROR)
        return super().resolve_command(ctx, args)


def _as_command(name: str, point: EntryPoint) -> Any:
    alone = typer.Typer(add_completion=False)
    alone.command(name)(point.load())
    return get_command(alone)
