"""``dpgp show``: a model and its certificate, to read or for machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from dpgp.cli.failures import failures_in_words

if TYPE_CHECKING:
    from dpgp.regressor import PrivateGPRegressor


def show(
    model: Annotated[Path, typer.Argument(help="A model that dpgp fit wrote.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show a model: its guarantee, its columns and bounds, and every release behind it.

    Example: dpgp show girls.json
    """
    from dpgp.cli.description import describe, print_model

    with failures_in_words():
        fitted = load_model(model)
    if json:
        print_json(describe(fitted))
    else:
        print_model(Console(), fitted)


def load_model(path: Path) -> PrivateGPRegressor:
    """Return the model of a file; a ModelFileError where there is none."""
    from dpgp.model_file import ModelFileError, load

    try:
        model: PrivateGPRegressor = load(path)
    except ModelFileError as error:
        raise ModelFileError(f"'{path}' is no model: {error}") from None
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise ModelFileError(
            f"cannot read '{path}': {reason}; name a model that dpgp fit wrote."
        ) from None
    return model


def print_json(value: object) -> None:
    """Print strict JSON on standard output."""
    from json import dumps

    typer.echo(dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
