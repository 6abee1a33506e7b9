"""How far a fit has come, told to whoever watches: public things only, the same for any data.

The loop over steps tells its plan and every step, a pass over the rows every batch. A
:class:`Journey` makes a share of the whole and the time that is left of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dpgp.steps.base import Step

T = TypeVar("T")

REFRESH = 0.2  # seconds between two looks at a bar
PAUSE = 10.0  # seconds between two lines where there is no terminal: a log stays short

LEAST_SHARE, LEAST_SECONDS = 0.03, 1.0
"""From which share and time on the rest is told: before, it would jump. By hand."""


TYPICAL_ROWS, THINKING = 30_000, 0.6
"""Rows at which efforts were measured, and the part of such an effort that no row adds to: what is
made of an answer, and what to ask next."""

_watcher: ContextVar[Journey | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(journey: Journey) -> Iterator[None]:
    """Tell a journey of all fits and passes that begin in the block."""
    token = _watcher.set(journey)
    try:
        yield
    finally:
        _watcher.reset(token)


def told_of(steps: Sequence[Step], rows: int | None = None) -> Iterator[Step]:
    """Yield the steps of a fit, and tell of each when its turn comes.

    ``rows`` is how many rows there are, where that is public.
    """
    watcher = _watcher.get()
    if watcher is None:
        yield from steps
        return
    watcher.plan([_effort(step, TYPICAL_ROWS if rows is None else rows) for step in steps])
    for step in steps:
        watcher.step(step.activity)
        yield step


def _effort(step: Step, rows: int) -> float:
    """Return the time of a step: a pass takes as long as it has rows, thinking takes its time."""
    asked = rows * (step.part.fraction if step.part else 1.0)
    return step.effort * (THINKING + (1.0 - THINKING) * asked / TYPICAL_ROWS)


def watched_first(batches: Iterable[T], count: int | None = None) -> Iterable[T]:
    """Return the batches of a pass that finds out how many rows there are."""
    watcher = _watcher.get()
    return batches if watcher is None else _told_first(batches, count, watcher)


def watched(batches: Iterable[T], sizes: Sequence[int]) -> Iterable[T]:
    """Return the batches of a pass that somebody may watch; any thread may draw them."""
    watcher = _watcher.get()
    return batches if watcher is None else _told(batches, sizes, watcher)


def _told(batches: Iterable[T], sizes: Sequence[int], watcher: Journey) -> Iterator[T]:
    watcher.begin(len(sizes), sum(sizes))
    for batch, size in zip(batches, sizes, strict=True):
        yield batch
        watcher.advance(size)


def _told_first(batches: Iterable[T], count: int | None, watcher: Journey) -> Iterator[T]:
    watcher.begin(count, None)
    for batch in batches:
        yield batch
        watcher.advance(None)


class Journey:
    """How far a fit, or a pass over rows, has come, and how long it may take yet.

    ``on_step`` hears what every step does.
    """

    def __init__(self, on_step: Callable[[str], None] = lambda activity: None) -> None:
        self.activity = ""
        self.batches = 0  # of the pass that runs
        self._on_step = on_step
        self._efforts: Sequence[float] = ()
        self._number = 0  # of the step that runs, from 1
        self._rows, self._seen = 0, 0
        self._began = time.monotonic()

    def plan(self, efforts: Sequence[float]) -> None:
        """Begin a fit, of so many steps; each takes a time in proportion to its effort."""
        self._efforts, self._number, self._began = efforts, 0, time.monotonic()

    def step(self, activity: str) -> None:
        """Begin the next step."""
        self.activity, self._number = activity, self._number + 1
        self.begin(None, None)
        self._on_step(activity)

    def begin(self, batches: int | None, rows: int | None) -> None:
        """Begin a pass over so many rows; None where only the pass will tell."""
        self.batches, self._rows, self._seen = 0, rows or 0, 0

    def advance(self, rows: int | None) -> None:
        """Count one more batch, of so many rows."""
        self.batches, self._seen = self.batches + 1, self._seen + (rows or 0)

    @property
    def share(self) -> float | None:
        """Part of the efforts that is behind the fit, None where there is no plan."""
        if not self._efforts or not self._number:
            return None
        done, running = self._efforts[: self._number - 1], self._efforts[self._number - 1]
        of_pass = self._seen / self._rows if self._rows else 0.0
        return (sum(done) + of_pass * running) / sum(self._efforts)

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes if it goes on as it did, None where nobody can tell."""
        share, seconds = self.share, time.monotonic() - self._began
        if share is None or share < LEAST_SHARE or seconds < LEAST_SECONDS:
            return None
        return seconds * (1.0 - share) / share

    @property
    def words(self) -> str:
        """The step, how far the fit is, and what is left."""
        share, left = self.share, self.seconds_left
        parts = [self.activity] if share is None else [self.activity, f"{share:.0%} done"]
        return ", ".join(parts if left is None else [*parts, f"about {duration(left)} left"])


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


@contextmanager
def every(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Do something every so many seconds while the block runs."""
    over = Event()

    def ticking() -> None:
        while not over.wait(seconds):
            act()

    thread = Thread(target=ticking, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def printed(*, every_step: bool) -> Iterator[None]:
    """Print how far a fit is to standard error, every ten seconds, or at every step as well."""
    journey = Journey(_print if every_step else lambda activity: None)

    def tell() -> None:
        if journey.activity:
            _print(journey.words)

    with watching(journey), every(PAUSE, tell):
        yield


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def working(task: str, *, every_step: bool = False) -> Iterator[None]:
    """Say what is being done, how far it is, for how long, and what is left of it.

    It is one bar over a whole fit, on terminals and in notebooks. Elsewhere lines to standard error
    tell of what takes long, or of ``every_step``.
    """
    from rich.console import Console  # slow to import
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, emoji=False)
    if not (console.is_terminal or console.is_jupyter):
        with printed(every_step=every_step):
            yield
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    journey = Journey()
    with Progress(*columns, console=console, transient=True) as bar:
        shown = bar.add_task(f"{task} …", total=None, done="", left="")

        def look() -> None:
            bar.update(shown, **_state(task, journey))

        with watching(journey), every(REFRESH, look):
            yield


def _state(task: str, journey: Journey) -> dict[str, Any]:
    """Return what the bar shows of a journey: the share of a fit, or the batches of a reading."""
    share, left = journey.share, journey.seconds_left
    if share is None:
        return {"done": f"{journey.batches:,} batches" if journey.batches else ""}
    return {
        "description": f"{task}: {journey.activity} …",
        "total": 1.0,
        "completed": share,
        "done": f"{share:.0%}",
        "left": "" if left is None else f"about {duration(left)} left",
    }
