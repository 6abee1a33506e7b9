"""Feature maps as nested objects. All of a map is public: anchors, reference kernel, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpgp.checked_values import ModelFileError, as_choice, as_fields
from dpgp.features.base import Tree, WrittenMap
from dpgp.features.registry import maps

if TYPE_CHECKING:
    from dpgp.features.inducing import InducingFeatures

DEEPEST = 8  # maps within maps of a file; a design has two


def features_to_json(features: Any) -> Tree:
    """Return a feature map as an object of plain values."""
    name = type(features).__name__
    if type(features) not in maps().values():
        raise ModelFileError(f"features of type {name} cannot be saved.")
    return {"type": name, **features.to_json()}


def features_from_json(value: Any, where: str, columns: int, depth: int = DEEPEST) -> WrittenMap:
    """Return the feature map on ``columns`` inputs that an object describes."""
    if depth == 0:
        raise ModelFileError(f"`{where}` is nested too deeply.")
    if not isinstance(value, dict) or "type" not in value:
        raise ModelFileError(f"`{where}` must be an object with a `type`.")
    kind = maps()[as_choice(value["type"], f"{where}.type", maps())]
    fields = as_fields(value, where, ("type", *kind.fields))
    return kind.from_json(fields, where, columns, depth)


def inducing_from_json(value: Any, where: str) -> InducingFeatures:
    """Return the one-dimensional features of inducing points that an object describes."""
    from dpgp.features.inducing import InducingFeatures

    fields = as_fields(value, where, ("type", *InducingFeatures.fields))
    as_choice(fields["type"], f"{where}.type", (InducingFeatures.__name__,))
    return InducingFeatures.from_json(fields, where, 1, DEEPEST)
