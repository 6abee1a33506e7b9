"""Feature maps as nested objects. All of a map is public: anchors, reference kernel, shares."""

from __future__ import annotations

import math
from typing import Any

from dpgp.features.whitened import (
    ColumnFeatures,
    ConcatenatedFeatures,
    GridFeatures,
    InducingFeatures,
    LinearFeatures,
    WhitenedMap,
)
from dpgp.model_file.kernels import kernel_from_json, kernel_to_json
from dpgp.model_file.values import (
    LARGEST,
    ModelFileError,
    as_choice,
    as_fields,
    as_items,
    as_matrix,
    as_number,
    as_positive,
    as_whole,
    number_to_json,
)

DEEPEST = 8

_FIELDS = {
    "InducingFeatures": ("type", "kernel", "anchors"),
    "GridFeatures": ("type", "factors"),
    "LinearFeatures": ("type", "columns", "constant_share"),
    "ColumnFeatures": ("type", "column", "inner"),
    "ConcatenatedFeatures": ("type", "shares", "maps"),
}


def features_to_json(features: Any) -> dict[str, Any]:
    """Return a feature map as an object of plain values."""
    name = type(features).__name__
    if isinstance(features, InducingFeatures):
        kernel, anchors = kernel_to_json(features.kernel), features.anchors.tolist()
        return {"type": name, "kernel": kernel, "anchors": anchors}
    if isinstance(features, GridFeatures):
        return {"type": name, "factors": [features_to_json(factor) for factor in features.factors]}
    if isinstance(features, LinearFeatures):
        share = number_to_json(features.constant_share)
        return {"type": name, "columns": int(features.columns), "constant_share": share}
    if isinstance(features, ColumnFeatures):
        inner = features_to_json(features.inner)
        return {"type": name, "column": int(features.column), "inner": inner}
    if isinstance(features, ConcatenatedFeatures):
        shares = [number_to_json(share) for share in features.shares]
        return {
            "type": name,
            "shares": shares,
            "maps": [features_to_json(inner) for inner in features.maps],
        }
    raise ModelFileError(f"features of type {name} cannot be saved.")


def features_from_json(value: Any, where: str, columns: int, depth: int = DEEPEST) -> WhitenedMap:
    """Return the feature map on ``columns`` inputs that an object describes."""
    if depth == 0:
        raise ModelFileError(f"`{where}` is nested too deeply.")
    if not isinstance(value, dict) or "type" not in value:
        raise ModelFileError(f"`{where}` must be an object with a `type`.")
    name = as_choice(value["type"], f"{where}.type", _FIELDS)
    fields = as_fields(value, where, _FIELDS[name])
    if name == "InducingFeatures":
        return _inducing(fields, where, columns)
    if name == "GridFeatures":
        return _grid(fields, where, columns)
    if name == "LinearFeatures":
        as_whole(fields["columns"], f"{where}.columns", columns, columns)
        return LinearFeatures(columns, _share(fields["constant_share"], where))
    if name == "ColumnFeatures":
        column = as_whole(fields["column"], f"{where}.column", 0, columns - 1)
        inner = as_fields(fields["inner"], f"{where}.inner", _FIELDS["InducingFeatures"])
        return ColumnFeatures(_inducing(inner, where, 1), column, columns)
    return _concatenated(fields, where, columns, depth)


def _inducing(fields: dict[str, Any], where: str, columns: int) -> InducingFeatures:
    as_choice(fields["type"], f"{where}.type", ("InducingFeatures",))
    kernel = kernel_from_json(fields["kernel"], f"{where}.kernel", columns)
    anchors = as_matrix(fields["anchors"], f"{where}.anchors", columns)
    return InducingFeatures(kernel, anchors)


def _grid(fields: dict[str, Any], where: str, columns: int) -> GridFeatures:
    items = as_items(fields["factors"], f"{where}.factors", columns)
    if len(items) != columns:
        raise ModelFileError(f"`{where}` must have one factor for each of {columns} inputs.")
    names = _FIELDS["InducingFeatures"]
    parts = [as_fields(item, f"{where}.factors", names) for item in items]
    features = GridFeatures([_inducing(part, where, 1) for part in parts])
    if features.dimension > LARGEST:  # before the points of the grid are written out
        raise ModelFileError(f"`{where}` must have at most {LARGEST} grid points.")
    return features


def _concatenated(
    fields: dict[str, Any], where: str, columns: int, depth: int
) -> ConcatenatedFeatures:
    items = as_items(fields["maps"], f"{where}.maps", LARGEST)
    shares = [
        as_positive(share, f"{where}.shares")
        for share in as_items(fields["shares"], f"{where}.shares", LARGEST)
    ]
    if len(shares) != len(items) or not math.isfinite(math.fsum(shares)):
        raise ModelFileError(f"`{where}` must have one share for each of its maps.")
    return ConcatenatedFeatures(
        [features_from_json(item, f"{where}.maps", columns, depth - 1) for item in items], shares
    )


def anchor_count(features: WhitenedMap) -> int:
    """Return the most anchors that a map can have, without writing them out."""
    if isinstance(features, ConcatenatedFeatures):
        return sum(anchor_count(inner) for inner in features.maps)
    if isinstance(features, LinearFeatures):
        return 2 * features.columns + 1
    return features.dimension


def _share(value: Any, where: str) -> float:
    share = as_number(value, f"{where}.constant_share", low=0.0)
    if share > 1.0:
        raise ModelFileError(f"`{where}.constant_share` must be at most 1.")
    return share
