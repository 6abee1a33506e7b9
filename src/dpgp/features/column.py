"""Features of one input among several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import as_whole
from dpgp.features.base import Tree
from dpgp.features.files import features_to_json, inducing_from_json
from dpgp.features.inducing import InducingFeatures
from dpgp.features.registry import evaluate, feature_tree
from dpgp.types import Array


@dataclass(frozen=True)
class ColumnFeatures:
    """One-dimensional features of a single input."""

    tree_type: ClassVar[str] = "column"
    fields: ClassVar[tuple[str, ...]] = ("column", "inner")
    javascript: ClassVar[str] = """(tree) => {
    const inner = featureMap(tree.inner);
    return (u) => inner(u.subarray(tree.column, tree.column + 1));
  }"""

    inner: InducingFeatures
    column: int
    columns: int

    @property
    def dimension(self) -> int:
        """Number of inducing points."""
        return self.inner.dimension

    @cached_property
    def anchors(self) -> Array:
        """Points along the input's axis through the centre of the box."""
        points = np.zeros((self.inner.dimension, self.columns))
        points[:, self.column] = self.inner.anchors[:, 0]
        return points

    @property
    def projection(self) -> Array:
        """That of the one-dimensional features."""
        return self.inner.projection

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of the one input."""
        return self.inner.evaluate(U[:, [self.column]], out)

    @property
    def most_anchors(self) -> int:
        """Number of inducing points."""
        return self.dimension

    def to_json(self) -> Tree:
        """Return the input's number and its features."""
        return {"column": int(self.column), "inner": features_to_json(self.inner)}

    @classmethod
    def from_json(cls, fields: Tree, where: str, columns: int, depth: int) -> Self:
        """Return the features of one of ``columns`` inputs."""
        column = as_whole(fields["column"], f"{where}.column", 0, columns - 1)
        return cls(inducing_from_json(fields["inner"], f"{where}.inner"), column, columns)

    def specify(self) -> Tree:
        """Return the input's number and the tree of its features."""
        return {"column": self.column, "inner": feature_tree(self.inner)}

    @staticmethod
    def formula(tree: Tree, U: Any, library: Library) -> Any:
        """Return the features of the one input."""
        column = int(tree["column"])
        return evaluate(tree["inner"], U[:, column : column + 1], library)


MAP = ColumnFeatures
