"""Progress on a terminal, on standard error; elsewhere nothing. It shows public things only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from dpgp.cli.output import Screen

T = TypeVar("T")


@contextmanager
def working(task: str) -> Iterator[None]:
    """Say what is being done, which step of a fit it is at, and for how long."""
    with _progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as bar:
        shown = bar.add_task(f"{task} …", total=None)
        with each_step(lambda step: bar.update(shown, description=f"{task}: {step} …")):
            yield


class _Passing(logging.Handler):
    """Hands the text of every log line to a function."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self.show = show

    def emit(self, record: logging.LogRecord) -> None:
        """Show the line."""
        self.show(record.getMessage())


@contextmanager
def each_step(show: Callable[[str], None]) -> Iterator[None]:
    """Pass on the steps that a fit logs: public, the same for any data."""
    log, handler = logging.getLogger("dpgp.private.fit"), _Passing(show)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def tracked(items: Sequence[T], task: str) -> Iterator[T]:
    """Go through ``items`` behind a bar."""
    with _progress(*Progress.get_default_columns()) as bar:
        yield from bar.track(items, description=task)


def _progress(*columns: ProgressColumn) -> Progress:
    console = Screen(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
