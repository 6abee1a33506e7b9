"""The rows of a fit: the columns of a table that were asked for, as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp.cli.request import Request
from dpgp.cli.study import Missing
from dpgp.sources.identifiers import Key
from dpgp.sources.tables import Array, Table, TableError, read_table


@dataclass(frozen=True)
class Rows:
    """Raw inputs, targets, and whose each row is; never shown by its repr."""

    X: Array
    y: Array
    units: list[Key] | None

    def __repr__(self) -> str:
        return "Rows(...)"


def read_rows(data: str, request: Request) -> Rows:
    """Read what a request names; a TableError where the file does not hold it."""
    table = read_table(data, request.names)
    if len(table) < 2:
        raise TableError("the file has too few rows for a model; a fit needs at least two.")
    X = _matrix(table, [column.name for column in request.features], request.missing)
    y = _matrix(table, [column.name for column in request.targets], request.missing)
    units = None if request.unit is None else table.identifiers(request.unit)
    return Rows(X, y[:, 0] if y.shape[1] == 1 else y, units)


def _matrix(table: Table, names: list[str], missing: Missing) -> Array:
    """Return columns of numbers side by side."""
    columns = [table.numbers(name) for name in names]
    for name, column in zip(names, columns, strict=True):
        if missing is Missing.ERROR and not np.isfinite(column).all():
            raise TableError(
                f"column '{name}' has missing cells; pass --missing ignore to let these rows "
                "contribute nothing, or remove them."
            )
    return np.column_stack(columns)
