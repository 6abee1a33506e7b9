"""Public labels of classes, and how a column of them is read: a class has its number, from 0 on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpgp.categories import Category, listed_levels
from dpgp.coded_rows import columns_of, elements
from dpgp.domain import Box
from dpgp.types import Array

WHY_PUBLIC = "classes are public knowledge and cannot be read from the data, which would leak it"
_COLUMN = "A column-vector y was passed when a 1d array was expected; its one column is taken."


def named_classes(classes: Any) -> Category:
    """Read two labels or more, of two the one that counts as yes last, or say what is wrong."""
    if classes is None:
        raise ValueError(
            f'`classes` must name all labels, as in classes=("no", "yes"): {WHY_PUBLIC}.'
        )
    listed = listed_levels(classes)
    if listed is None:
        raise TypeError(f"`classes` must be a list of labels, got {type(classes).__name__}.")
    return Category.named(listed, "`classes`")


def class_box(category: Category, names: Sequence[str] | None = None) -> Box:
    """Return the bounds of a target that is one of some classes: their numbers."""
    return Box.from_bounds(None, 1, names, categories=(category,))


def class_numbers(y: Any, rows: int, category: Category) -> Array:
    """Return the number of every label, NaN for what is none; never says which or how many."""
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
        shape = _shape_of_list(y) if isinstance(y, list | tuple) else np.shape(y)
    except Exception:  # whatever it says may quote the data
        return None
    if len(shape) == 2 and shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # slow to import, seldom needed

        warnings.warn(_COLUMN, DataConversionWarning, stacklevel=4)
        columns = columns_of(y)
        return None if columns is None else elements(columns[0])
    return elements(y) if len(shape) == 1 else None


def _shape_of_list(y: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape of labels, or of rows of them; NumPy would give all of them one type."""
    lengths = {
        len(row)
        if isinstance(row, list | tuple) or (type(row) is np.ndarray and row.ndim)
        else None
        for row in y
    }
    (length,) = lengths  # an error where some are rows, or rows differ
    return (len(y),) if length is None else (len(y), length)
