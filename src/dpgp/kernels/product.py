"""The product of two kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.kernels.base import Tree
from dpgp.kernels.bounds import envelope
from dpgp.kernels.constant import RULE as CONSTANT
from dpgp.kernels.envelopes import BoxCells, Envelope
from dpgp.kernels.formula import weighted_gram
from dpgp.kernels.pair import Pair
from dpgp.kernels.plain import PlainKernel
from dpgp.kernels.registry import part_of, rule_of

Array = NDArray[np.float64]


class ProductRule(Pair):
    r"""Alike where both find it so, :math:`k(x, y) = k_1(x, y)\,k_2(x, y)`."""

    name = "Product"
    sign = "*"
    part = "product"
    javascript = """{
    ...pairKernel((first, second) => first * second),
    addWeighted: (tree, Z, weights) => {  // a constant joins the weights
      const k = tree.parts.findIndex((part) => KERNELS[part.type].scalar);
      if (k < 0) return addWeightedRows(gram(tree, Z), weights);
      const values = KERNELS[tree.parts[k].type].scalar(tree.parts[k]);
      return addWeighted(tree.parts[1 - k], Z, weights.map((weight, t) => weight * values[t][0]));
    },
  }"""

    def combine(self, first: Any, second: Any) -> Any:
        """Return the product."""
        return first * second

    def weighted_gram(self, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return the other kernel's where one is a constant, which joins the weights."""
        first, second = tree["parts"]
        for factor, other in ((first, second), (second, first)):
            if factor["type"] == CONSTANT.name:
                return weighted_gram(other, weights * factor["constant_value"][:, 0], X, Y)
        return super().weighted_gram(tree, weights, X, Y)

    def scales(self, other: Any) -> str | None:
        """Say that a size is the size of the other kernel."""
        return part_of(other)

    def factors(self, kernel: Any, columns: int) -> list[Any] | None:
        """Return the products of both kernels' factors."""
        first = rule_of(kernel.k1).factors(kernel.k1, columns)
        second = rule_of(kernel.k2).factors(kernel.k2, columns)
        if first is None or second is None:
            return None
        pairs = zip(first, second, strict=True)
        return [PlainKernel(self.name, k1=a, k2=b) for a, b in pairs]

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return the product of both envelopes."""
        return envelope(kernel.k1, cells) * envelope(kernel.k2, cells)


RULE = ProductRule()
