"""Features of norm at most one for any kernel and any inducing points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import as_matrix
from dpgp.features.base import Tree, inverse_root
from dpgp.kernels.bounds import variance_bound
from dpgp.kernels.files import kernel_from_json, kernel_to_json
from dpgp.kernels.formula import exported_tree, gram_in_place, mean_gram
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
    const k = meanGram(tree.kernel, tree.anchors), P = matrix(tree.projection);
    const out = new Float64Array(tree.anchors.length);
    return (u) => times(P, k(u), out);
  }"""

    kernel: Any
    anchors: Array

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
        return np.matmul(self._scaled_projection, values, out=out)

    @cached_property
    def _scaled_projection(self) -> Array:
        return np.asarray(self.projection / self._variance)

    def kernel_values(self, U: Array) -> Array:
        """Return k_Z(x) of the kernel scaled to unit variance, as columns."""
        values = gram_in_place(self.kernel, self.anchors, U)
        return np.divide(values, self._variance, out=values)

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
            "projection": self._scaled_projection,
        }

    @staticmethod
    def formula(tree: Tree, U: Any, library: Library) -> Any:
        """Return k(x, Z) K_ZZ^{−1/2}."""
        K_xz = mean_gram(tree["kernel"], U, tree["anchors"], library)
        return library.einsum("nz,pz->np", K_xz, tree["projection"])


MAP = InducingFeatures
