"""The labels of a yes/no outcome as numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from dpgp.categories import Category
from dpgp.coded_rows import columns_of, elements

Array = NDArray[np.float64]

COLUMN = "A column-vector y was passed when a 1d array was expected; its one column is taken."


def class_numbers(y: Any, rows: int, category: Category) -> Array:
    """Return 0 or 1 for every label, NaN for what is neither; never says which or how many."""
    if y is None:
        raise ValueError("this requires y to be passed, but the target y is None.")
    labels = _labels(y)
    if labels is None or len(labels) != rows:
        raise ValueError("`y` must have one label for each of the rows of `X`.")
    return category.numbers(labels)


def _labels(y: Any) -> Sequence[Any] | None:
    """Return the elements of a list, a column, or an array of one column; else None."""
    try:
        y = y if hasattr(y, "__len__") else np.asarray(y)
        shape = np.shape(y)
    except Exception:  # whatever it says may quote the data
        return None
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(COLUMN, DataConversionWarning, stacklevel=4)
        columns = columns_of(y)
        return None if columns is None else elements(columns[0])
    return elements(y) if len(shape) == 1 else None
