"""Batches of one size, whatever the library that reads a table makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from dpgp.private.rows import BATCH_ROWS
from dpgp.private.tables import TableError


def even_batches(batches: Iterable[Any]) -> Iterator[pa.Table]:
    """Yield the same rows in tables of one size, the last one shorter.

    Where batches end depends on the columns that are read. Rows that count are told by their place
    in a batch, so that batches of two passes must agree.
    """
    waiting: list[Any] = []
    missing = BATCH_ROWS
    for batch in batches:
        for start in _cuts(batch.num_rows, missing):
            part = batch.slice(start, missing)
            waiting.append(part)
            missing -= part.num_rows
            if not missing:
                yield pa.Table.from_batches(waiting)
                waiting, missing = [], BATCH_ROWS
    if waiting:
        yield pa.Table.from_batches(waiting)


def until_the_end(batches: Iterable[Any], message: str) -> Iterator[Any]:
    """Yield what a library reads; a TableError in these words where it fails."""
    reading = iter(batches)
    while (batch := _next(reading, message)) is not None:
        yield batch


def _next(reading: Iterator[Any], message: str) -> Any:
    try:
        return next(reading, None)
    except Exception:  # whatever it says may quote the data
        pass
    raise TableError(message)


def _cuts(rows: int, first: int) -> list[int]:
    """Return where the parts of a batch begin, of which the first fills what is waiting."""
    return [0, *range(first, rows, BATCH_ROWS)] if rows else []
