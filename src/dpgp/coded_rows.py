"""Rows as numbers, column by column: levels become their numbers, and dates numbers of days.

A table with texts and numbers is never made one array, which would have one type for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.categories import Categories, Category, read_categories
from dpgp.dates import Days
from dpgp.domain import Box, has_dates
from dpgp.missing_codes import NO_CODES, Codes
from dpgp.numeric import (
    as_floats,
    check_column_names,
    column_names,
    nearest_name,
    numeric_matrix,
    numeric_targets,
    what_it_has,
)
from dpgp.types import Array

Kinds = tuple[Category | Days | None, ...]
"""What the cells of every column are, None for numbers; empty where all are numbers."""

_NOT_A_TABLE = "`X` must be an array or table whose rows are equally long."


@dataclass(frozen=True)
class CodedRows:
    """Rows whose categories and dates are numbers already; raw values, never in its repr."""

    values: Array

    def __repr__(self) -> str:
        return "CodedRows(...)"


def coded_matrix(X: Any, kinds: Kinds, codes: Sequence[Codes] = (), least: int = 1) -> Array:
    """Return rows of numbers; NaN for codes, and for what is no date or none of the levels."""
    if not kinds and not any(codes):
        return numeric_matrix(X, least=least)
    columns = columns_of(X)
    if columns is None:
        raise ValueError(_NOT_A_TABLE)
    count = len(kinds or codes)
    if len(columns) != count:
        raise ValueError(f"`X` must have {count} columns, got {len(columns)}.")
    return coded_columns(columns, kinds, codes, least)


def coded_columns(
    columns: Sequence[Any], kinds: Kinds, codes: Sequence[Codes] = (), least: int = 1
) -> Array:
    """Return rows of numbers from columns."""
    none = (None,) * len(columns)
    each = zip(columns, kinds or none, codes or [NO_CODES] * len(columns), strict=True)
    parts = [
        _numbers(column, own, "X") if kind is None else _coded(column, kind, own)
        for column, kind, own in each
    ]
    if any(part.ndim != 1 or len(part) != len(parts[0]) for part in parts):
        raise ValueError(_NOT_A_TABLE)
    return numeric_matrix(np.column_stack(parts), least=least)


def coded_targets(y: Any, rows: int, codes: Sequence[Codes] = ()) -> Array:
    """Return one number, or several side by side, for every row; NaN for codes."""
    if not any(codes):
        return numeric_targets(y, rows)
    columns = columns_of(y)
    if columns is None:
        return numeric_targets(_numbers(y, codes[0], "y"), rows)
    parts = [_numbers(column, own, "y") for column, own in zip(columns, codes, strict=True)]
    return numeric_targets(np.column_stack(parts), rows)


def _numbers(column: Any, codes: Codes, argument: str) -> Array:
    """Return the numbers of a column, NaN for codes; each depends on its cell alone."""
    if not codes:
        return as_floats(column, argument)
    if getattr(getattr(column, "dtype", None), "kind", "O") not in "biuf":  # may hold texts
        cells = elements(column)
        if cells is None:
            raise ValueError(_NOT_A_TABLE)
        column = [None if isinstance(cell, str) and codes.has(cell) else cell for cell in cells]
    return codes.without(as_floats(column, argument))


def _coded(column: Any, kind: Category | Days, codes: Codes) -> Array:
    if isinstance(kind, Days) and isinstance(column, np.ndarray) and column.dtype.kind == "M":
        return kind.of_array(column, codes)
    cells = elements(column)
    if cells is None:
        raise ValueError(_NOT_A_TABLE)
    return kind.numbers(cells, codes) if isinstance(kind, Days) else kind.numbers(cells)


def kinds_of(X: Any, bounds: Any, categories: Categories) -> Kinds:
    """Read which columns of a table are categories, and which are dates by their bounds."""
    if not has_dates(bounds):
        return categories
    names, columns = column_names(X), columns_of(X)
    check_column_names(names)
    if columns is None:
        raise ValueError(_NOT_A_TABLE)
    return Box.from_bounds(bounds, len(columns), names, categories=categories).kinds


def categories_of(X: Any, categories: Any) -> Categories:
    """Read which columns of a table are categories, by their names or positions."""
    if categories is None:
        return ()
    names = column_names(X)
    check_column_names(names)
    columns = columns_of(X) if names is None else names
    if columns is None:
        raise ValueError(_NOT_A_TABLE)
    return read_categories(categories, names, len(columns))


def named_columns(X: Any, names: Sequence[str] | None) -> Sequence[Any] | None:
    """Return the columns of these names, whatever their order and whatever else a table has.

    None where it has no names, or nobody knows which are wanted: columns are then as they come.
    """
    found = tuple(map(str, X)) if isinstance(X, Mapping) else column_names(X)
    if found is None:
        return None
    if names is None:
        if isinstance(X, Mapping):
            raise ValueError(
                "the model does not know the names of its inputs; pass rows, with columns in the "
                "order of the fit."
            )
        return None
    for name in names:
        if found.count(name) != 1:
            raise ValueError(_no_such_column(found, names, name))
    columns = list(X.values()) if isinstance(X, Mapping) else columns_of(X)
    if columns is None:
        raise ValueError(_NOT_A_TABLE)
    return [columns[found.index(name)] for name in names]


def _no_such_column(found: Sequence[str], names: Sequence[str], missed: str) -> str:
    if missed in found:
        return f"`X` has several columns '{missed}'; rename all but one."
    wanted = ", ".join(f"'{name}'" for name in names)
    has = what_it_has(found, names, missed) or nearest_name(found, missed)
    return f"`X` has no column '{missed}'; {has or f'it must have the columns {wanted}.'}"


def columns_of(X: Any) -> Sequence[Any] | None:
    """Return the columns as their table holds them; None for what is no table."""
    try:
        if hasattr(X, "iloc"):  # pandas
            return [X.iloc[:, j] for j in range(X.shape[1])]
        if hasattr(X, "get_columns"):  # polars
            return list(X.get_columns())
        if hasattr(X, "column_names"):  # pyarrow
            return [X.column(j) for j in range(len(X.column_names))]
        if isinstance(X, np.ndarray):
            return list(X.T) if X.ndim == 2 else None
        rows = [tuple(row) for row in X] if isinstance(X, list | tuple) else []
        return [list(column) for column in zip(*rows, strict=True)] if rows else None
    except Exception:  # whatever it says may quote the data
        return None


def elements(column: Any) -> Sequence[Any] | None:
    """Return the elements of a column, None where they cannot be had.

    A list is never made an array.
    """
    try:
        if isinstance(column, np.ndarray) and column.dtype.kind in "mM":
            return list(column)  # dates and times would become numbers
        for method in ("to_pylist", "to_list", "tolist"):  # pyarrow, polars and pandas, NumPy
            if hasattr(column, method):
                return list(getattr(column, method)())
        return list(column)
    except Exception:  # whatever it says may quote the data
        return None
