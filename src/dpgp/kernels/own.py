"""Kernels that no rule knows, such as a class of the user's: called as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.checked_values import ModelFileError
from dpgp.kernels.base import Box, KernelRule, Tree
from dpgp.kernels.parameters import Learned, Measure, Parameter

Array = NDArray[np.float64]

OWN_TYPE = "own"
"""The type of trees that hold a kernel instead of numbers, and never leave the process."""


class OwnRule(KernelRule):
    """Any object with ``kernel(X, Y)`` and ``kernel.diag(X)``; learned if it is scikit-learn's."""

    name = "Kernel"

    def scripts(self) -> dict[str, str]:
        """Return none: such a kernel has no formula elsewhere."""
        return {}

    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return the kernel itself with its hyperparameters."""
        return {"type": OWN_TYPE, "thetas": thetas, "kernel": kernel}

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return one call for each θ."""
        return np.stack([kernel(X, Y) for kernel in _kernels(tree)])

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return one call for each θ."""
        return np.stack([kernel.diag(X) for kernel in _kernels(tree)])

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return what the kernel declares; what its class inherits from is no promise."""
        declared = getattr(kernel, "variance_bound", None)
        if declared is None:
            raise ValueError(
                f"`kernel` must have a bounded variance, and none is known for "
                f"{type(kernel).__name__}; wrap it in NormalizedKernel, or give it a float "
                "attribute `variance_bound`."
            )
        return float(declared)

    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return priors around the kernel's own values."""
        return [
            Parameter(h.name, h.name, Measure.NUMBER).log_prior(value, columns)
            for h in _free(kernel)
            for value in np.atleast_1d(kernel.get_params()[h.name])
        ]

    def learned(self, kernel: Any, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return the names that the kernel gives."""
        part = f"{type(kernel).__name__} part"
        return [
            Learned(f"{prefix}{h.name}", f"{h.name} of the {part}", Measure.NUMBER, column)
            for h in _free(kernel)
            for column in (range(h.n_elements) if h.n_elements > 1 else [None])
        ]

    def to_json(self, kernel: Any) -> Tree:
        """Refuse: a model file is data and never code."""
        raise ModelFileError(f"a kernel of type {type(kernel).__name__} cannot be saved.")

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Refuse: no file names such a kernel."""
        raise ModelFileError(f"`{where}` is no kernel of dpgp.")


def _kernels(tree: Tree) -> list[Any]:
    kernel, thetas = tree["kernel"], tree["thetas"]
    return [kernel.clone_with_theta(theta) if len(theta) else kernel for theta in thetas]


def _free(kernel: Any) -> list[Any]:
    return [h for h in kernel.hyperparameters if not h.fixed]


OWN = OwnRule()
