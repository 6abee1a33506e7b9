"""Straight lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library, transposed
from dpgp.kernels.base import Box, Tree
from dpgp.kernels.envelopes import ROUNDING, BoxCells, Envelope
from dpgp.kernels.leaf import Leaf
from dpgp.kernels.parameters import Measure, Parameter

Array = NDArray[np.float64]


class DotProductRule(Leaf):
    r"""Lines with slopes of variance 1 and an offset, :math:`k(x, y) = \sigma_0^2 + x^\top y`."""

    name = "DotProduct"
    part = "straight part"
    parameters = (Parameter("sigma_0", "offset", Measure.DEVIATION, may_be_zero=True),)
    javascript = """{
    gram: (tree, Z) => {
      const buffer = new Float64Array(draws(tree) * Z.length);
      return (x) => {
        const products = Z.map((z) => dot(x, z));
        tree.sigma_0.forEach(([sigma], t) => products.forEach((product, j) => {
          buffer[t * Z.length + j] = sigma * sigma + product;
        }));
        return buffer;
      };
    },
    diagonal: (tree) => (x) => Float64Array.from(tree.sigma_0, ([s]) => s * s + dot(x, x)),
    addWeighted: (tree, Z, weights) => {  // Σ_t ω_t (σ_t² + x·z)
      const offset = dot(weights, tree.sigma_0.map(([sigma]) => sigma * sigma));
      const slope = weights.reduce((sum, weight) => sum + weight, 0);
      return (x, out) => {
        for (let j = 0; j < out.length; j += 1) out[j] += offset + slope * dot(x, Z[j]);
      };
    },
  }"""

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return σ₀² + xᵀy."""
        return tree["sigma_0"][:, :, None] ** 2 + X @ transposed(Y, library)

    def weighted_gram(self, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t (σ_t² + xᵀy)."""
        return np.asarray(weights @ tree["sigma_0"][:, 0] ** 2 + weights.sum() * (X @ Y.T))

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return σ₀² + ‖x‖²."""
        return tree["sigma_0"] ** 2 + library.einsum("nd,nd->n", X, X)

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return σ₀² + max ‖x‖², which the box reaches in a corner."""
        if box is None:
            raise ValueError(
                "`kernel` must have a bounded variance, and DotProduct grows without limit; "
                "give public `bounds` for the inputs, or wrap it in NormalizedKernel."
            )
        corner = np.maximum(np.abs(box[0]), np.abs(box[1]))
        return float(kernel.sigma_0**2 + corner @ corner)

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return the range of a linear function, from its ends along every column."""
        ends = np.stack([x[:, None, :] * cells.points for x in (cells.low, cells.high)])
        offset = kernel.sigma_0**2
        error = ROUNDING * (offset + np.abs(ends).max(axis=0).sum(axis=-1))
        low = offset + ends.min(axis=0).sum(axis=-1) - error
        high = offset + ends.max(axis=0).sum(axis=-1) + error
        return Envelope.flat(low, high, cells.points.shape[1])


RULE = DotProductRule()
