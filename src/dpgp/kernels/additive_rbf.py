"""A sum of smooth functions of one input each."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.checked_values import as_fields, as_positive, as_whole, number_to_json
from dpgp.kernels.base import Box, PlainRule, Tree
from dpgp.kernels.parameters import Learned
from dpgp.kernels.plain import PlainKernel, sklearn_class

Array = NDArray[np.float64]

MOST_KNOTS = 100


class AdditiveRBF(PlainKernel):
    r"""A sum of smooth functions of one input each, of finite rank.

    .. math:: k(x, y) = \tfrac1D \sum_n r(x_n)^\top R^{-1} r(y_n), \quad
              r(x) = (\exp(-(x - c_i)^2/2\ell^2))_i

    with knots c evenly over [−1, 1] and R their covariance: a Nyström approximation of the sum of
    one RBF an input, at a price that does not grow with the number of inducing points.
    """

    length_scale: float
    knots: int

    def __init__(self, length_scale: float = 0.4, knots: int = 6) -> None:
        super().__init__("AdditiveRBF", length_scale=length_scale, knots=knots)

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of covariances between the rows of ``X`` and those of ``Y``."""
        A = self.basis(np.asarray(X))
        return np.asarray(A @ (A if Y is None else self.basis(np.asarray(Y))).T)

    def diag(self, X: Any) -> Array:
        """Return the variances at the rows of ``X``, at most one."""
        return np.asarray((self.basis(np.asarray(X)) ** 2).sum(axis=1))

    def basis(self, X: Array) -> Array:
        """Return R^{−1/2} r(x_n)/√D for all inputs side by side, one row a row of ``X``."""
        values = np.exp(-0.5 * ((X[:, :, None] - _knots(self.knots)) / self.length_scale) ** 2)
        whitened = values @ _inverse_root(self.knots, self.length_scale)
        return np.asarray(whitened.reshape(len(X), -1) / np.sqrt(X.shape[1]))


class AdditiveRBFRule(PlainRule):
    r"""One smooth function an input, :math:`k(x, y) = \tfrac1D\sum_n r(x_n)^\top R^{-1} r(y_n)`."""

    name = "AdditiveRBF"
    part = "sum of functions of one input"
    javascript = """{
    gram: (tree, Z) => {
      const basis = additiveBasis(tree), all = Z.map((z) => basis(z));
      const buffer = new Float64Array(draws(tree) * Z.length);
      return (x) => {
        const a = basis(x);
        all.forEach((b, j) => {
          const value = dot(a, b);
          for (let t = 0; t < draws(tree); t += 1) buffer[t * Z.length + j] = value;
        });
        return buffer;
      };
    },
    diagonal: (tree) => {
      const basis = additiveBasis(tree);
      return (x) => { const a = basis(x); return new Float64Array(draws(tree)).fill(dot(a, a)); };
    },
  }"""

    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return the length, the knots and R^{−1/2}."""
        return {
            "type": self.name,
            "length_scale": np.full((len(thetas), 1), kernel.length_scale),
            "knots": _knots(kernel.knots),
            "whitening": _inverse_root(kernel.knots, kernel.length_scale),
        }

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return the mean over inputs of r(x_n)ᵀR⁻¹r(y_n)."""
        columns = X.shape[1]
        A, B = (self._whitened(tree, U, library) for U in (X, Y))
        one = library.einsum("ndk,mdk->nm", A, B) / columns
        return one[None, :, :] + 0.0 * tree["length_scale"][:, :, None]

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return the mean over inputs of r(x_n)ᵀR⁻¹r(x_n)."""
        A = self._whitened(tree, X, library)
        return library.einsum("ndk,ndk->n", A, A)[None, :] / X.shape[1] + 0.0 * tree["length_scale"]

    def _whitened(self, tree: Tree, X: Any, library: Library) -> Any:
        scaled = (X[:, :, None] - tree["knots"][None, None, :]) / tree["length_scale"][:1, :, None]
        return library.einsum("ndk,kl->ndl", library.exp(-0.5 * scaled**2.0), tree["whitening"])

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return 1: a Nyström approximation of a kernel of variance 1."""
        return 1.0

    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return none: nothing is learned."""
        return []

    def learned(self, kernel: Any, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return none: nothing is learned."""
        return []

    def to_json(self, kernel: Any) -> Tree:
        """Return the length and the number of knots."""
        return {"length_scale": number_to_json(kernel.length_scale), "knots": int(kernel.knots)}

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return the kernel with this length and so many knots."""
        fields = as_fields(value, where, ("type", "length_scale", "knots"))
        length = as_positive(fields["length_scale"], f"{where}.length_scale")
        return AdditiveRBF(length, as_whole(fields["knots"], f"{where}.knots", 2, MOST_KNOTS))

    def as_sklearn(self, kernel: Any) -> Any:
        """Refuse: scikit-learn has none."""
        return sklearn_class(self.name)

    def theta_of(self, kernel: Any) -> Array:
        """Return nothing."""
        return np.empty(0)

    def parameters_at(self, kernel: Any, theta: Array) -> dict[str, Any]:
        """Return none: nothing is learned."""
        return {}

    def text(self, kernel: Any) -> str:
        """Return the length and the number of knots."""
        return f"AdditiveRBF(length_scale={kernel.length_scale:.3g}, knots={kernel.knots})"

    def inverse_scales(self, kernel: Any, columns: int) -> Array:
        """Return 1/ℓ for every input by itself."""
        return np.asarray(np.eye(columns) / kernel.length_scale)


def _knots(count: int) -> Array:
    return np.linspace(-1.0, 1.0, count)


@lru_cache(maxsize=16)
def _inverse_root(count: int, length_scale: float) -> Array:
    c = _knots(count)
    R = np.exp(-0.5 * ((c[:, None] - c) / length_scale) ** 2) + 1e-4 * np.eye(count)
    eigenvalues, Q = np.linalg.eigh(R)
    return np.asarray((Q / np.sqrt(eigenvalues)) @ Q.T)


RULE = AdditiveRBFRule()
