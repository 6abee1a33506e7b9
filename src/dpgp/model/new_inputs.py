"""New rows to predict: the model's own columns, in its order."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpgp.coded_rows import CodedRows, coded_matrix
from dpgp.domain import Box
from dpgp.numeric import column_names
from dpgp.types import Array


def as_inputs(X: Any, box: Box) -> Array:
    """Return rows as numbers; an error where columns or cells are not what the model takes."""
    inputs = X.values if isinstance(X, CodedRows) else _coded(X, box)
    check_levels(inputs, box)
    if not np.isfinite(inputs).all():
        raise ValueError(
            "`X` must be finite and complete to be predicted, without NaN or inf; leave other rows "
            "out."
        )
    return inputs


def _coded(X: Any, box: Box) -> Array:
    inputs, columns = coded_matrix(X, box.categories), len(box.low)
    if inputs.shape[1] != columns:
        raise ValueError(f"`X` must have {columns} columns, got {inputs.shape[1]}.")
    names = column_names(X)
    if names is not None and box.names is not None and names != box.names:
        wanted = ", ".join(box.names)
        raise ValueError(f"`X` must have the model's columns, in its order: {wanted}.")
    return inputs


def check_levels(inputs: Array, box: Box) -> None:
    """Raise where a category holds what is none of its levels, in public words."""
    names = box.column_names("input")
    for column, category in enumerate(box.categories):
        if category is not None and np.isnan(inputs[:, column]).any():
            raise ValueError(
                f"column '{names[column]}' of `X` must hold its public levels alone to be "
                f"predicted: {category.words}; leave other rows out."
            )
