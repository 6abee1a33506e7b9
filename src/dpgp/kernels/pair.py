"""Two kernels in one, k1 and k2; θ has the entries of the first before those of the second."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.checked_values import as_fields
from dpgp.kernels.base import Box, PlainRule, Tree
from dpgp.kernels.bounds import inverse_scales, is_gaussian_mixture, variance_bound
from dpgp.kernels.files import kernel_to_json, kernel_within
from dpgp.kernels.formula import diagonal, gram, specify
from dpgp.kernels.parameters import Learned
from dpgp.kernels.plain import PlainKernel, sklearn_class
from dpgp.kernels.registry import rule_of

Array = NDArray[np.float64]


class Pair(PlainRule):
    """A sum or a product: numbers, matrices and bounds of both kernels are combined alike."""

    sign: ClassVar[str]

    @abstractmethod
    def combine(self, first: Any, second: Any) -> Any:
        """Return first + second, or first · second."""

    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return the trees of both."""
        split = kernel.k1.n_dims
        parts = [specify(kernel.k1, thetas[:, :split]), specify(kernel.k2, thetas[:, split:])]
        return {"type": self.name, "parts": parts}

    def tree_of(self, kernel: Any) -> Tree:
        """Return the trees of both as they are."""
        parts = [rule_of(part).tree_of(part) for part in (kernel.k1, kernel.k2)]
        return {"type": self.name, "parts": parts}

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return both combined."""
        return self.combine(*(gram(part, X, Y, library) for part in tree["parts"]))

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return both combined."""
        return self.combine(*(diagonal(part, X, library) for part in tree["parts"]))

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return both combined: variances are not negative."""
        bounds = (variance_bound(part, box) for part in (kernel.k1, kernel.k2))
        return float(self.combine(*bounds))

    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return those of the first, then those of the second."""
        return [
            prior
            for part in (kernel.k1, kernel.k2)
            for prior in rule_of(part).log_priors(part, columns)
        ]

    def learned(self, kernel: Any, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return those of the first, then those of the second."""
        return [
            *rule_of(kernel.k1).learned(kernel.k1, f"{prefix}k1__", self.scales(kernel.k2)),
            *rule_of(kernel.k2).learned(kernel.k2, f"{prefix}k2__", self.scales(kernel.k1)),
        ]

    def scales(self, other: Any) -> str | None:
        """Say what a size beside the other kernel is the size of, if not its own."""
        return None

    def to_json(self, kernel: Any) -> Tree:
        """Return both."""
        return {"k1": kernel_to_json(kernel.k1), "k2": kernel_to_json(kernel.k2)}

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return the pair of both."""
        fields = as_fields(value, where, ("type", "k1", "k2"))
        parts = (kernel_within(fields[k], where, columns, depth - 1) for k in ("k1", "k2"))
        first, second = parts
        return PlainKernel(self.name, k1=first, k2=second)

    def as_sklearn(self, kernel: Any) -> Any:
        """Return the pair of both."""
        parts = (rule_of(part).as_sklearn(part) for part in (kernel.k1, kernel.k2))
        return sklearn_class(self.name)(*parts)

    def theta_of(self, kernel: Any) -> Array:
        """Return those of the first, then those of the second."""
        return np.append(kernel.k1.theta, kernel.k2.theta)

    def parameters_at(self, kernel: Any, theta: Array) -> dict[str, Any]:
        """Return both kernels, each with its part of θ."""
        split = kernel.k1.n_dims
        parts = {"k1": theta[:split], "k2": theta[split:]}
        return {k: getattr(kernel, k).clone_with_theta(part) for k, part in parts.items()}

    def text(self, kernel: Any) -> str:
        """Return both with a sign between them."""
        return f"{kernel.k1} {self.sign} {kernel.k2}"

    def is_gaussian_mixture(self, kernel: Any) -> bool:
        """Return whether both are."""
        return is_gaussian_mixture(kernel.k1) and is_gaussian_mixture(kernel.k2)

    def inverse_scales(self, kernel: Any, columns: int) -> Array:
        """Return those of both."""
        return np.vstack([inverse_scales(part, columns) for part in (kernel.k1, kernel.k2)])
