"""Averages of f over the private model of the inputs, differences between rows, and slopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.effects.functionals import Averages, estimate
from dpgp.effects.records import Effect
from dpgp.model.input_model import representative_rows
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


GRID_POINTS = 25
"""Points of a partial dependence, from bound to bound."""

MISSING_ROWS = 64
"""Rows over which the variance is averaged that features miss: small, and slow to compute."""

STEP = 0.01
"""Part of an input's range over which slopes are taken: the warp of the inputs has corners."""


def partial_dependence(
    model: FittedModel, column: str | int, coverage: float, target: int | str | None
) -> Effect:
    """Return the average of f along one input: on a grid over its bounds, or at every level."""
    n, box = column_of(model, column), model.options.box
    category = box.category(n)
    grid = (
        box.shown(n, np.linspace(box.low[n], box.high[n], GRID_POINTS))
        if category is None
        else category.levels
    )
    return average(model, {n: grid}, None, coverage, target)


def average(
    model: FittedModel,
    at: Mapping[Any, Any] | None,
    against: Mapping[Any, Any] | None,
    coverage: float,
    target: int | str | None,
) -> Effect:
    """Return averages of f with inputs set, or what they are above averages with others set."""
    k, set_to = model.chosen_target(target), _settings(model, at)
    from_ = None if against is None else _settings(model, against)
    whole, thinned = (
        _averages(rows, set_to, from_)
        for rows in (representative_rows(model), representative_rows(model, MISSING_ROWS))
    )
    found = estimate(model, k, whole, thinned, coverage)
    if from_ is None and model.outcome.function_is_bounded:
        functions = model.options.functions
        found = found.within(float(functions.low[k]), float(functions.high[k]))
    names, label, box = model.input_names, model.target_in_words(k), model.options.box
    where = {names[n]: box.shown(n, values) for n, values in set_to.items()}
    words = f"Average of {label} over the private model of the inputs"
    if from_ is not None:
        other = {f"{names[n]} before": box.shown(n, values) for n, values in from_.items()}
        where, words = {**other, **where}, f"Difference of averages of {label}"
    return Effect(words, coverage, where, *found)


def _averages(rows: Array, at: dict[int, Array], against: dict[int, Array] | None) -> Averages:
    after = _set(rows, at)
    if against is None:
        return Averages(after[:, :, None], np.ones(1))
    before = _set(rows, against)
    count = max(len(before), len(after))
    if {len(before), len(after)} - {1, count}:
        raise ValueError("`at` and `against` must set inputs equally many values, or one.")
    pair = [np.broadcast_to(part, (count, *part.shape[1:])) for part in (before, after)]
    return Averages(np.stack(pair, axis=2), np.array([-1.0, 1.0]))


def _set(rows: Array, values: dict[int, Array]) -> Array:
    """Return copies of the rows, (values, rows, D), with some inputs set."""
    count = max((len(column) for column in values.values()), default=1)
    copies = np.tile(rows, (count, 1, 1))
    for n, column in values.items():
        copies[:, :, n] = column[:, None]
    return copies


def contrast(
    model: FittedModel, X1: Any, X2: Any, coverage: float, target: int | str | None
) -> Effect:
    """Return f(X2) − f(X1) of every pair of rows."""
    k = model.chosen_target(target)
    first, second = model.raw_inputs(X1), model.raw_inputs(X2)
    if len(first) != len(second) and 1 not in (len(first), len(second)):
        raise ValueError("`X1` and `X2` must have equally many rows, or one of them a single row.")
    both = np.stack(np.broadcast_arrays(first, second), axis=1)
    pairs = Averages(both[:, None], np.array([-1.0, 1.0]))
    label = model.target_in_words(k)
    found = estimate(model, k, pairs, pairs, coverage)
    return Effect(f"Difference of {label} between two rows", coverage, {}, *found)


def slope(
    model: FittedModel, column: str | int, X: Any, coverage: float, target: int | str | None
) -> Effect:
    """Return (f(x + h/2) − f(x − h/2))/h along one input, at rows or on average."""
    k, n = model.chosen_target(target), column_of(model, column)
    if model.options.box.category(n) is not None:
        raise ValueError(
            f"'{model.input_names[n]}' is a category and has no slope; ask for `average` at its "
            "levels, or for `contrast` between two rows."
        )
    words = f"Slope of {model.target_in_words(k)} along {model.input_names[n]}"
    words += ", per day" if model.options.box.days(n) is not None else ""
    if X is None:
        rows, few = representative_rows(model), representative_rows(model, MISSING_ROWS)
        whole, thinned = (_quotients(model, n, each[None]) for each in (rows, few))
        words = f"{words}, averaged over the private model of the inputs"
    else:
        whole = thinned = _quotients(model, n, model.raw_inputs(X)[:, None])
    return Effect(words, coverage, {}, *estimate(model, k, whole, thinned, coverage))


def _quotients(model: FittedModel, n: int, rows: Array) -> Averages:
    """Return averages over rows (averages, rows, D) of differences within the input's bounds."""
    box = model.options.box
    h = 2.0 * STEP * box.half_width[n]
    ends = np.repeat(rows[:, :, None, :], 2, axis=2)
    start = np.clip(rows[:, :, n] - h / 2, box.low[n], box.high[n] - h)
    ends[:, :, :, n] = start[:, :, None] + np.array([0.0, h])
    return Averages(ends, np.array([-1.0, 1.0]) / h)


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


def _settings(model: FittedModel, values: Mapping[Any, Any] | None) -> dict[int, Array]:
    """Return inputs and the values that they are set to, as many of each."""
    if not isinstance(values, Mapping | None):
        raise TypeError("inputs must be set by a mapping such as {'age': 10}.")
    given = {column_of(model, column): value for column, value in (values or {}).items()}
    columns = {n: _checked(model, n, value) for n, value in given.items()}
    lengths = {len(column) for column in columns.values()} | {1}
    if len(lengths) > 2:
        raise ValueError("inputs must be set to equally many values each, or to one.")
    return {n: np.broadcast_to(column, max(lengths)) for n, column in columns.items()}


def _checked(model: FittedModel, n: int, values: Any) -> Array:
    """Return the values that an input is set to, as numbers: levels, or what its bounds hold."""
    box, name = model.options.box, model.input_names[n]
    category, days = box.category(n), box.days(n)
    several = values if isinstance(values, list | tuple | np.ndarray) else [values]
    if category is not None:
        numbers = category.numbers(several)
        if not len(numbers) or np.isnan(numbers).any():
            raise ValueError(
                f"'{name}' must be set to one of its public levels ({category.words}), or to a "
                "list of them."
            )
        return numbers
    what = "number" if days is None else "date"
    try:
        given = several if days is None else days.numbers(several)
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"'{name}' must be set to a {what} or a list of {what}s.") from None
    within = (numbers >= box.low[n]) & (numbers <= box.high[n])
    if numbers.ndim != 1 or not len(numbers) or not within.all():
        low, high = box.extent_in_words(n)
        raise ValueError(
            f"'{name}' must be set to a {what}, or a list of them, between its public bounds "
            f"{low} and {high}."
        )
    return numbers
