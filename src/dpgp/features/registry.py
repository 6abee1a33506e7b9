"""The feature maps that can be written down: one line each, the name of its module."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from dpgp.features.base import WrittenMap

MAPS = (
    "inducing",
    "grid",
    "linear",
    "column",
    "concatenated",
)


@cache
def maps() -> dict[str, type[WrittenMap]]:
    """Return the maps by the names of their classes, as in model files."""
    known = [import_module(f"dpgp.features.{name}").MAP for name in MAPS]
    return {kind.__name__: kind for kind in known}


@cache
def maps_of_trees() -> dict[str, type[WrittenMap]]:
    """Return the maps by the type of their trees."""
    return {kind.tree_type: kind for kind in maps().values()}


def map_scripts() -> dict[str, str]:
    """Return the JavaScript of every type of tree."""
    return {name: kind.javascript for name, kind in maps_of_trees().items()}
