"""Kernels that dpgp does not know, such as a class of the user's: called as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.kernels.base import OWN_TYPE, Box, Kernel, Tree
from dpgp.kernels.parameters import Learned, Measure, Parameter
from dpgp.types import Array


@dataclass(frozen=True, repr=False, eq=False)
class Own(Kernel):
    """Any object with ``kernel(X, Y)`` and ``kernel.diag(X)``; learned if it is scikit-learn's."""

    name = "Kernel"

    kernel: Any

    @property
    def part(self) -> str:  # type: ignore[override]
        """The name of its class."""
        return f"{type(self.kernel).__name__} part"

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the kernel for each θ."""
        own = np.empty((1, 0)) if thetas is None else thetas
        kernels = [self.kernel.clone_with_theta(row) if len(row) else self.kernel for row in own]
        return {"type": OWN_TYPE, "thetas": own, "kernels": kernels}

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return one call for each θ."""
        return np.stack([kernel(X, Y) for kernel in tree["kernels"]])

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return one call for each θ."""
        return np.stack([kernel.diag(X) for kernel in tree["kernels"]])

    def variance_bound(self, box: Box | None) -> float:
        """Return what the kernel declares; what its class inherits from is no promise."""
        declared = getattr(self.kernel, "variance_bound", None)
        if declared is None:
            raise ValueError(
                f"`kernel` must have a bounded variance, and none is known for "
                f"{type(self.kernel).__name__}; wrap it in NormalizedKernel, or give it a float "
                "attribute `variance_bound`."
            )
        return float(declared)

    @property
    def theta(self) -> Array:
        """What the kernel says, if it can be learned."""
        return np.asarray(getattr(self.kernel, "theta", np.empty(0)))

    @property
    def n_dims(self) -> int:
        """How many numbers it says."""
        return len(self.theta)

    def clone_with_theta(self, theta: Array) -> Self:
        """Return the kernel that it makes of θ."""
        return type(self)(self.kernel.clone_with_theta(theta))

    def log_priors(self, columns: int) -> list[tuple[float, float]]:
        """Return priors around the kernel's own values."""
        return [
            Parameter(h.name, Measure.NUMBER).log_prior(h.name, value, columns)
            for h in self._free()
            for value in np.atleast_1d(self.kernel.get_params()[h.name])
        ]

    def learned(self, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return the names that the kernel gives."""
        return [
            Learned(f"{prefix}{h.name}", f"{h.name} of the {self.part}", Measure.NUMBER, column)
            for h in self._free()
            for column in (range(h.n_elements) if h.n_elements > 1 else [None])
        ]

    def _free(self) -> list[Any]:
        return [h for h in getattr(self.kernel, "hyperparameters", ()) if not h.fixed]

    def __repr__(self) -> str:
        return repr(self.kernel)
