"""Two public classes: what the labels of a yes/no outcome may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpgp.categories import Category, listed_levels
from dpgp.domain import Box

_WHY_PUBLIC = "classes are public knowledge and cannot be read from the data, which would leak it"


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
