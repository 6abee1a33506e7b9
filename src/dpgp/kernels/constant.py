"""The same value everywhere: an unknown level, or the size of what it multiplies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.kernels.base import Box, Tree
from dpgp.kernels.envelopes import BoxCells, Envelope, constant_envelope
from dpgp.kernels.leaf import Leaf
from dpgp.kernels.parameters import LOG_VARIANCE_SD, Measure, Parameter, third_of_the_range
from dpgp.kernels.plain import constant

Array = NDArray[np.float64]


class ConstantRule(Leaf):
    """One variance v for all points, k(x, y) = v."""

    name = "ConstantKernel"
    part = "constant part"
    parameters = (
        Parameter(
            "constant_value",
            "size",
            Measure.VARIANCE,
            third_of_the_range,
            LOG_VARIANCE_SD,
            may_be_zero=True,
        ),
    )
    javascript = """{
    gram: (tree, Z) => rowsFrom(tree.constant_value, Z.length),
    diagonal: (tree) => rowsFrom(tree.constant_value, 1),
    addWeighted: (tree, Z, weights) => {
      const sum = dot(weights, tree.constant_value.map(([value]) => value));
      return (x, out) => { for (let j = 0; j < out.length; j += 1) out[j] += sum; };
    },
    scalar: (tree) => tree.constant_value,
  }"""

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return v."""
        return tree["constant_value"][:, :, None]

    def weighted_gram(self, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t v_t."""
        return np.full((len(X), len(Y)), weights @ tree["constant_value"][:, 0])

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return v."""
        return tree["constant_value"]

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return v."""
        return float(kernel.constant_value)

    def text(self, kernel: Any) -> str:
        """Return v as a square."""
        return f"{math.sqrt(kernel.constant_value):.3g}**2"

    def factors(self, kernel: Any, columns: int) -> list[Any] | None:
        """Return v and ones."""
        return [kernel] + [constant(1.0)] * (columns - 1)

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return v above and below."""
        return constant_envelope(float(kernel.constant_value), cells)

    def is_gaussian_mixture(self, kernel: Any) -> bool:
        """Return whether v ≥ 0: a Gaussian of infinite length."""
        return bool(kernel.constant_value >= 0.0)

    def inverse_scales(self, kernel: Any, columns: int) -> Array:
        """Return none: a constant does not depend on inputs."""
        return np.empty((0, columns))


RULE = ConstantRule()
