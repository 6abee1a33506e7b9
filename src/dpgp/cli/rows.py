"""The rows of a fit: the columns of a table that were asked for, file by file."""

from __future__ import annotations

from dpgp.cli.request import Request
from dpgp.private.files import open_files
from dpgp.private.table_rows import TableRows, Wanted
from dpgp.private.tables import TableError


def read_rows(data: str, request: Request) -> TableRows:
    """Go through what a request names; a TableError where the files do not hold it."""
    rows = TableRows.opened(open_files(data), wanted_of(request))
    if len(rows) < 2:
        raise TableError("the table has too few rows for a model; a fit needs at least two.")
    return rows


def wanted_of(request: Request) -> Wanted:
    """Return which columns are what."""
    inputs = [column.name for column in request.features]
    inputs += [column.name for column in request.categories]
    targets = [column.name for column in request.targets]
    return Wanted(tuple(inputs), tuple(targets), request.unit, request.options)
