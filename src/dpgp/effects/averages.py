"""Averages of f over the private model of the inputs, some inputs set to values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.effects.columns import column_of, settings_of, shown_values
from dpgp.effects.functionals import Averages, estimate
from dpgp.effects.input_model import representative_rows
from dpgp.effects.records import Effect
from dpgp.export.specify import chosen_target
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


GRID_POINTS = 25
"""Points of a partial dependence, from bound to bound."""

MISSING_ROWS = 64
"""Rows over which the variance is averaged that features miss: small, and slow to compute."""


def partial_dependence(
    model: FittedModel, column: str | int, coverage: float, target: int | None
) -> Effect:
    """Return the average of f along one input: on a grid over its bounds, or at every level."""
    n, box = column_of(model, column), model.options.box
    category = box.category(n)
    grid = (
        np.linspace(box.low[n], box.high[n], GRID_POINTS) if category is None else category.levels
    )
    return average(model, {n: grid}, None, coverage, target)


def average(
    model: FittedModel,
    at: Mapping[Any, Any] | None,
    against: Mapping[Any, Any] | None,
    coverage: float,
    target: int | None,
) -> Effect:
    """Return averages of f with inputs set, or what they are above averages with others set."""
    k, set_to = chosen_target(model, target), settings_of(model, at)
    from_ = None if against is None else settings_of(model, against)
    whole, thinned = (
        _averages(rows, set_to, from_)
        for rows in (representative_rows(model), representative_rows(model, MISSING_ROWS))
    )
    found = estimate(model, k, whole, thinned, coverage)
    names, label = model.input_names, model.target_names[k]
    where = {names[n]: shown_values(model, n, values) for n, values in set_to.items()}
    words = f"Average of {label} over the private model of the inputs"
    if from_ is not None:
        other = {f"{names[n]} before": shown_values(model, n, v) for n, v in from_.items()}
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
