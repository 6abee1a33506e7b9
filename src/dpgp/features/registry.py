"""The feature maps that can be written down, one line each, and their formulas in any library."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from dpgp.arithmetic import Library
from dpgp.features.base import Tree, WrittenMap

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


def feature_tree(features: Any) -> Tree:
    """Return the numbers of a map's formula."""
    if type(features) not in maps().values():
        raise ValueError(f"features of type {type(features).__name__} cannot be exported.")
    return {"type": features.tree_type, **features.specify()}


def evaluate(tree: Tree, U: Any, library: Library) -> Any:
    """Return φ of the rows of ``U``, one a row."""
    return maps_of_trees()[tree["type"]].formula(tree, U, library)
