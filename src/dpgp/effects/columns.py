"""Inputs by name or by number, and values to set them to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.categories import Category
    from dpgp.model.fitted import FittedModel


def column_of(model: FittedModel, column: Any) -> int:
    """Return the number of an input that is named, or numbered from 0."""
    names = model.input_names
    if isinstance(column, str) and column in names:
        return names.index(column)
    whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if whole and 0 <= column < len(names):
        return int(column)
    raise ValueError(
        f"`column` must be an input of the model ({', '.join(names)}) or its number, from 0 to "
        f"{len(names) - 1}; got {column!r}."
    )


def settings_of(model: FittedModel, values: Mapping[Any, Any] | None) -> dict[int, Array]:
    """Return inputs and the values that they are set to, as many of each."""
    if not isinstance(values, Mapping | None):
        raise TypeError("inputs must be set by a mapping such as {'age': 10}.")
    given = {column_of(model, column): value for column, value in (values or {}).items()}
    columns = {n: _checked(model, n, value) for n, value in given.items()}
    lengths = {len(column) for column in columns.values()} | {1}
    if len(lengths) > 2:
        raise ValueError("inputs must be set to equally many values each, or to one.")
    return {n: np.broadcast_to(column, max(lengths)) for n, column in columns.items()}


def shown_values(model: FittedModel, n: int, values: Array) -> NDArray[Any]:
    """Return values of an input as people know them: numbers, or levels of a category."""
    category = model.options.box.category(n)
    return values if category is None else np.array(category.labels)[values.astype(np.int64)]


def _checked(model: FittedModel, n: int, values: Any) -> Array:
    box, name = model.options.box, model.input_names[n]
    category = box.category(n)
    if category is not None:
        return _level_numbers(category, values, name)
    try:
        numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise TypeError(f"'{name}' must be set to a number or a list of numbers.") from None
    low, high = float(box.low[n]), float(box.high[n])
    if numbers.ndim != 1 or not len(numbers) or not np.all((numbers >= low) & (numbers <= high)):
        raise ValueError(
            f"'{name}' must be set to a number, or a list of them, between its public bounds "
            f"{low:g} and {high:g}."
        )
    return numbers


def _level_numbers(category: Category, values: Any, name: str) -> Array:
    several = isinstance(values, list | tuple | np.ndarray)
    numbers = category.numbers(values if several else [values])
    if not len(numbers) or np.isnan(numbers).any():
        raise ValueError(
            f"'{name}' must be set to one of its public levels ({category.words}), or to a list of "
            "them."
        )
    return numbers
