"""Columns of a model file: bounds of inputs and targets, the warp, levels of categories, dates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpgp.categories import LONGEST_LEVEL, MOST_LEVELS, Category, check_indicators
from dpgp.checked_values import (
    LARGEST,
    ModelFileError,
    as_fields,
    as_flag,
    as_items,
    as_matrix,
    as_text,
    as_vector,
    check_increasing,
    with_present,
)
from dpgp.dates import MOST_DAYS, Days, date_of
from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.warp import Warp

SIGNED_FROM = 3
"""Format from which on the law is that of signed residuals, and a scale may follow the inputs."""

CLASSES_FROM = 4
"""Format from which on targets may be two classes."""

SEVERAL_CLASSES_FROM = 5
"""Format from which on they may be more, each with a model of its own."""

_LEVELS = "inputs.categories"


def box_to_json(box: Box) -> dict[str, Any]:
    """Write bounds and names."""
    names = None if box.names is None else [as_text(str(name), "names") for name in box.names]
    return {"low": box.low.tolist(), "high": box.high.tolist(), "names": names}


def _box_from_json(fields: dict[str, Any], where: str, columns: int | None = None) -> Box:
    low = as_vector(fields["low"], f"{where}.low", columns)
    high = as_vector(fields["high"], f"{where}.high", len(low))
    if not 1 <= len(low) <= LARGEST or not np.all(low < high):
        raise ModelFileError(f"`{where}` must have bounds with low < high.")
    names = fields["names"]
    if names is not None:
        names = tuple(as_text(name, f"{where}.names") for name in as_items(names, where))
        if len(set(names)) != len(low):
            raise ModelFileError(f"`{where}.names` must hold one name for each bound.")
    return Box(low, high, names)


def inputs_to_json(inputs: UnitInputs) -> dict[str, Any]:
    """Write bounds, categories and the warp of the inputs."""
    warp, levels = inputs.warp, [kind and list(kind.levels) for kind in inputs.box.categories]
    if not isinstance(warp, Warp | None):
        raise ModelFileError(f"a warp of type {type(warp).__name__} cannot be saved.")
    parts = warp and {"edges": warp.edges.tolist(), "values": warp.values.tolist()}
    columns = {**box_to_json(inputs.box), "categories": levels or None, "warp": parts}
    origins = [days and days.origin.isoformat() for days in inputs.box.dates]
    return columns | ({"dates": origins} if origins else {})


def inputs_from_json(value: Any, version: int) -> UnitInputs:
    """Read bounds, categories and the warp of the inputs."""
    names = ("low", "high", "names", *(["categories"] if version > 1 else []), "warp")
    fields = as_fields(value, "inputs", with_present(names, value, "dates"))
    box = _box_from_json(fields, "inputs")
    if "dates" in fields:
        box = _with_dates(box, fields["dates"])
    if version > 1 and not (version >= SIGNED_FROM and fields["categories"] is None):
        box = _with_categories(box, fields["categories"])
    if fields["warp"] is None:
        return UnitInputs(box)
    where = "inputs.warp"
    parts = as_fields(fields["warp"], where, ("edges", "values"))
    edges = as_vector(parts["edges"], f"{where}.edges")
    values = as_matrix(parts["values"], f"{where}.values", len(edges), len(box.low))
    if len(edges) < 2 or not np.all(np.diff(edges) > 0.0):
        raise ModelFileError(f"`{where}.edges` must increase.")
    for row in (edges, *values):
        check_increasing(row, where, (-1.0, 1.0))
    return UnitInputs(box, Warp(edges, values))


def targets_from_json(value: Any, count: int, version: int) -> Box:
    """Read the bounds of ``count`` targets, or the classes of one."""
    classes = ["classes"] if version >= CLASSES_FROM else []
    names = ("low", "high", "names", *classes, "as_columns")
    fields = as_fields(value, "targets", names)
    labels = fields.get("classes")
    several = as_flag(fields["as_columns"], "targets.as_columns")
    if labels is None:
        if not several and count > 1:
            raise ModelFileError("`targets.as_columns` must be true where there are several.")
        return _box_from_json(fields, "targets", count)
    most = MOST_LEVELS if version >= SEVERAL_CLASSES_FROM else 2
    return _with_classes(_box_from_json(fields, "targets", 1), labels, most)


def _with_categories(box: Box, value: Any) -> Box:
    """Return a box whose categories have these levels, and their numbers for bounds."""
    items = as_items(value, _LEVELS)
    if len(items) != len(box.low):
        raise ModelFileError(f"`{_LEVELS}` must have {len(box.low)} entries, one for each input.")
    categories = tuple(None if item is None else _category(item) for item in items)
    if not any(categories):
        raise ModelFileError(f"`{_LEVELS}` must have one category at least.")
    check_indicators(categories)
    for low, high, category in zip(box.low, box.high, categories, strict=True):
        if category is not None and (low, high) != (0, len(category.levels) - 1):
            raise ModelFileError("`inputs` must have the numbers of its levels for every category.")
    return replace(box, categories=categories)


def _with_dates(box: Box, value: Any) -> Box:
    """Return a box whose columns of dates count days since these, from 0 on."""
    items = as_items(value, "inputs.dates")
    origins = [None if item is None else date_of(as_text(item, "inputs.dates")) for item in items]
    dates = tuple(None if origin is None else Days(origin) for origin in origins)
    given = [item is not None for item in items]
    whole = (box.low == 0.0) & (box.high == np.rint(box.high)) & (box.high <= MOST_DAYS)
    if [days is not None for days in dates] != given or len(given) != len(box.low):
        raise ModelFileError("`inputs.dates` must hold a date, or null, for every input.")
    if not whole[given].all():
        raise ModelFileError("`inputs` must count the days of dates, from 0 to a whole number.")
    return replace(box, dates=dates)


def classes_to_json(box: Box) -> list[Any] | None:
    """Return the labels of a target that is one of some classes, None for numbers."""
    category = box.category(0)
    return None if category is None else list(category.levels)


def _with_classes(box: Box, value: Any, most: int) -> Box:
    """Return the box of a target that is one of some classes."""
    category = _category(value, "targets.classes")
    last = len(category.levels) - 1
    if last >= most or (box.low.tolist(), box.high.tolist()) != ([0.0], [float(last)]):
        raise ModelFileError(
            f"`targets.classes` must be 2 to {most} labels of one target, numbered from 0."
        )
    return replace(box, categories=(category,))


def has_entry(value: Any, name: str, allowed: bool) -> list[str]:
    """Return an entry's name in a list where its object has it and its format allows that."""
    return [name] if allowed and isinstance(value, dict) and name in value else []


def _category(value: Any, where: str = _LEVELS) -> Category:
    levels = as_items(value, where, MOST_LEVELS)
    if not all(isinstance(level, str | int) for level in levels):  # true and false are int
        raise ModelFileError(f"`{where}` must hold texts, whole numbers, true and false.")
    try:
        category = Category.saved(levels, where)
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
