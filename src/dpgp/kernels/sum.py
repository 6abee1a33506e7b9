"""The sum of two kernels: the sum of two independent functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.kernels.base import Tree
from dpgp.kernels.bounds import envelope
from dpgp.kernels.envelopes import BoxCells, Envelope
from dpgp.kernels.formula import weighted_gram
from dpgp.kernels.pair import Pair

Array = NDArray[np.float64]


class SumRule(Pair):
    r"""Two functions on top of each other, :math:`k(x, y) = k_1(x, y) + k_2(x, y)`."""

    name = "Sum"
    sign = "+"
    part = "sum"
    javascript = """{
    ...pairKernel((first, second) => first + second),
    addWeighted: (tree, Z, weights) => {
      const [first, second] = tree.parts.map((part) => addWeighted(part, Z, weights));
      return (x, out) => { first(x, out); second(x, out); };
    },
  }"""

    def combine(self, first: Any, second: Any) -> Any:
        """Return the sum."""
        return first + second

    def weighted_gram(self, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return the sum of both."""
        first, second = (weighted_gram(part, weights, X, Y) for part in tree["parts"])
        return first + second

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return the sum of both envelopes."""
        return envelope(kernel.k1, cells) + envelope(kernel.k2, cells)


RULE = SumRule()
