"""Features of a product kernel on a grid, from its one-dimensional factors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any, ClassVar, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import LARGEST, ModelFileError, as_items
from dpgp.features.base import Tree, columnwise_kronecker
from dpgp.features.files import features_to_json, inducing_from_json
from dpgp.features.inducing import InducingFeatures
from dpgp.features.placement import Grid
from dpgp.features.registry import evaluate, feature_tree
from dpgp.types import Array


@dataclass(frozen=True)
class GridFeatures:
    r"""The same for a product of one-dimensional kernels on a grid: a Kronecker product.

    .. math:: \phi(x) = \phi_1(x_1) \otimes \dots \otimes \phi_D(x_D)
    """

    tree_type: ClassVar[str] = "grid"
    fields: ClassVar[tuple[str, ...]] = ("factors",)
    javascript: ClassVar[str] = """(tree) => {
    const factors = tree.factors.map(featureMap);
    return (u) => factors.map((map, d) => map(u.subarray(d, d + 1))).reduce(kronecker);
  }"""

    factors: Sequence[InducingFeatures]

    @classmethod
    def of(cls, kernels: Sequence[Any], grid: Grid) -> GridFeatures:
        """Return the features of one kernel an axis."""
        pairs = zip(kernels, grid.axes, strict=True)
        return cls([InducingFeatures(kernel, axis[:, None]) for kernel, axis in pairs])

    @property
    def dimension(self) -> int:
        """Number of grid points."""
        return math.prod(factor.dimension for factor in self.factors)

    @cached_property
    def anchors(self) -> Array:
        """The grid's points; the last axis runs fastest."""
        return Grid(tuple(factor.anchors[:, 0] for factor in self.factors)).points

    @cached_property
    def projection(self) -> Array:
        """The Kronecker product of the axes' projections."""
        projections = [factor.projection for factor in self.factors]
        return reduce(lambda a, b: np.asarray(np.kron(a, b)), projections)

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the columnwise Kronecker product of the axes' features."""
        columns = (U[:, [n]] for n in range(U.shape[1]))
        one_dimensional = [f.evaluate(u) for f, u in zip(self.factors, columns, strict=True)]
        return columnwise_kronecker(one_dimensional, out)

    @property
    def most_anchors(self) -> int:
        """Number of grid points."""
        return self.dimension

    def to_json(self) -> Tree:
        """Return the features of every axis."""
        return {"factors": [features_to_json(factor) for factor in self.factors]}

    @classmethod
    def from_json(cls, fields: Tree, where: str, columns: int, depth: int) -> Self:
        """Return the features of one kernel an axis."""
        items = as_items(fields["factors"], f"{where}.factors", columns)
        if len(items) != columns:
            raise ModelFileError(f"`{where}` must have one factor for each of {columns} inputs.")
        features = cls([inducing_from_json(item, f"{where}.factors") for item in items])
        if features.dimension > LARGEST:  # before the points of the grid are written out
            raise ModelFileError(f"`{where}` must have at most {LARGEST} grid points.")
        return features

    def specify(self) -> Tree:
        """Return the trees of the axes."""
        return {"factors": [feature_tree(factor) for factor in self.factors]}

    @staticmethod
    def formula(tree: Tree, U: Any, library: Library) -> Any:
        """Return φ_1(x_1) ⊗ … ⊗ φ_D(x_D)."""
        axes = (evaluate(f, U[:, d : d + 1], library) for d, f in enumerate(tree["factors"]))
        return reduce(partial(_kronecker_rows, library), axes)


def _kronecker_rows(library: Library, first: Any, second: Any) -> Any:
    product = library.einsum("na,nb->nab", first, second)
    return library.reshape(product, (-1, first.shape[1] * second.shape[1]))


MAP = GridFeatures
