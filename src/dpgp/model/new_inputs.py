"""New rows to predict: the model's own columns, in its order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.domain import Box
from dpgp.numeric import column_names, numeric_matrix

Array = NDArray[np.float64]


def as_inputs(X: Any, box: Box) -> Array:
    """Return rows as numbers; an error where columns or cells are not what the model takes."""
    inputs, columns = numeric_matrix(X), len(box.low)
    if inputs.shape[1] != columns:
        raise ValueError(f"`X` must have {columns} columns, got {inputs.shape[1]}.")
    names = column_names(X)
    if names is not None and box.names is not None and names != box.names:
        wanted = ", ".join(box.names)
        raise ValueError(f"`X` must have the model's columns, in its order: {wanted}.")
    if not np.isfinite(inputs).all():
        raise ValueError(
            "`X` must be finite and complete to be predicted, without NaN or inf; leave other rows "
            "out."
        )
    return inputs
