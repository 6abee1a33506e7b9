"""The squared exponential."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sk

from dpgp.arithmetic import Library
from dpgp.kernels.base import Tree
from dpgp.kernels.radial import LENGTHS, Radial


class RBFRule(Radial):
    r"""Smooth functions, :math:`k(x, y) = \exp(-\tfrac12 \sum_n (x_n - y_n)^2/\ell_n^2)`."""

    kind = sk.RBF
    part = "smooth part (RBF)"
    parameters = (LENGTHS,)
    javascript = "separableKernel((s) => Math.exp(-0.5 * s))"

    def radial(self, tree: Tree, squares: Any, library: Library) -> Any:
        """Return exp(−s/2)."""
        return library.exp(-0.5 * squares)

    def factors(self, kernel: Any, columns: int) -> list[Any] | None:
        """Return exp(−½ (x_n − y_n)²/ℓ_n²) for every column."""
        return [sk.RBF(length) for length in np.broadcast_to(kernel.length_scale, columns)]


RULE = RBFRule()
