"""The rational quadratic: squared exponentials of many lengths at once."""

from __future__ import annotations

from typing import Any

from dpgp.arithmetic import Library
from dpgp.kernels.base import Tree
from dpgp.kernels.parameters import Measure, Parameter
from dpgp.kernels.radial import ONE_LENGTH, Radial


class RationalQuadraticRule(Radial):
    r"""Smooth on several scales, :math:`k(x, y) = (1 + \|x - y\|^2/(2\alpha\ell^2))^{-\alpha}`."""

    name = "RationalQuadratic"
    part = "smooth part"
    parameters = (ONE_LENGTH, Parameter("alpha", "alpha", Measure.NUMBER))
    javascript = """radialKernel(
    (s, tree, t) => Math.pow(1 + s / (2 * tree.alpha[t][0]), -tree.alpha[t][0]))"""

    def radial(self, tree: Tree, squares: Any, library: Library) -> Any:
        """Return (1 + s/(2α))^−α."""
        alpha = tree["alpha"][:, :, None]
        return (1.0 + squares / (2.0 * alpha)) ** -alpha


RULE = RationalQuadraticRule()
