"""Threads within BLAS: kept to one, for speed on small matrices and for sums that repeat."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread; use it as a context or as a decorator.

    A product must not depend on how many threads there are, and products of small matrices are
    slower on several: on a busy machine by an order of magnitude.
    """
    with _blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; looking for them takes milliseconds."""
    return ThreadpoolController()
