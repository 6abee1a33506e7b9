"""Sums that are the same every time: threads, one within BLAS, memory, and unique roots."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from numbers import Integral
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from dpgp.types import Array

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 256  # each has its own sum of d² integers

CACHE_LINE = 64
"""Bytes that processors move at once, and the longest vectors have."""


def thread_count(n_jobs: Any) -> int:
    """Return how many threads ``n_jobs`` asks for, as scikit-learn counts: −1 is all cores.

    −2 is all but one, and so on, at least one; None is all. What is no such number is refused.
    """
    if n_jobs is None:
        return usable_cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(
            f"`n_jobs` must be a whole number or None, got {type(n_jobs).__name__}; -1 takes all "
            "cores."
        )
    if n_jobs == 0:
        raise ValueError("`n_jobs` must not be 0; 1 is one thread, -1 takes all cores.")
    wanted = int(n_jobs)
    if wanted < 0:
        wanted += usable_cores() + 1
    return min(max(wanted, 1), MOST_THREADS)


def usable_cores() -> int:
    """Return how many cores this process may use: affinity and quotas of containers count."""
    from joblib import cpu_count

    return int(cpu_count())


class _SharedLimit:
    """Libraries with one setting for the process have one thread while anybody is inside.

    The last to leave restores what was before the first came.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = _settings(of_a_thread=False)
            self._inside += 1
            _set((library, 1) for library, _ in self._before)

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _set(self._before)


_LIMIT = _SharedLimit()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread; use it as a context or as a decorator, in every thread that sums.

    A product must not depend on how many threads there are, and products of small matrices are
    slower on several: on a busy machine by an order of magnitude. Contexts may be nested and may
    overlap in threads.
    """
    _LIMIT.enter()
    before = _settings(of_a_thread=True)
    _set((library, 1) for library, _ in before)
    try:
        yield
    finally:
        _set(before)
        _LIMIT.leave()


@cache
def _blas() -> list[Any]:
    """The BLAS libraries of this process; looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401 - brings a BLAS of its own, which must be among them

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _settings(*, of_a_thread: bool) -> list[tuple[Any, int]]:
    """Libraries and their threads: in those upon OpenMP every thread has a setting of its own."""
    return [
        (library, library.get_num_threads())
        for library in _blas()
        if (getattr(library, "threading_layer", None) == "openmp") is of_a_thread
    ]


def _set(settings: Iterable[tuple[Any, int]]) -> None:
    for library, threads in settings:
        _free(library)
        library.set_num_threads(threads)
        _free(library)


def _free(library: Any) -> None:
    """Let any thread set the limit: threadpoolctl would ignore, silently, all but one of them."""
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread(force=True)


def in_order(
    items: Iterable[Item], work: Callable[[Item], Result], n_jobs: int | None = None
) -> Iterator[Result]:
    """Yield the results of all items in their order; threads work ahead, by a few items at most."""
    coming, alone = iter(items), single_threaded_blas()(work)
    first = list(islice(coming, 2))
    if len(first) < 2:  # nobody to share the work with
        yield from map(alone, first)
        return
    threads, ahead = thread_count(n_jobs), deque[Future[Result]]()
    with single_threaded_blas(), ThreadPoolExecutor(threads) as pool:
        for item in chain(first, coming):
            ahead.append(pool.submit(alone, item))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def aligned(*shape: int) -> Array:
    """Return an array, not yet filled, that begins with a cache line.

    A vector that is written across two of them takes longer: half as long again in a pass.
    """
    size, spare = math.prod(shape), CACHE_LINE // 8
    room = np.empty(size + spare)
    start = -room.ctypes.data % CACHE_LINE // 8
    return room[start : start + size].reshape(shape)


def symmetric_root(S: Array) -> Array:
    """Return the positive semi-definite R with RR = S, which is unique: QΛ^{1/2}Qᵀ.

    QΛ^{1/2} alone would do for draws, but the signs of Q, and its directions where eigenvalues are
    equal, differ between processors, and seeded draws with them.
    """
    eigenvalues, Q = np.linalg.eigh(S)
    return np.asarray((Q * np.sqrt(np.maximum(eigenvalues, 0.0))) @ Q.T)
