"""Feature maps as nested dictionaries of numbers, and their values in any array library."""

from __future__ import annotations

from typing import Any

from dpgp.arithmetic import Library
from dpgp.features.base import Tree
from dpgp.features.registry import maps, maps_of_trees


def feature_tree(features: Any) -> Tree:
    """Return the numbers of a map's formula."""
    if type(features) not in maps().values():
        raise ValueError(f"features of type {type(features).__name__} cannot be exported.")
    return {"type": features.tree_type, **features.specify()}


def evaluate(tree: Tree, U: Any, library: Library) -> Any:
    """Return φ of the rows of ``U``, one a row."""
    return maps_of_trees()[tree["type"]].formula(tree, U, library)
