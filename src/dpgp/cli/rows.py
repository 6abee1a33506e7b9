"""The rows of a fit: the columns of a table that were asked for, file by file."""

from __future__ import annotations

from dpgp.cli.request import Request
from dpgp.private.cluster_rows import Engine
from dpgp.private.engines import read_files
from dpgp.private.files import open_files
from dpgp.private.source import Source
from dpgp.private.table_rows import Wanted


def read_rows(data: str, request: Request, workers: Engine | None = None) -> Source:
    """Go through what a request names; a TableError where the files do not hold it."""
    return read_files(open_files(data, request.decimal), wanted_of(request), workers)


def wanted_of(request: Request) -> Wanted:
    """Return which columns are what."""
    inputs = [column.name for column in request.features]
    inputs += [column.name for column in request.categories]
    targets = [column.name for column in request.predicted]
    return Wanted(tuple(inputs), tuple(targets), request.unit, request.options)
