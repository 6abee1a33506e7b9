"""Raw rows as arrays: checked for shape and type, never for what only the data can tell.

Messages speak of arguments, shapes and types, never of values, and not of which or how many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.domain import Box
from dpgp.missing import Missing
from dpgp.numeric import numeric_matrix, numeric_vector
from dpgp.options import Options
from dpgp.private.identifiers import unit_codes
from dpgp.private.rows import Rows
from dpgp.types import Array

FARTHEST_TARGET = 2.0**64  # half-widths; beyond any clip, and products with weights stay finite
MISSING_RULES = ("error", "ignore")


def vector_rows(X: Any, y: Any, columns: int, missing: str) -> Rows:
    """Read rows of numbers, and one target each."""
    inputs = numeric_matrix(X, least=2)
    if inputs.shape[1] != columns:
        raise ValueError(
            f"`X` must have as many columns as `inducing_points`, {columns}, got {inputs.shape[1]}."
        )
    return _rows(inputs, y, missing, inputs)


def structured_rows(X: Any, y: Any, missing: str) -> Rows:
    """Read strings, graphs or other objects, and one target each; None counts as missing."""
    objects = object_array(X)
    if len(objects) < 2:
        raise ValueError("`X` must have at least two rows.")
    present = np.array([0.0 if element is not None else np.nan for element in objects])
    return _rows(objects, y, missing, present)


def _rows(inputs: Any, y: Any, missing: str, finite_where_present: Array) -> Rows:
    targets = numeric_vector(y, len(inputs))
    return Rows(inputs, targets[None], usable_rows(missing, targets, finite_where_present))


def scaled_rows(X: Array, targets: Array, options: Options, units: Any) -> Rows:
    """Return rows whose targets are scaled to [−1, 1] and not yet clipped, some of each unit.

    A stage clips residuals, so that a target beyond its bounds pulls no harder than others.
    """
    if options.missing is Missing.ERROR:
        check_public_levels(X, options.box)
    box, known = options.target_box, np.isfinite(targets).all(axis=0)
    errors = [targets.T] if options.outcome.unreadable_is_error else []
    usable = usable_rows(options.missing, X, *errors) & known
    if units is not None:
        usable &= first_rows_of_units(units, len(X), options.max_rows_per_unit)
    scaled = scaled_targets(targets, box.centre[:, None], box.half_width[:, None])
    return Rows(X, np.where(usable, scaled, 0.0), usable)


def check_public_levels(X: Array, box: Box) -> None:
    """Raise where a category has a cell that is none of its public levels; never says which."""
    for column, category in enumerate(box.categories):
        if category is not None and np.isnan(X[:, column]).any():
            raise ValueError(
                f"column '{box.column_names('input')[column]}' must hold its public levels alone: "
                f'{category.words}; pass missing="ignore" to let rows with other or missing levels '
                "contribute nothing while they stay in the count."
            )


def scaled_targets(targets: Array, centre: Array | float, half_width: Array | float) -> Array:
    """Return distances from the centre in half-widths, cut where residuals are clipped anyway."""
    with np.errstate(over="ignore"):  # a warning would tell that somebody's target is huge
        return np.clip((targets - centre) / half_width, -FARTHEST_TARGET, FARTHEST_TARGET)


def first_rows_of_units(units: Any, rows: int, most: int) -> NDArray[np.bool_]:
    """Return which rows are among the first ``most`` of their unit.

    What a unit keeps depends on that unit's rows alone. Proof: docs/proofs/gram_sensitivity.md, §5.
    """
    unit = unit_codes(units, rows)
    order = np.argsort(unit, kind="stable")
    starts = np.searchsorted(unit[order], unit[order], side="left")
    kept = np.empty(rows, dtype=bool)
    kept[order] = np.arange(rows) - starts < most
    return kept


def object_array(X: Any, argument: str = "X") -> NDArray[np.object_]:
    """Return strings, graphs or other objects as a one-dimensional object array."""
    if not isinstance(X, Sequence | np.ndarray) or isinstance(X, str):
        raise TypeError(f"`{argument}` must be a sequence of objects, got {type(X).__name__}.")
    rows = np.empty(len(X), dtype=object)
    for position, element in enumerate(X):
        rows[position] = element
    return rows


def usable_rows(missing: str, *arrays: Array) -> NDArray[np.bool_]:
    """Return which rows are finite throughout; raise if one is not and ``missing`` is "error"."""
    if missing not in MISSING_RULES:
        raise ValueError(f"`missing` must be one of {MISSING_RULES}, got {missing!r}.")
    finite = np.ones(len(arrays[0]), dtype=bool)
    for array in arrays:
        finite &= np.isfinite(array).reshape(len(array), -1).all(axis=1)
    if missing == "error" and not finite.all():
        raise ValueError(
            "`X` and `y` must be finite and complete, without NaN or inf; pass "
            'missing="ignore" to let other rows contribute nothing while they stay in the count.'
        )
    return finite
