"""Where rows of files are read: in this process, or by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any

from dpgp.package import install
from dpgp.private.cluster_rows import ClusterRows, Engine
from dpgp.private.source import Source
from dpgp.private.table_file import TableFile
from dpgp.private.table_objects import HeldTable, StreamedTable
from dpgp.private.table_rows import TableRows, Wanted
from dpgp.private.tables import STANDARD_INPUT, TableError

ENGINES = {"dask": "distributed", "spark": "pyspark"}
"""The packages that engines need; the extras of dpgp have the engines' names."""


@contextmanager
def opened_engine(engine: str | None) -> Iterator[Engine | None]:
    """Keep the workers of an engine while the block lasts; None where none is asked for."""
    if engine is None:
        yield None
        return
    check_engine(engine)
    with _opened(engine) as workers:
        yield workers


def read_files(
    files: Sequence[TableFile], wanted: Wanted, workers: Engine | None, threads: int | None = None
) -> Source:
    """Go through all files once; a TableError where they do not hold what is wanted."""
    rows: TableRows | ClusterRows
    if workers is None:
        rows = TableRows.opened(files, wanted, threads)
    else:
        _check_seen_by_workers(files)
        rows = ClusterRows.opened(files, wanted, workers)
    if len(rows) < 2:
        raise TableError("the table has too few rows for a model; a fit needs at least two.")
    return rows


def check_engine(engine: Any) -> None:
    """Raise where an engine is unknown, or its package is not installed."""
    if engine not in ENGINES:
        names = " or ".join(repr(name) for name in ENGINES)
        raise ValueError(f"`engine` must be {names}, or None for this machine, got {engine!r}.")
    try:
        import_module(ENGINES[engine])
    except ImportError:
        raise ValueError(f"`engine` {engine!r} needs its package; run {install(engine)}.") from None


def _opened(engine: str) -> AbstractContextManager[Engine]:
    opened: Callable[[], AbstractContextManager[Engine]]
    opened = getattr(import_module(f"dpgp.private.{engine}_engine"), f"{engine}_engine")
    return opened()


def _check_seen_by_workers(files: Sequence[TableFile]) -> None:
    held = (HeldTable, StreamedTable)
    if any(isinstance(f, held) or getattr(f, "path", "") == STANDARD_INPUT for f in files):
        raise TableError(
            "a cluster reads files, under the same path on every worker; write the table to "
            "Parquet files first, or leave `engine` out."
        )
