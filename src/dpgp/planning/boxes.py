"""Bounds, classes and categories as :func:`dpgp.plan` is told them: there are no data to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpgp.categories import read_categories
from dpgp.domain import Box
from dpgp.outcomes.yes_no import class_box, two_classes


def input_box(bounds: Any, categories: Any = None) -> Box:
    """Read one pair for each input that is no category; a single pair is one input."""
    listed = list(categories) if isinstance(categories, Mapping) else []
    if isinstance(bounds, Mapping) or (bounds is None and listed):
        names = list(dict.fromkeys([*(bounds or {}), *map(str, listed)]))
        kinds = read_categories(categories, names, len(names))
        return Box.from_bounds(bounds, len(names), names, categories=kinds)
    single = bounds is None or (len(bounds) == 2 and all(np.ndim(end) == 0 for end in bounds))
    columns = (1 if single else len(bounds)) + len(listed)
    kinds = read_categories(categories, None, columns)
    return Box.from_bounds(bounds, columns, categories=kinds)


def target_box(target_bounds: Any, classes: Any) -> Box:
    """Read one pair, a list of pairs, or two classes."""
    if classes is not None:
        if target_bounds is not None:
            raise ValueError(
                "`classes` and `target_bounds` contradict; two classes have no bounds."
            )
        return class_box(two_classes(classes))
    listed = isinstance(target_bounds, list | tuple) and any(np.ndim(p) for p in target_bounds)
    count = len(target_bounds) if listed else 1
    return Box.from_bounds(target_bounds, count, argument="target_bounds")
