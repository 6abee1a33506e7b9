"""Several maps side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import LARGEST, ModelFileError, as_items, as_positive, number_to_json
from dpgp.features.base import Tree, WrittenMap, least_squares, side_by_side
from dpgp.features.column import ColumnFeatures
from dpgp.features.files import features_from_json, features_to_json
from dpgp.features.inducing import InducingFeatures
from dpgp.features.registry import evaluate, feature_tree
from dpgp.types import Array


@dataclass(frozen=True)
class ConcatenatedFeatures:
    r"""Several maps side by side, each with a share of the squared norm; shares add up to one.

    .. math:: \phi(x) = (\sqrt{a_1}\,\phi_1(x), \dots, \sqrt{a_m}\,\phi_m(x)), \quad \sum a_i = 1
    """

    tree_type: ClassVar[str] = "concatenated"
    fields: ClassVar[tuple[str, ...]] = ("shares", "maps")
    javascript: ClassVar[str] = """(tree) => {
    const maps = tree.maps.map(featureMap);
    return (u) => Float64Array.from(maps.flatMap(
      (map, i) => Array.from(map(u), (value) => tree.roots[i] * value)));
  }"""

    maps: Sequence[WrittenMap]
    shares: Sequence[float]
    _roots: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.maps) != len(self.shares) or min(self.shares) <= 0.0:
            raise ValueError("`shares` must hold one positive number for each map.")
        # √(s/total) rounds: the squares shall not add up to more than one
        total = math.fsum(self.shares) * (1.0 + 1e-15)
        object.__setattr__(self, "_roots", tuple(math.sqrt(s / total) for s in self.shares))

    @property
    def dimension(self) -> int:
        """Number of features of all maps together."""
        return sum(inner.dimension for inner in self.maps)

    @cached_property
    def anchors(self) -> Array:
        """The anchors of all maps."""
        return np.unique(np.vstack([inner.anchors for inner in self.maps]), axis=0)

    @cached_property
    def projection(self) -> Array:
        """Least squares over all anchors."""
        return least_squares(self.evaluate(self.anchors))

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of all maps, scaled by the roots of their shares."""
        phi = np.empty((self.dimension, len(U))) if out is None else out
        start = 0
        for root, inner in zip(self._roots, self.maps, strict=True):
            part = phi[start : start + inner.dimension]
            np.multiply(root, inner.evaluate(U), out=part)
            start += inner.dimension
        return phi

    @property
    def most_anchors(self) -> int:
        """Those of all maps."""
        return sum(inner.most_anchors for inner in self.maps)

    def to_json(self) -> Tree:
        """Return shares and maps."""
        shares = [number_to_json(share) for share in self.shares]
        return {"shares": shares, "maps": [features_to_json(inner) for inner in self.maps]}

    @classmethod
    def from_json(cls, fields: Tree, where: str, columns: int, depth: int) -> Self:
        """Return the maps side by side."""
        items = as_items(fields["maps"], f"{where}.maps", LARGEST)
        given = as_items(fields["shares"], f"{where}.shares", LARGEST)
        shares = [as_positive(share, f"{where}.shares") for share in given]
        if len(shares) != len(items) or not math.isfinite(math.fsum(shares)):
            raise ModelFileError(f"`{where}` must have one share for each of its maps.")
        return cls(
            [features_from_json(i, f"{where}.maps", columns, depth - 1) for i in items], shares
        )

    def specify(self) -> Tree:
        """Return the roots of the shares, and the maps' trees."""
        return {"roots": list(self._roots), "maps": [feature_tree(inner) for inner in self.maps]}

    @staticmethod
    def formula(tree: Tree, U: Any, library: Library) -> Any:
        """Return the features of all maps, scaled by the roots of their shares."""
        pairs = zip(tree["roots"], tree["maps"], strict=True)
        return side_by_side([root * evaluate(m, U, library) for root, m in pairs], library)


def additive_features(kernels: Sequence[Any], points: int) -> ConcatenatedFeatures:
    """Return a sum of one-dimensional functions, one an input, with equal shares of the norm."""
    axis = np.linspace(-1.0, 1.0, points)[:, None]
    columns = len(kernels)
    maps = [ColumnFeatures(InducingFeatures(k, axis), n, columns) for n, k in enumerate(kernels)]
    return ConcatenatedFeatures(maps, [1.0] * columns)


MAP = ConcatenatedFeatures
