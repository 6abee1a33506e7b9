"""Who watches a pass over the rows: a bar on a terminal, or nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class Watcher(Protocol):
    """Is told how far a pass has come."""

    def begin(self, batches: int | None, rows: int | None) -> None:
        """A pass begins over so many batches and rows; None where only the pass will tell."""
        ...

    def advance(self, rows: int | None) -> None:
        """One more batch, of so many rows, has been drawn."""
        ...


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Tell ``watcher`` of all passes that begin in the block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def watched_first(batches: Iterable[T], count: int | None = None) -> Iterable[T]:
    """Return the batches of a pass that finds out how many rows there are."""
    watcher = _watcher.get()
    return batches if watcher is None else _told_first(batches, count, watcher)


def watched(batches: Iterable[T], sizes: Sequence[int]) -> Iterable[T]:
    """Return the batches of a pass that somebody may watch; any thread may draw them."""
    watcher = _watcher.get()
    return batches if watcher is None else _told(batches, sizes, watcher)


def _told(batches: Iterable[T], sizes: Sequence[int], watcher: Watcher) -> Iterator[T]:
    watcher.begin(len(sizes), sum(sizes))
    for batch, size in zip(batches, sizes, strict=True):
        yield batch
        watcher.advance(size)


def _told_first(batches: Iterable[T], count: int | None, watcher: Watcher) -> Iterator[T]:
    watcher.begin(count, None)
    for batch in batches:
        yield batch
        watcher.advance(None)
