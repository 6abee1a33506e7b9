"""How commands speak: tables, files and failures, the last as one sentence with a remedy."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from dpgp.plain_text import is_plain, made_plain
from dpgp.study.errors import Face, UsageError, said

# Exit codes: docs/command-line.md
STOPPED = 1
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


def print_pairs(console: Console, pairs: list[list[str]]) -> None:
    """Print words and what they stand for, side by side."""
    grid = Table.grid(padding=(0, 3))
    for _ in range(2):
        grid.add_column(overflow="fold")
    for word, meaning in pairs:
        grid.add_row(f"[dim]{shown(word)}[/]", shown(meaning))
    console.print(Padding(grid, (0, 0, 0, 2)))


def print_json(value: object) -> None:
    """Print strict JSON on standard output."""
    from json import dumps

    text = dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str)  # dates
    text = "\n".join(_escaped(line) for line in text.split("\n"))
    Screen().print(text, soft_wrap=True, markup=False, highlight=False)


def _escaped(line: str) -> str:
    """Return a line of JSON whose characters that are not plain are escaped."""
    return "".join(c if is_plain(c) else f"\\u{ord(c):04x}" for c in line)


@contextmanager
def failures_in_words() -> Iterator[None]:
    """Turn bad options and bad files into one sentence and an exit code."""
    from dpgp.checked_values import ModelFileError
    from dpgp.ledger.records import LedgerError
    from dpgp.privacy.books import BudgetError
    from dpgp.privacy.exact_sums import UnevenArithmeticError
    from dpgp.private.tables import ClusterError, TableError
    from dpgp.sites.roster import SitesError

    try:
        with _ended_like_ctrl_c():
            yield
    except (TableError, ModelFileError, LedgerError, SitesError) as error:
        raise stop(words(error), DATA_ERROR) from None
    except (ValueError, TypeError, BudgetError) as error:
        raise stop(words(error), USAGE_ERROR) from None
    except (UnevenArithmeticError, ClusterError) as error:
        raise stop(words(error), STOPPED) from None
    except (KeyboardInterrupt, typer.Abort) as error:
        typer.echo(" ".join(["Stopped.", *(notes_of(error) or ["Nothing was spent."])]), err=True)
        raise typer.Exit(STOPPED) from None
    except BrokenPipeError:  # whoever reads our output has seen enough
        forget_standard_output()
    except OSError as error:
        where = f" '{error.filename}'" if error.filename else ""
        text = str(error)  # in words of ours, where the system has none
        if error.strerror is not None:
            text = f"cannot write{where}: {error.strerror.lower()}; name another file with -o."
        raise stop(" ".join([text, *notes_of(error)]), USAGE_ERROR) from None
    except Exception as error:  # a fault of ours, with its traceback, but not without the books
        for note in notes_of(error):
            typer.echo(note, err=True)
        raise


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM stop as Ctrl-C does: with the books, and a terminal as it was."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def words(error: BaseException, face: Face = Face.COMMAND) -> str:
    """Return what went wrong, and what was spent by then."""
    return " ".join([said(error, face), *notes_of(error)])


def notes_of(error: BaseException) -> list[str]:
    """Return what an error was told on its way: what was spent, if anything was."""
    return list(getattr(error, "__notes__", []))


def check_output(output: Path, *inputs: str, force: bool) -> None:
    """Raise, before anything is spent, unless ``output`` can be written and is no input."""
    there = [name for name in inputs if name != "-" and output.exists() and Path(name).exists()]
    if any(output.samefile(name) for name in there):
        raise UsageError(f"'{output}' is read by this command; name another file with -o.")
    if output.is_dir():
        raise UsageError(f"'{output}' is a folder; name a file in it with -o.")
    if output.exists() and not force:
        raise UsageError(f"'{output}' exists; pass --force to replace it, or name another with -o.")
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder '{output.parent}'; create it, or choose another.")
    if not os.access(output.parent, os.W_OK):
        raise UsageError(f"the folder '{output.parent}' cannot be written to; choose another.")
