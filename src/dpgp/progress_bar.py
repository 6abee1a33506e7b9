"""One bar over a whole fit, on terminals and in notebooks; elsewhere a line every ten seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dpgp.progress import Journey, duration, every, printed, watching

REFRESH = 0.2  # seconds between two looks


@contextmanager
def working(task: str, *, every_step: bool = False) -> Iterator[None]:
    """Say what is being done, how far it is, for how long, and what is left of it.

    Without a terminal, lines to standard error tell of what takes long, or of ``every_step``.
    """
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
