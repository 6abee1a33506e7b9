"""Independent noise at every point, as a part of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.kernels.base import Box, Tree
from dpgp.kernels.envelopes import BoxCells, Envelope, constant_envelope
from dpgp.kernels.leaf import Leaf
from dpgp.kernels.parameters import Measure, Parameter

Array = NDArray[np.float64]


class WhiteRule(Leaf):
    """Variance v at each point, k(x, x) = v, and 0 between draws, also at equal points."""

    name = "WhiteKernel"
    part = "white part"
    parameters = (Parameter("noise_level", "size", Measure.VARIANCE, may_be_zero=True),)
    javascript = """{
    gram: (tree, Z) => rowsFrom(tree.noise_level.map(() => [0]), Z.length),
    diagonal: (tree) => rowsFrom(tree.noise_level, 1),
  }"""

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return 0."""
        return 0.0 * tree["noise_level"][:, :, None]

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return v."""
        return tree["noise_level"]

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return v."""
        return float(kernel.noise_level)

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return 0: cov(ε(x), ε(z)) = 0 between different draws, also at x = z."""
        return constant_envelope(0.0, cells)

    def is_gaussian_mixture(self, kernel: Any) -> bool:
        """Return True: 0 is one of no weight."""
        return True

    def inverse_scales(self, kernel: Any, columns: int) -> Array:
        """Return none: 0 does not depend on inputs."""
        return np.empty((0, columns))


RULE = WhiteRule()
