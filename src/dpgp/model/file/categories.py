"""Public levels of categories in a model file, bounded in number and length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpgp.categories import LONGEST_LEVEL, MOST_LEVELS, Category, check_indicators
from dpgp.checked_values import ModelFileError, as_items
from dpgp.domain import Box

_WHERE = "inputs.categories"


def categories_to_json(box: Box) -> dict[str, Any]:
    """Return the levels of every column, null for columns of numbers, and where all are."""
    if not box.categories:
        return {"categories": None}
    return {"categories": [kind and list(kind.levels) for kind in box.categories]}


def with_categories(box: Box, value: Any) -> Box:
    """Return a box whose categories have these levels, and their numbers for bounds."""
    items = as_items(value, _WHERE)
    if len(items) != len(box.low):
        raise ModelFileError(f"`{_WHERE}` must have {len(box.low)} entries, one for each input.")
    categories = tuple(None if item is None else _category(item) for item in items)
    if not any(categories):
        raise ModelFileError(f"`{_WHERE}` must have one category at least.")
    check_indicators(categories)
    for low, high, category in zip(box.low, box.high, categories, strict=True):
        if category is not None and (low, high) != (0, len(category.levels) - 1):
            raise ModelFileError("`inputs` must have the numbers of its levels for every category.")
    return replace(box, categories=categories)


def classes_to_json(box: Box) -> list[Any] | None:
    """Return the two labels of a target that is one of two classes, None for numbers."""
    category = box.category(0)
    return None if category is None else list(category.levels)


def with_classes(box: Box, value: Any) -> Box:
    """Return the box of a target that is one of two classes."""
    category = _category(value, "targets.classes")
    if len(category.levels) != 2 or (box.low.tolist(), box.high.tolist()) != ([0.0], [1.0]):
        raise ModelFileError("`targets.classes` must be two labels of one target, from 0 to 1.")
    return replace(box, categories=(category,))


def has_entry(value: Any, name: str, allowed: bool) -> list[str]:
    """Return an entry's name in a list where its object has it and its format allows that."""
    return [name] if allowed and isinstance(value, dict) and name in value else []


def _category(value: Any, where: str = _WHERE) -> Category:
    levels = as_items(value, where, MOST_LEVELS)
    if not all(isinstance(level, str | int) for level in levels):  # true and false are int
        raise ModelFileError(f"`{where}` must hold texts, whole numbers, true and false.")
    try:
        category = Category.of(levels, "of a file")
    except (TypeError, ValueError):
        raise ModelFileError(
            f"`{where}` must hold 2 to {MOST_LEVELS} different levels, texts of 1 to "
            f"{LONGEST_LEVEL} characters."
        ) from None
    if category.levels != tuple(levels):
        raise ModelFileError(f"`{where}` must hold texts without blanks around them.")
    return category


def are_levels(points: Any, box: Box) -> bool:
    """Return whether categories hold numbers of their levels alone."""
    levels = points[:, ~box.is_numeric]
    within = (levels >= 0.0) & (levels <= box.high[~box.is_numeric])
    return bool(np.all(within & (levels == np.rint(levels))))
