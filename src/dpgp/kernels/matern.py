"""Matérn kernels: rougher than the squared exponential."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import SMALLEST_SQUARE, Library
from dpgp.kernels.base import Tree
from dpgp.kernels.own import OWN, OWN_TYPE
from dpgp.kernels.radial import LENGTHS, Radial

Array = NDArray[np.float64]

JAVASCRIPT = {
    "Matern0.5": "radialKernel((s) => Math.exp(-Math.sqrt(s)))",
    "Matern1.5": """radialKernel((s) => {
    const t = Math.sqrt(3 * s);
    return (1 + t) * Math.exp(-t);
  })""",
    "Matern2.5": """radialKernel((s) => {
    const t = Math.sqrt(5 * s);
    return (1 + t + t * t / 3) * Math.exp(-t);
  })""",
    "Materninf": "radialKernel((s) => Math.exp(-0.5 * s))",
}


class MaternRule(Radial):
    r"""Functions with ν − ½ derivatives: a polynomial in r times :math:`\exp(-\sqrt{2\nu}\,r)`.

    Closed forms for ν of 1/2, 3/2 and 5/2 (Rasmussen & Williams 2006, eq. 4.17), and the squared
    exponential for ν = ∞. Any other ν has Bessel functions, which only scikit-learn computes.
    """

    name = "Matern"
    part = "smooth part"
    parameters = (LENGTHS,)
    others = ("nu",)

    def scripts(self) -> dict[str, str]:
        """Return one formula for each ν."""
        return JAVASCRIPT

    def tree_type(self, kernel: Any) -> str:
        """Return the name of the formula for ν."""
        name = f"Matern{float(kernel.nu)}"
        return name if name in JAVASCRIPT else OWN_TYPE

    def specify(self, kernel: Any, thetas: Any) -> Tree:
        """Return the length scales, or the kernel itself where ν has no closed form."""
        own = self.tree_type(kernel) == OWN_TYPE
        return OWN.specify(kernel, thetas) if own else super().specify(kernel, thetas)

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return a plain kernel, or scikit-learn's where ν has no closed form."""
        kernel = super().from_json(value, where, columns, depth)
        return self.as_sklearn(kernel) if self.tree_type(kernel) == OWN_TYPE else kernel

    def gram_of(self, kernel: Any, X: Array, Y: Array) -> Array:
        """Return the closed form, or what the kernel says where there is none."""
        own = self.tree_type(kernel) == OWN_TYPE
        return np.asarray(kernel(X, Y)) if own else super().gram_of(kernel, X, Y)

    def radial(self, tree: Tree, squares: Any, library: Library) -> Any:
        """Return e⁻ᵗ times 1, 1 + t, or 1 + t + t²/3, with t = √(2ν s)."""
        if tree["type"] == "Materninf":
            return library.exp(-0.5 * squares)
        r = library.sqrt(squares + SMALLEST_SQUARE)
        if tree["type"] == "Matern0.5":
            return library.exp(-r)
        if tree["type"] == "Matern1.5":
            t = 3.0**0.5 * r
            return (1.0 + t) * library.exp(-t)
        t = 5.0**0.5 * r
        return (1.0 + t + t * t / 3.0) * library.exp(-t)


RULE = MaternRule()
