"""Options of commands, from their table; a command that fits or plans is told a study."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from dpgp.choices import DecimalMark
from dpgp.cli.output import failures_in_words
from dpgp.study.study import Study
from dpgp.study.table import Option, option, options_of


def as_typer(asked: Option) -> Any:
    """Return an option of the table in words that typer knows."""
    flags, value = asked.declared_flags, asked.value
    if not flags:
        return typer.Argument(help=asked.help, show_default=False)
    return typer.Option(
        *flags, metavar=value.metavar, min=value.least, help=asked.help, show_default=False
    )


ModelFile = Annotated[Path, typer.Argument(help="A model that dpgp fit wrote.", show_default=False)]
StudyFile = Annotated[
    Path | None,
    typer.Option(
        "--study",
        metavar="FILE",
        help="YAML file that says what the options below say, and can be kept and cited.",
        show_default=False,
    ),
]
Decimals = Annotated[DecimalMark | None, as_typer(option("decimal"))]
LedgerPath = Annotated[Path | None, as_typer(option("ledger"))]
Partition = Annotated[str | None, as_typer(option("partition"))]
Force = Annotated[bool, typer.Option("--force", help="Replace the output.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Spend without asking.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def told_a_study(command: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command its options of the table, and ``--study``; it is called with a study.

    What has no key in a study file it is told by name; parameters with a default are its own.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        asked = options_of(command)
        hints = get_type_hints(function, include_extras=True)
        own = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[each.name])
            for each in inspect.signature(function).parameters.values()
            if each.name in hints and each.default is not inspect.Parameter.empty
        ]
        parameters = [
            *(_parameter(each) for each in asked if not each.declared_flags),
            _keyword("study_file", StudyFile),
            *(_parameter(each) for each in asked if each.declared_flags),
            *own,
        ]

        @wraps(function)
        def told(*, study_file: Path | None = None, **given: Any) -> None:
            with failures_in_words():
                from dpgp.study.file import with_study_file

                said = {
                    each.key: each.value.of_command(each.flag, given.pop(each.name))
                    for each in asked
                    if each.key is not None
                }
                study = with_study_file(Study(**said), study_file)
            function(study, **given)

        told.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        told.__annotations__ = {each.name: each.annotation for each in parameters}
        return told

    return decorate


def _parameter(asked: Option) -> inspect.Parameter:
    return _keyword(asked.name, Annotated[asked.value.type | None, as_typer(asked)])


def _keyword(name: str, annotation: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=None, annotation=annotation)
