"""Bounds of inputs and targets as plain values, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

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
)
from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.warp import Warp
from dpgp.model.file.categories import categories_to_json, with_categories, with_classes
from dpgp.model.file.observations import SIGNED_FROM

CLASSES_FROM = 4
"""Format from which on targets may be two classes."""


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
    warp, categories = inputs.warp, categories_to_json(inputs.box)
    if warp is None:
        return {**box_to_json(inputs.box), **categories, "warp": None}
    if not isinstance(warp, Warp):
        raise ModelFileError(f"a warp of type {type(warp).__name__} cannot be saved.")
    parts = {"edges": warp.edges.tolist(), "values": warp.values.tolist()}
    return {**box_to_json(inputs.box), **categories, "warp": parts}


def inputs_from_json(value: Any, version: int) -> UnitInputs:
    """Read bounds, categories and the warp of the inputs."""
    names = ("low", "high", "names", *(["categories"] if version > 1 else []), "warp")
    fields = as_fields(value, "inputs", names)
    box = _box_from_json(fields, "inputs")
    if version > 1 and not (version >= SIGNED_FROM and fields["categories"] is None):
        box = with_categories(box, fields["categories"])
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
    """Read the bounds of targets, or two classes."""
    classes = ["classes"] if version >= CLASSES_FROM else []
    names = ("low", "high", "names", *classes, "as_columns")
    fields = as_fields(value, "targets", names)
    if not as_flag(fields["as_columns"], "targets.as_columns") and count > 1:
        raise ModelFileError("`targets.as_columns` must be true where there are several targets.")
    box = _box_from_json(fields, "targets", count)
    return box if fields.get("classes") is None else with_classes(box, fields["classes"])
