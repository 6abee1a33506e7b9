"""The rows of a fit: the columns of a table that were asked for, as numbers."""

from __future__ import annotations

import numpy as np

from dpgp.cli.columns import LevelColumn
from dpgp.cli.request import Request
from dpgp.missing import Missing
from dpgp.private.arrays import scaled_rows
from dpgp.private.rows import Rows
from dpgp.private.tables import Array, Table, TableError, read_table


def read_rows(data: str, request: Request) -> Rows:
    """Read what a request names; a TableError where the file does not hold it."""
    table = read_table(data, request.names)
    if len(table) < 2:
        raise TableError("the file has too few rows for a model; a fit needs at least two.")
    X = _inputs(table, request)
    y = _targets(table, request)
    units = None if request.unit is None else table.identifiers(request.unit)
    return scaled_rows(X, y.T, request.options, units)


def _targets(table: Table, request: Request) -> Array:
    """Return columns of numbers, or 0 and 1 for two classes and NaN for what is neither."""
    if request.classes is None:
        return _matrix(table, [column.name for column in request.targets], request.missing)
    cells = table.cells(request.classes.name)
    return request.classes.category.numbers(cells)[:, None]


def _inputs(table: Table, request: Request) -> Array:
    """Return columns of numbers, and then the numbers of levels."""
    numbers = _matrix(table, [column.name for column in request.features], request.missing)
    codes = [_codes(table, column, request.missing) for column in request.categories]
    return np.column_stack([numbers, *codes])


def _codes(table: Table, column: LevelColumn, missing: Missing) -> Array:
    codes = column.category.numbers(table.cells(column.name))
    if missing is Missing.ERROR and np.isnan(codes).any():
        raise TableError(
            f"column '{column.name}' has cells that are missing or none of its public levels: "
            f"{column.category.words}; pass --missing ignore to let these rows contribute nothing, "
            "or remove them."
        )
    return codes


def _matrix(table: Table, names: list[str], missing: Missing) -> Array:
    """Return columns of numbers side by side."""
    columns = [table.numbers(name) for name in names]
    for name, column in zip(names, columns, strict=True):
        if missing is Missing.ERROR and not np.isfinite(column).all():
            raise TableError(
                f"column '{name}' has missing cells; pass --missing ignore to let these rows "
                "contribute nothing, or remove them."
            )
    return np.column_stack(columns) if columns else np.empty((len(table), 0))
