"""``dpgp show``: a model and its certificate, to read or for machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dpgp.cli.arguments import Json, ModelFile
from dpgp.cli.failures import failures_in_words
from dpgp.cli.output import Screen

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


def show(
    model: ModelFile,
    json: Json = False,
) -> None:
    """Show a model: its guarantee, columns, what matters, and every release.

    Examples:

    dpgp show girls.json

    dpgp show girls.json --json
    """
    from dpgp.cli.description import describe, importances, print_model

    with failures_in_words():
        fitted = load_model(model)
        matters = importances(fitted)
    if json:
        found = {answer.target: answer.to_dict() for answer in matters}
        print_json({**describe(fitted), "importance": found})
    else:
        print_model(Screen(), fitted, matters)


def load_model(path: Path) -> FittedModel:
    """Return the model of a file; a ModelFileError where there is none."""
    from dpgp.model.file import load

    with in_words(path):
        model: FittedModel = load(path)
    return model


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Let errors about a model's file name it."""
    from dpgp.checked_values import ModelFileError

    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"'{path}' is no model: {error}") from None
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise ModelFileError(
            f"cannot read '{path}': {reason}; name a model that dpgp fit wrote."
        ) from None


def print_json(value: object) -> None:
    """Print strict JSON on standard output."""
    from json import dumps

    text = dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    text = "\n".join(_escaped(line) for line in text.split("\n"))
    Screen().print(text, soft_wrap=True, markup=False, highlight=False)


def _escaped(line: str) -> str:
    """Return a line of JSON whose characters that are not plain are escaped."""
    from dpgp.plain_text import is_plain

    return "".join(c if is_plain(c) else f"\\u{ord(c):04x}" for c in line)
