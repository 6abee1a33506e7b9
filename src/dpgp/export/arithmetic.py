"""Features and covariances of a specification, in the arithmetic of any array library.

Imports NumPy alone, so that it runs beside GPflow and GPyTorch where dpgp does not. Formulas and
names are those of :mod:`dpgp.features.whitened` and :mod:`dpgp.inference.posterior`.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from dpgp.arithmetic import Library
from dpgp.features.missing import missing_covariance, missing_variance
from dpgp.kernels.formula import mean_diagonal, mean_gram


class Covariances:
    """φ and the covariance of what φ misses, from a specification."""

    def __init__(self, specification: dict[str, Any], library: Library) -> None:
        self.library = library
        self.inputs = {k: self._array(v) for k, v in specification["inputs"].items()}
        self.features = self._arrays(specification["features"])
        self.kernel = self._arrays(specification["kernel"])
        self.anchors = self._array(specification["anchors"])
        self.projection = self._array(specification["projection"])
        self.K_zz = self._array(specification["K_zz"])

    def unit_inputs(self, X: Any) -> Any:
        """Return raw inputs clipped, scaled to [−1, 1] and warped."""
        clip, inputs = self.library.clip, self.inputs
        low, high = inputs["low"], inputs["high"]
        U = clip((clip(X, low, high) - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)
        return self._warp(U, inputs["edges"], inputs["values"])

    def _warp(self, U: Any, edges: Any, values: Any) -> Any:
        """g(u) = g(−1) + Σ_j slope_j · how far u has come in bin j."""
        steps = edges[1:] - edges[:-1]
        slopes = (values[:, 1:] - values[:, :-1]) / steps
        within = self.library.clip(U[:, :, None] - edges[:-1], 0.0 * steps, steps)
        return values[:, 0] + self.library.einsum("nde,de->nd", within, slopes)

    def evaluate(self, U: Any) -> Any:
        """Return φ of the rows of ``U``, one a row."""
        return self._map(self.features, U)

    def _map(self, tree: dict[str, Any], U: Any) -> Any:
        if tree["type"] == "inducing":
            K_xz = mean_gram(tree["kernel"], U, tree["anchors"], self.library)
            return self.library.einsum("nz,pz->np", K_xz, tree["projection"])
        if tree["type"] == "grid":
            factors = enumerate(tree["factors"])
            return reduce(self._kronecker, [self._map(f, U[:, d : d + 1]) for d, f in factors])
        if tree["type"] == "linear":
            return self._side_by_side([0.0 * U[:, :1] + tree["constant"], U * tree["slope"]])
        if tree["type"] == "column":
            column = int(tree["column"])
            return self._map(tree["inner"], U[:, column : column + 1])
        pairs = zip(tree["roots"], tree["maps"], strict=True)
        return self._side_by_side([root * self._map(inner, U) for root, inner in pairs])

    def _kronecker(self, first: Any, second: Any) -> Any:
        product = self.library.einsum("na,nb->nab", first, second)
        return self.library.reshape(product, (-1, first.shape[1] * second.shape[1]))

    def _side_by_side(self, parts: list[Any]) -> Any:
        rows = self.library.stack_rows([self.library.einsum("nd->dn", part) for part in parts])
        return self.library.einsum("dn->nd", rows)

    def missing(self, U: Any, phi_u: Any, Y: Any, phi_y: Any) -> Any:
        """Return the covariance that φ misses between rows of ``U`` and rows of ``Y``."""
        a_u, a_y = phi_u @ self.projection, phi_y @ self.projection
        K_uy = mean_gram(self.kernel, U, Y, self.library)
        K_uz, K_yz = self._with_anchors(U), self._with_anchors(Y)
        return missing_covariance(K_uy, K_uz, K_yz, self.K_zz, a_u, a_y, self.library)

    def missing_variance(self, U: Any, phi: Any) -> Any:
        """Return the diagonal of the same, not below 0."""
        k_uu, a = mean_diagonal(self.kernel, U, self.library), phi @ self.projection
        return missing_variance(k_uu, self._with_anchors(U), self.K_zz, a, self.library)

    def _with_anchors(self, U: Any) -> Any:
        return mean_gram(self.kernel, U, self.anchors, self.library)

    def _array(self, value: Any) -> Any:
        return self.library.array(np.asarray(value, dtype=np.float64))

    def _arrays(self, tree: Any) -> Any:
        """Return a tree whose lists of numbers are arrays of the library."""
        if isinstance(tree, dict):
            return {name: self._arrays(part) for name, part in tree.items()}
        if isinstance(tree, list) and tree and isinstance(tree[0], dict):
            return [self._arrays(part) for part in tree]
        if isinstance(tree, list | np.ndarray):
            return self._array(tree)
        return tree


def triangular_root(S: Any) -> Any:
    """Return lower triangular L with LLᵀ = S, where S may be singular."""
    eigenvalues, Q = np.linalg.eigh(np.asarray(S, dtype=np.float64))
    R = np.asarray(np.linalg.qr((Q * np.sqrt(np.maximum(eigenvalues, 0.0))).T, mode="r"))
    signs = np.where(np.diag(R) < 0.0, -1.0, 1.0)
    return (R * signs[:, None]).T
