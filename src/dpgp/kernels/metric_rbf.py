"""A smooth function in a metric of all inputs together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library, transposed
from dpgp.checked_values import ModelFileError, as_fields, as_matrix, as_positive
from dpgp.kernels.base import Box, Tree
from dpgp.kernels.leaf import Leaf
from dpgp.kernels.parameters import Measure, Parameter
from dpgp.kernels.plain import PlainKernel

Array = NDArray[np.float64]


class MetricRBF(PlainKernel):
    r"""A smooth function in a metric, :math:`k(x, y) = \exp(-\|L^\top(x - y)\|^2/2\ell^2)`.

    ``root`` is L, one row an input. Radhakrishnan et al. (2024), "Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models".
    """

    root: Any
    length_scale: float

    def __init__(
        self, root: Any, length_scale: float = 1.0, length_scale_bounds: str | None = None
    ) -> None:
        bounds = {"length_scale_bounds": length_scale_bounds}
        super().__init__("MetricRBF", root=root, length_scale=length_scale, **bounds)

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of covariances between the rows of ``X`` and those of ``Y``."""
        A = self._mapped(X)
        B = A if Y is None else self._mapped(Y)
        # ‖a − b‖² = ‖a‖² + ‖b‖² − 2aᵀb, in place: these arrays are large
        squares = np.matmul(A, -2.0 * B.T)
        squares += (A**2).sum(axis=1)[:, None]
        squares += (B**2).sum(axis=1)[None, :]
        np.maximum(squares, 0.0, out=squares)
        squares *= -0.5
        np.exp(squares, out=squares)
        if Y is None:
            np.fill_diagonal(squares, 1.0)
        return np.asarray(squares)

    def diag(self, X: Any) -> Array:
        """Return the variances at the rows of ``X``, all one."""
        return np.ones(len(X))

    def _mapped(self, X: Any) -> Array:
        # one column a row: of many inputs, BLAS computes a row otherwise at another place
        return np.asarray(((np.asarray(self.root) / self.length_scale).T @ np.asarray(X).T).T)


class MetricRBFRule(Leaf):
    r"""Smooth in a metric, :math:`k(x, y) = \exp(-\|L^\top(x - y)\|^2/2\ell^2)`."""

    name = "MetricRBF"
    part = "smooth part in a learned metric"
    parameters = (
        Parameter("length_scale", "factor of all lengths", Measure.NUMBER, lambda D: 0.0, 0.5),
    )
    javascript = """{
    gram: (tree, Z) => {
      const mapped = (x) => Float64Array.from(
        tree.root[0], (_, j) => tree.root.reduce((sum, row, i) => sum + row[j] * x[i], 0));
      const all = Z.map(mapped), buffer = new Float64Array(draws(tree) * Z.length);
      return (x) => {
        const a = mapped(x);
        all.forEach((b, j) => {
          const square = a.reduce((sum, value, d) => sum + (value - b[d]) ** 2, 0);
          tree.length_scale.forEach(([length], t) => {
            buffer[t * Z.length + j] = Math.exp(-0.5 * square / length ** 2);
          });
        });
        return buffer;
      };
    },
    diagonal: (tree) => rowsFrom(tree.length_scale.map(() => [1]), 1),
  }"""

    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return the lengths and L."""
        root = np.asarray(kernel.root, dtype=np.float64)
        return {**super().specify(kernel, thetas), "root": root}

    def tree_of(self, kernel: Any) -> Tree:
        """Return the length and L."""
        return {**super().tree_of(kernel), "root": np.asarray(kernel.root, dtype=np.float64)}

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return exp(−‖Lᵀ(x − y)‖²/2ℓ²)."""
        A, B = (transposed(tree["root"], library) @ transposed(M, library) for M in (X, Y))
        norms_x, norms_y = (library.einsum("dn,dn->n", M, M) for M in (A, B))
        squares = norms_x[:, None] + norms_y[None, :] - 2.0 * (transposed(A, library) @ B)
        nonnegative = library.clip(squares, 0.0, np.inf)
        precisions = tree["length_scale"][:, :, None] ** -2.0
        return library.exp(-0.5 * nonnegative[None, :, :] * precisions)

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return 1."""
        return 1.0 + 0.0 * tree["length_scale"]

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return 1."""
        return 1.0

    def to_json(self, kernel: Any) -> Tree:
        """Return the length and L."""
        return {**super().to_json(kernel), "root": np.asarray(kernel.root).tolist()}

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return the kernel with this length and L, a row an input."""
        names = ("type", "length_scale", "fixed", "root")
        fields = dict(as_fields(value, where, names))
        root = as_matrix(fields.pop("root"), f"{where}.root", columns)
        if len(root) != columns:
            raise ModelFileError(f"`{where}.root` must have a row for each of {columns} inputs.")
        length = as_positive(fields["length_scale"], f"{where}.length_scale")
        bounds = {"length_scale_bounds": "fixed"} if fields["fixed"] else {}
        return MetricRBF(root, length, **bounds)

    def inverse_scales(self, kernel: Any, columns: int) -> Array:
        """Return how fast functions change along every input, √(LLᵀ)_nn/ℓ."""
        norms = np.linalg.norm(np.asarray(kernel.root, dtype=np.float64), axis=1)
        return np.asarray(norms[None, :] / kernel.length_scale)


RULE = MetricRBFRule()
