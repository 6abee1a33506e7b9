"""What can go wrong on the way from a file to a model, as one sentence and an exit code."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from dpgp.cli.output import DATA_ERROR, USAGE_ERROR, forget_standard_output, stop

STOPPED = 1  # exit codes: docs/command-line.md


class UsageError(ValueError):
    """A command that cannot be meant; the message names the remedy."""


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
        raise stop(" ".join([_cannot_write(error), *notes_of(error)]), USAGE_ERROR) from None
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


def _cannot_write(error: OSError) -> str:
    if error.strerror is None:  # in words of ours
        return str(error)
    where = f" '{error.filename}'" if error.filename else ""
    return f"cannot write{where}: {error.strerror.lower()}; name another file with -o."


def words(error: BaseException) -> str:
    """Return what went wrong, and what was spent by then."""
    return " ".join([str(error), *notes_of(error)])


def notes_of(error: BaseException) -> list[str]:
    """Return what an error was told on its way: what was spent, if anything was."""
    return list(getattr(error, "__notes__", []))


def check_output(output: Path, *inputs: str, force: bool) -> None:
    """Raise, before anything is spent, unless ``output`` can be written and is no input."""
    if any(name != "-" and _is_same(output, Path(name)) for name in inputs):
        raise UsageError(f"'{output}' is read by this command; name another file with -o.")
    if output.is_dir():
        raise UsageError(f"'{output}' is a folder; name a file in it with -o.")
    if output.exists() and not force:
        raise UsageError(f"'{output}' exists; pass --force to replace it, or name another with -o.")
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder '{output.parent}'; create it, or choose another.")
    if not os.access(output.parent, os.W_OK):
        raise UsageError(f"the folder '{output.parent}' cannot be written to; choose another.")


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
