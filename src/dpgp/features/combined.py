"""Maps made of others: of one input among several, of a grid's axes, and several side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from typing import Any, ClassVar, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import (
    LARGEST,
    ModelFileError,
    as_items,
    as_positive,
    as_whole,
    number_to_json,
)
from dpgp.features.base import (
    Tree,
    WrittenMap,
    columnwise_kronecker,
    evaluate,
    feature_tree,
    features_from_json,
    features_to_json,
    least_squares,
    side_by_side,
)
from dpgp.features.inducing import InducingFeatures, inducing_from_json
from dpgp.point_sets import Grid
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
