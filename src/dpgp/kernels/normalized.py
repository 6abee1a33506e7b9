"""Any kernel divided by its standard deviations: the remedy for variances without a bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel

from dpgp.arithmetic import Library
from dpgp.checked_values import as_fields
from dpgp.kernels.base import Box, KernelRule, Tree, takes_vectors
from dpgp.kernels.files import kernel_to_json, kernel_within
from dpgp.kernels.formula import diagonal, gram, specify
from dpgp.kernels.parameters import Learned
from dpgp.kernels.registry import rule_of

Array = NDArray[np.float64]

SMALLEST = 1e-150
"""Below this variance, a kernel in another library's arithmetic fades to 0."""


class NormalizedKernel(Kernel):  # type: ignore[misc]
    r"""Any kernel divided by its standard deviations, so that its variance is at most one.

    .. math:: \tilde k(x, x') = k(x, x') / \sqrt{k(x, x)\,k(x', x')}

    and 0 where a variance is 0. The remedy for kernels whose variance has no bound, such as kernels
    that count substrings or subtrees. The hyperparameters of the kernel within are not learned.
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of correlations between the elements of ``X`` and those of ``Y``."""
        columns = X if Y is None else Y
        scale = np.multiply.outer(self._inverse_std(X), self._inverse_std(columns))
        return np.asarray(self.kernel(X, columns) * scale, dtype=np.float64)

    def diag(self, X: Any) -> Array:
        """Return 1, or 0 where the kernel's own variance is 0."""
        return (np.asarray(self.kernel.diag(X)) > 0).astype(np.float64)

    def is_stationary(self) -> bool:
        """Return whether the kernel within is stationary."""
        return bool(self.kernel.is_stationary())

    @property
    def requires_vector_input(self) -> bool:
        """Whether the kernel within takes rows of numbers."""
        return takes_vectors(self.kernel)

    def __repr__(self) -> str:
        return f"NormalizedKernel({self.kernel!r})"

    def _inverse_std(self, X: Any) -> Array:
        variance = np.asarray(self.kernel.diag(X), dtype=np.float64)
        inverse = np.zeros_like(variance)
        np.divide(1.0, np.sqrt(variance), out=inverse, where=variance > 0)
        return inverse


class NormalizedRule(KernelRule):
    r"""Correlations, :math:`\tilde k(x, y) = k(x, y)/\sqrt{k(x, x)\,k(y, y)}`, and 0 for 0/0."""

    name = "NormalizedKernel"
    part = "normalised part"
    javascript = """{
    gram: (tree, Z) => {
      const part = tree.parts[0], k = gram(part, Z), k_xx = diagonal(part);
      const k_zz = Z.map((z) => Float64Array.from(k_xx(Float64Array.from(z))));
      return (x) => {
        const values = k(x), variances = k_xx(x);
        variances.forEach((v, t) => Z.forEach((z, j) => {
          const i = t * Z.length + j, square = v * k_zz[j][t];
          values[i] = square > 0 ? values[i] / Math.sqrt(square) : 0;
        }));
        return values;
      };
    },
    diagonal: (tree) => {
      const k_xx = diagonal(tree.parts[0]);
      return (x) => k_xx(x).map((value) => (value > 0 ? 1 : 0));
    },
  }"""

    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return the tree of the kernel within, the same for all θ."""
        within = kernel.kernel
        fixed = getattr(within, "theta", np.empty(0))
        parts = [specify(within, np.tile(fixed, (len(thetas), 1)))]
        return {"type": self.name, "parts": parts}

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return k(x, y) k(x, x)^−½ k(y, y)^−½."""
        part = tree["parts"][0]
        of_x, of_y = (_inverse_root(diagonal(part, U, library), library) for U in (X, Y))
        return gram(part, X, Y, library) * of_x[:, :, None] * of_y[:, None, :]

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return 1 where k(x, x) > 0."""
        variance = diagonal(tree["parts"][0], X, library)
        return variance / library.clip(variance, SMALLEST, np.inf)

    def as_sklearn(self, kernel: Any) -> Any:
        """Return the same around scikit-learn's kernel."""
        return NormalizedKernel(rule_of(kernel.kernel).as_sklearn(kernel.kernel))

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return 1."""
        return 1.0

    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return none: nothing is learned."""
        return []

    def learned(self, kernel: Any, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return none: nothing is learned."""
        return []

    def to_json(self, kernel: Any) -> Tree:
        """Return the kernel within."""
        return {"kernel": kernel_to_json(kernel.kernel)}

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return the kernel within, normalised."""
        inner = as_fields(value, where, ("type", "kernel"))["kernel"]
        return NormalizedKernel(kernel_within(inner, where, columns, depth - 1))


def _inverse_root(variance: Any, library: Library) -> Any:
    """Return v^−½, or 0 for 0."""
    return variance * library.clip(variance, SMALLEST, np.inf) ** -1.5


RULE = NormalizedRule()
