"""Progress on a terminal, on standard error; elsewhere nothing. It shows public things only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from dpgp.cli.output import Screen
from dpgp.private.watching import watching
from dpgp.progress import each_step

PATIENCE = 1.0  # seconds after which a pass has a bar
_OF_A_PASS = (
    BarColumn(),
    TextColumn("{task.completed:,.0f} of {task.total:,.0f} {task.fields[unit]}"),
    TimeRemainingColumn(),
)


@contextmanager
def working(task: str, *, rows_are_public: bool = False) -> Iterator[None]:
    """Say what is being done, which step of a fit it is at, and for how long.

    A pass over the rows that takes longer than a second has a bar, of rows where their number is
    public, else of batches; the first one over a table, and predictions, count batches.
    """
    columns: list[ProgressColumn] = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        SeenColumn(),
    ]
    columns += [PassColumn(column) for column in _OF_A_PASS]
    console = Screen(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        shown = bar.add_task(f"{task} …", total=None)
        steps = each_step(lambda step: bar.update(shown, description=f"{task}: {step} …"))
        with steps, watching(PassBar(bar, shown, rows_are_public)):
            yield


class PassColumn(ProgressColumn):
    """A column that is empty until a pass has taken a second."""

    def __init__(self, inner: ProgressColumn) -> None:
        super().__init__()
        self._inner = inner

    def render(self, task: Task) -> RenderableType:
        """Return the column, or nothing."""
        return "" if task.total is None else self._inner(task)


class SeenColumn(ProgressColumn):
    """How many batches a pass has seen that does not know how many there are."""

    def render(self, task: Task) -> RenderableType:
        """Return their number, or nothing."""
        return f"{task.completed:,.0f} batches" if task.total is None and task.completed else ""


class PassBar:
    """Shows how far a pass has come; a :class:`dpgp.private.watching.Watcher`."""

    def __init__(self, bar: Progress, task: TaskID, counts_rows: bool) -> None:
        self._bar, self._task, self._counts_rows = bar, task, counts_rows
        self._began, self._done = 0.0, 0
        self._total: int | None = None

    def begin(self, batches: int | None, rows: int | None) -> None:
        """Hide the bar of the pass before."""
        self._began, self._done = time.monotonic(), 0
        self._total = rows if self._counts_rows and rows is not None else batches
        self._bar.update(self._task, total=None, completed=0)

    def advance(self, rows: int | None) -> None:
        """Count one more batch."""
        counted = rows if self._counts_rows else None
        self._done += 1 if counted is None else counted
        if time.monotonic() - self._began > PATIENCE:
            unit = "batches" if counted is None else "rows"
            self._bar.update(self._task, total=self._total, completed=self._done, unit=unit)
