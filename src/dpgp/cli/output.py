"""How commands speak: tables, files and errors, the last as one sentence with a remedy."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dpgp.plain_text import made_plain

# Exit codes: docs/command-line.md
USAGE_ERROR = 2
DATA_ERROR = 4


class DataError(RuntimeError):
    """Data that a command needs cannot be had; the message names the remedy."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what a user can mend into one sentence and an exit code."""
    try:
        yield
    except DataError as error:
        raise stop(str(error), DATA_ERROR) from None
    except OSError as error:
        reason = error.strerror or "it failed"
        where = f" '{error.filename}'" if error.filename else ""
        message = f"cannot write{where}: {reason}; choose another folder with --output."
        raise stop(message, USAGE_ERROR) from None


def stop(message: str, code: int) -> typer.Exit:
    """Print an error and return what ends the command with an exit code."""
    lines = "\n".join(shown(line) for line in message.splitlines())
    Screen(stderr=True).print(f"[bold red]Error:[/] {lines}", soft_wrap=True)
    return typer.Exit(code)


def shown(text: str) -> str:
    """Return what others wrote as it may be printed: no control characters, and no markup.

    Names, labels, paths and messages that repeat them all go through here.
    """
    return escape(made_plain(text))


class Screen(Console):
    """A terminal or a pipe that repeats names as they are, though they hold ``:heart:``.

    A reader who has seen enough, such as ``head``, is no failure.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, emoji=False)

    def on_broken_pipe(self) -> None:
        """End quietly."""
        forget_standard_output()
        raise typer.Exit(0)


def forget_standard_output() -> None:
    """Send what is left to say nowhere, as nobody reads it any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_folder(folder: Path) -> None:
    """Create the output folder before anything expensive is done."""
    folder.mkdir(parents=True, exist_ok=True)


@dataclass(frozen=True)
class TextTable:
    """A table to read: a title, headings, rows of text, and what must be known to read it."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


def print_table(console: Console, table: TextTable) -> None:
    """Print a table, with words to the left and numbers to the right."""
    rich_table = Table(
        title=table.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold"
    )
    for position, heading in enumerate(table.headings):
        rich_table.add_column(heading, justify="right" if position else "left", overflow="fold")
    for row in table.rows:
        rich_table.add_row(*row)
    console.print(rich_table)
    if table.caption:
        console.print(shown(table.caption), style="italic dim", highlight=False)


def command(*words: str) -> str:
    """Return a command of ours as it can be typed here, whether or not it is on the path."""
    called = Path(sys.argv[0])
    on_path = shutil.which("dpgp") is not None or called.name != "dpgp"
    return shlex.join(["dpgp" if on_path else str(called), *words])


def print_files(console: Console, files: Sequence[Path]) -> None:
    """Say where the files are."""
    for path in files:
        console.print(f"[dim]wrote[/] {shown(str(path))}", soft_wrap=True, highlight=False)
