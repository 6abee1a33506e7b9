"""Differences of f between rows, and slopes along an input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.effects.averages import MISSING_ROWS
from dpgp.effects.columns import column_of
from dpgp.effects.functionals import Averages, estimate
from dpgp.effects.input_model import representative_rows
from dpgp.effects.records import Effect
from dpgp.export.specify import chosen_target
from dpgp.model.new_inputs import as_inputs
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


STEP = 0.01
"""Part of an input's range over which slopes are taken: the warp of the inputs has corners."""


def contrast(model: FittedModel, X1: Any, X2: Any, coverage: float, target: int | None) -> Effect:
    """Return f(X2) − f(X1) of every pair of rows."""
    k, box = chosen_target(model, target), model.options.box
    first, second = as_inputs(X1, box), as_inputs(X2, box)
    if len(first) != len(second) and 1 not in (len(first), len(second)):
        raise ValueError("`X1` and `X2` must have equally many rows, or one of them a single row.")
    both = np.stack(np.broadcast_arrays(first, second), axis=1)
    pairs = Averages(both[:, None], np.array([-1.0, 1.0]))
    label = model.target_names[k]
    found = estimate(model, k, pairs, pairs, coverage)
    return Effect(f"Difference of {label} between two rows", coverage, {}, *found)


def slope(
    model: FittedModel, column: str | int, X: Any, coverage: float, target: int | None
) -> Effect:
    """Return (f(x + h/2) − f(x − h/2))/h along one input, at rows or on average."""
    k, n = chosen_target(model, target), column_of(model, column)
    if model.options.box.category(n) is not None:
        raise ValueError(
            f"'{model.input_names[n]}' is a category and has no slope; ask for `average` at its "
            "levels, or for `contrast` between two rows."
        )
    words = f"Slope of {model.target_names[k]} along {model.input_names[n]}"
    if X is None:
        rows, few = representative_rows(model), representative_rows(model, MISSING_ROWS)
        whole, thinned = (_quotients(model, n, each[None]) for each in (rows, few))
        words = f"{words}, averaged over the private model of the inputs"
    else:
        whole = thinned = _quotients(model, n, as_inputs(X, model.options.box)[:, None])
    return Effect(words, coverage, {}, *estimate(model, k, whole, thinned, coverage))


def _quotients(model: FittedModel, n: int, rows: Array) -> Averages:
    """Return averages over rows (averages, rows, D) of differences within the input's bounds."""
    box = model.options.box
    h = 2.0 * STEP * box.half_width[n]
    ends = np.repeat(rows[:, :, None, :], 2, axis=2)
    start = np.clip(rows[:, :, n] - h / 2, box.low[n], box.high[n] - h)
    ends[:, :, :, n] = start[:, :, None] + np.array([0.0, h])
    return Averages(ends, np.array([-1.0, 1.0]) / h)
