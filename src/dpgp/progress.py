"""The steps of a fit, told while it runs: public words, the same for any data."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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


@contextmanager
def printed_steps(wanted: bool) -> Iterator[None]:
    """Print every step of a fit to standard error, a line each, if that is wanted."""
    if not wanted:
        yield
        return
    with each_step(lambda step: print(step, file=sys.stderr, flush=True)):
        yield
