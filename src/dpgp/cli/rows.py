"""The rows of a fit: the columns of a table that were asked for, file by file."""

from __future__ import annotations

from dpgp.cli.request import Request
from dpgp.private.asked_table import with_lines
from dpgp.private.engines import Engine
from dpgp.private.files import open_files
from dpgp.private.rows import RowReader
from dpgp.private.source import Source
from dpgp.private.table_rows import read_files
from dpgp.private.tables import TableError


def read_rows(
    data: str, request: Request, workers: Engine | None = None, *, show_lines: bool = False
) -> Source:
    """Go through what a request names; a TableError where the files do not hold it.

    With ``show_lines`` the error tells where its cells are, which is about people.
    """
    files, wanted = open_files(data, request.decimal), wanted_of(request)
    try:
        return read_files(files, wanted, workers)
    except TableError as error:
        raise with_lines(error, files, wanted) if show_lines else error from None


def wanted_of(request: Request) -> RowReader:
    """Return which columns are what."""
    inputs = [column.name for column in request.features]
    inputs += [column.name for column in request.categories]
    targets = [column.name for column in request.predicted]
    return RowReader(tuple(inputs), tuple(targets), request.unit, request.options)
