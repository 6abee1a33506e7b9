"""A power of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.checked_values import as_fields, as_number, number_to_json
from dpgp.kernels.base import Box, PlainRule, Tree
from dpgp.kernels.bounds import envelope, inverse_scales, is_gaussian_mixture, variance_bound
from dpgp.kernels.envelopes import BoxCells, Envelope
from dpgp.kernels.files import kernel_to_json, kernel_within
from dpgp.kernels.formula import diagonal, gram, specify
from dpgp.kernels.parameters import Learned
from dpgp.kernels.plain import PlainKernel, sklearn_class
from dpgp.kernels.registry import rule_of

Array = NDArray[np.float64]


class ExponentiationRule(PlainRule):
    r"""A kernel times itself, :math:`\tilde k(x, y) = k(x, y)^p`."""

    name = "Exponentiation"
    part = "power"
    javascript = "mappedKernel((value, tree) => Math.pow(value, tree.exponent))"

    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return the tree of the kernel within, and p."""
        parts = [specify(kernel.kernel, thetas)]
        return {"type": self.name, "parts": parts, "exponent": float(kernel.exponent)}

    def tree_of(self, kernel: Any) -> Tree:
        """Return the tree of the kernel within as it is, and p."""
        parts = [rule_of(kernel.kernel).tree_of(kernel.kernel)]
        return {"type": self.name, "parts": parts, "exponent": float(kernel.exponent)}

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return k(x, y)^p."""
        return gram(tree["parts"][0], X, Y, library) ** tree["exponent"]

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return k(x, x)^p."""
        return diagonal(tree["parts"][0], X, library) ** tree["exponent"]

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return the bound to the power of p."""
        return float(variance_bound(kernel.kernel, box) ** kernel.exponent)

    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return those of the kernel within."""
        return rule_of(kernel.kernel).log_priors(kernel.kernel, columns)

    def learned(self, kernel: Any, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return those of the kernel within."""
        return rule_of(kernel.kernel).learned(kernel.kernel, f"{prefix}kernel__")

    def to_json(self, kernel: Any) -> Tree:
        """Return the kernel within, and p."""
        return {
            "kernel": kernel_to_json(kernel.kernel),
            "exponent": number_to_json(kernel.exponent),
        }

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return the power of the kernel within."""
        fields = as_fields(value, where, ("type", "kernel", "exponent"))
        exponent = as_number(fields["exponent"], f"{where}.exponent")
        inner = kernel_within(fields["kernel"], where, columns, depth - 1)
        return PlainKernel(self.name, kernel=inner, exponent=exponent)

    def as_sklearn(self, kernel: Any) -> Any:
        """Return the power of the kernel within."""
        inner = rule_of(kernel.kernel).as_sklearn(kernel.kernel)
        return sklearn_class(self.name)(inner, kernel.exponent)

    def theta_of(self, kernel: Any) -> Array:
        """Return that of the kernel within."""
        return np.asarray(kernel.kernel.theta)

    def parameters_at(self, kernel: Any, theta: Array) -> dict[str, Any]:
        """Return the kernel within at θ."""
        return {"kernel": kernel.kernel.clone_with_theta(theta)}

    def text(self, kernel: Any) -> str:
        """Return the kernel within, and p."""
        return f"{kernel.kernel} ** {kernel.exponent}"

    def factors(self, kernel: Any, columns: int) -> list[Any] | None:
        """Return the powers of the factors."""
        factors = rule_of(kernel.kernel).factors(kernel.kernel, columns)
        return (
            None
            if factors is None
            else [
                PlainKernel(self.name, kernel=factor, exponent=kernel.exponent)
                for factor in factors
            ]
        )

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return the power of the envelope."""
        return envelope(kernel.kernel, cells) ** float(kernel.exponent)

    def is_gaussian_mixture(self, kernel: Any) -> bool:
        """Return whether the kernel within is, and p a natural number."""
        natural = kernel.exponent >= 1 and float(kernel.exponent).is_integer()
        return natural and is_gaussian_mixture(kernel.kernel)

    def inverse_scales(self, kernel: Any, columns: int) -> Array:
        """Return those of the kernel within."""
        return inverse_scales(kernel.kernel, columns)


RULE = ExponentiationRule()
