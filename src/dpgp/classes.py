"""Two public classes: what the labels of a yes/no outcome may be."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from dpgp.categories import Category, listed_levels
from dpgp.coded_rows import elements
from dpgp.domain import Box

Array = NDArray[np.float64]

_WHY_PUBLIC = "classes are public knowledge and cannot be read from the data, which would leak it"

COLUMN = "A column-vector y was passed when a 1d array was expected; its one column is taken."


def two_classes(classes: Any) -> Category:
    """Read two labels, the one that counts as yes last; an error where they cannot be meant."""
    if classes is None:
        raise ValueError(
            f'`classes` must name two labels, as in classes=("no", "yes"): {_WHY_PUBLIC}.'
        )
    listed = listed_levels(classes)
    if listed is None:
        raise TypeError(f"`classes` must be a pair of labels, got {type(classes).__name__}.")
    if len(listed) != 2:
        raise ValueError(
            f"`classes` must be two, got {len(listed)}; of more, fit each against all others and "
            "name these two."
        )
    return Category.named(listed, "`classes`")


def class_box(category: Category, names: Sequence[str] | None = None) -> Box:
    """Return the bounds of a target that is one of two classes: 0 and 1."""
    return Box.from_bounds(None, 1, names, categories=(category,))


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
        y = np.asarray(y)[:, 0]
    elif len(shape) != 1:
        return None
    return elements(y)
