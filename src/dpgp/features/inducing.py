"""Features of kernel values at inducing points, for any kernel and any points, of norm at most one.

Whitened; a few directions of those, for a stage; and as they are, as in Honkela & Melkas (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.blas import aligned
from dpgp.checked_values import as_choice, as_fields, as_matrix
from dpgp.features.base import (
    JITTER,
    SLACK,
    FeatureMap,
    Tree,
    WhitenedMap,
    columnwise_kronecker,
    inverse_root,
    weighted,
)
from dpgp.kernels.base import takes_vectors
from dpgp.kernels.bounds import product_factors, variance_bound
from dpgp.kernels.combined import split
from dpgp.kernels.formula import exported_tree, gram_in_place, mean_gram
from dpgp.kernels.known import as_kernel, kernel_from_json, kernel_to_json
from dpgp.point_sets import as_grid
from dpgp.types import Array


@dataclass(frozen=True)
class InducingFeatures:
    r"""Nyström features :math:`\phi(x) = K_{ZZ}^{-1/2} k_Z(x)` of a reference kernel.

    :math:`\|\phi(x)\|^2 = k_Z(x)^\top K_{ZZ}^{-1} k_Z(x) \le k(x, x) \le 1`, by the Schur
    complement; a kernel with a larger variance is divided by its bound.
    """

    tree_type: ClassVar[str] = "inducing"
    fields: ClassVar[tuple[str, ...]] = ("kernel", "anchors")
    javascript: ClassVar[str] = """(tree) => {
    const k = meanGram(tree.kernel, tree.anchors), P = whitening(tree);
    const out = new Float64Array(tree.anchors.length);
    return (u) => times(P, k(u), out);
  }"""

    kernel: Any
    anchors: Array

    def __post_init__(self) -> None:
        # as a file gives them back: their order in memory decides on last bits
        object.__setattr__(self, "anchors", np.ascontiguousarray(self.anchors))

    @property
    def dimension(self) -> int:
        """Number of inducing points."""
        return len(self.anchors)

    @cached_property
    def projection(self) -> Array:
        """(K_ZZ + jitter·I)^{−1/2} of the kernel scaled to unit variance."""
        return inverse_root(np.asarray(self.kernel(self.anchors)) / self._variance)

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return K_ZZ^{−1/2} k_Z(x) as columns."""
        values = gram_in_place(self.kernel, self.anchors, U)
        return np.matmul(self.scaled_projection, values, out=out)

    def evaluate_part(self, part: Any, U: Array) -> Array:
        """Return what a part p of the kernel adds to the features, K_ZZ^{−1/2} p_Z(x)."""
        return np.asarray(self.scaled_projection @ gram_in_place(part, self.anchors, U))

    @cached_property
    def scaled_projection(self) -> Array:
        """The projection of values of the kernel as it is."""
        return np.asarray(self.projection / self._variance)

    @property
    def root(self) -> Tree:
        """What a root of K_ZZ is made with: what divides the kernel, and what its diagonal gets."""
        return {"variance": self._variance, "jitter": JITTER}

    @cached_property
    def _variance(self) -> float:
        D = self.anchors.shape[1]
        return max(variance_bound(self.kernel, (np.full(D, -1.0), np.ones(D))), 1.0)

    @property
    def most_anchors(self) -> int:
        """The number of inducing points."""
        return len(self.anchors)

    def to_json(self) -> Tree:
        """Return the kernel and the points."""
        return {"kernel": kernel_to_json(self.kernel), "anchors": self.anchors.tolist()}

    @classmethod
    def from_json(cls, fields: Tree, where: str, columns: int, depth: int) -> Self:
        """Return the features of a kernel at points."""
        kernel = kernel_from_json(fields["kernel"], f"{where}.kernel", columns)
        return cls(kernel, as_matrix(fields["anchors"], f"{where}.anchors", columns))

    def specify(self) -> Tree:
        """Return the kernel's tree, the points, and K_ZZ^{−1/2}."""
        return {
            "kernel": exported_tree(self.kernel, self.kernel.theta[None]),
            "anchors": self.anchors,
            "projection": self.scaled_projection,
        }

    @staticmethod
    def formula(tree: Tree, U: Any, library: Library) -> Any:
        """Return k(x, Z) K_ZZ^{−1/2}."""
        K_xz = mean_gram(tree["kernel"], U, tree["anchors"], library)
        return library.einsum("nz,pz->np", K_xz, tree["projection"])


def inducing_from_json(value: Any, where: str) -> InducingFeatures:
    """Return the one-dimensional features of inducing points that an object describes."""
    fields = as_fields(value, where, ("type", *InducingFeatures.fields))
    as_choice(fields["type"], f"{where}.type", (InducingFeatures.__name__,))
    return InducingFeatures.from_json(fields, where, 1, depth=1)


ROWS_AT_A_TIME = 512
"""Rows whose kernel values are computed at a time: a few megabytes, which caches hold."""


@dataclass(frozen=True)
class DictionaryValues:
    """What functions of a dictionary are sums of: kernel values at its points, or its features.

    Whoever wants a few sums need not whiten all kernel values first. Parts of the kernel with few
    functions give these themselves, F(x) of F(Z)F(x)ᵀ, and not their values at every point.
    """

    inner: WhitenedMap

    @property
    def dimension(self) -> int:
        """Number of values."""
        return int(self.inner.dimension + self._thin_at_anchors.shape[1])

    def weights(self, w: Array) -> Array:
        """Return weights on the values of functions φ₀(x)ᵀw."""
        if not isinstance(self.inner, InducingFeatures):
            return w
        on_kernel = np.asarray(w @ self.inner.scaled_projection)
        return np.concatenate([on_kernel, on_kernel @ self._thin_at_anchors], axis=-1)

    def whitened(self, sums: Array) -> Array:
        """Return sums of features φ₀(x) from sums of values, as columns."""
        if not isinstance(self.inner, InducingFeatures):
            return sums
        dense, thin = np.split(sums, [self.inner.dimension])
        return np.asarray(self.inner.scaled_projection @ (dense + self._thin_at_anchors @ thin))

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the values at the rows of ``U`` as columns."""
        if not isinstance(self.inner, InducingFeatures):
            return self.inner.evaluate(U, out)
        values = np.empty((self.dimension, len(U))) if out is None else out
        thin, dense = self._parts
        points = self.inner.dimension
        values[:points] = 0.0 if dense is None else dense.values(self.inner.anchors, U)
        if thin is not None:
            values[points:] = thin.factor(U).T
        return values

    def sums(self, weights: Array, U: Array) -> Array:
        """Return weighted sums of the values, a few rows at a time: their values stay in cache."""
        sums = np.empty((len(weights), len(U)))
        for start in range(0, len(U), ROWS_AT_A_TIME):
            few = slice(start, start + ROWS_AT_A_TIME)
            sums[:, few] = weighted(weights, self.evaluate(U[few]))
        return sums

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        """The terms of the kernel that have factors, and the others."""
        assert isinstance(self.inner, InducingFeatures)
        return split(as_kernel(self.inner.kernel), self.inner.anchors)

    @cached_property
    def _thin_at_anchors(self) -> Array:
        """F(Z)."""
        if not isinstance(self.inner, InducingFeatures) or self._parts[0] is None:
            return np.empty((self.inner.dimension, 0))
        return np.asarray(self._parts[0].factor(self.inner.anchors))


@dataclass(frozen=True)
class ProjectedFeatures:
    r""":math:`\phi(x) = v/\max(\|v\|, a)`, :math:`v = P^\top\phi_0(x)`, for features φ₀.

    The norm is at most one for any P and any φ₀, hence for any function of earlier releases.
    """

    inner: WhitenedMap
    P: Array  # (d, N)
    smallest_norm: float

    @property
    def dimension(self) -> int:
        """Number of directions."""
        return int(self.P.shape[1])

    @cached_property
    def _values(self) -> DictionaryValues:
        return DictionaryValues(self.inner)

    @cached_property
    def _coefficients(self) -> Array:
        return self._values.weights(self.P.T)

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of the rows of ``U`` as columns of norm at most one."""
        return self.evaluate_with_sums(U, np.empty((0, self._values.dimension)), out)[0]

    def evaluate_with_sums(
        self, U: Array, weights: Array, out: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the features, and weighted sums of the values that they are made of.

        Of a few rows at a time, so that their values stay in the cache.
        """
        features = np.empty((self.dimension, len(U))) if out is None else out
        sums, values = np.empty((len(weights), len(U))), self._values
        room = aligned(values.dimension, ROWS_AT_A_TIME)
        for start in range(0, len(U), ROWS_AT_A_TIME):
            few = slice(start, start + ROWS_AT_A_TIME)
            inner = values.evaluate(U[few], room[:, : len(U[few])])
            found = np.matmul(self._coefficients, inner, out=features[:, few])
            squares = np.einsum("dn,dn->n", found, found)
            found *= SLACK / np.maximum(np.sqrt(squares), self.smallest_norm)
            sums[:, few] = weighted(weights, inner)
        return features, sums


@dataclass(frozen=True)
class KernelFeatures:
    r"""Kernel values with the inducing points, :math:`k_Z(x)/R_k` (HM21 eq. 3)."""

    kernel: Any
    inducing_points: Any
    norm_bound: float

    @property
    def dimension(self) -> int:
        """Number of inducing points."""
        return len(self.inducing_points)

    @property
    def rows_per_call(self) -> int | None:
        """One for kernels on strings or graphs, whose calls gain nothing from blocks."""
        return None if takes_vectors(self.kernel) else 1

    @property
    def filler(self) -> Any:
        """The first inducing point."""
        return self.inducing_points[0]

    def evaluate(self, X: Any, out: Array | None = None) -> Array:
        """Return k(z_j, x_i)/R_k in row j, column i."""
        values = np.asarray(self.kernel(self.inducing_points, X))
        return np.asarray(np.divide(values, self.norm_bound, out=out))


@dataclass(frozen=True)
class GridKernelFeatures:
    r"""The same for a product kernel on a grid, from its one-dimensional factors.

    .. math:: k_Z(x) = k_1(x_1) \otimes \dots \otimes k_D(x_D)
    """

    factors: Sequence[Any]
    axes: Sequence[Array]
    norm_bound: float
    rows_per_call: int | None = None

    @property
    def dimension(self) -> int:
        """Number of grid points."""
        return int(np.prod([len(axis) for axis in self.axes]))

    @property
    def filler(self) -> Array:
        """The first grid point."""
        return np.array([axis[0] for axis in self.axes])

    def evaluate(self, X: Array, out: Array | None = None) -> Array:
        """Return k(z_j, x_i)/R_k in row j, column i."""
        one_dimensional = [
            gram_in_place(kernel, axis[:, None], column[:, None])
            for kernel, axis, column in zip(self.factors, self.axes, X.T, strict=True)
        ]
        one_dimensional[0] /= self.norm_bound
        return columnwise_kronecker(one_dimensional, out)


def kernel_features(kernel: Any, inducing_points: Any, norm_bound: float) -> FeatureMap:
    """Return k_Z(x)/R_k, by the fast path where the kernel is a product and the points a grid."""
    if takes_vectors(kernel):
        grid = as_grid(inducing_points)
        factors = product_factors(kernel, inducing_points.shape[1])
        if grid is not None and factors is not None:
            return GridKernelFeatures(factors, grid.axes, norm_bound)
    return KernelFeatures(kernel, inducing_points, norm_bound)
