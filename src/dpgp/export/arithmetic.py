"""Features and covariances of a specification, in the arithmetic of any array library.

Imports NumPy alone, so that it runs beside GPflow and GPyTorch where dpgp does not. Formulas and
names are those of :mod:`dpgp.features.whitened` and :mod:`dpgp.inference.posterior`.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from dpgp.arithmetic import Library


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
            K_xz = self._mean_gram(tree["kernel"], U, tree["anchors"])
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
        """Return k(x, y) − a(x)ᵀk(Z, y) − k(x, Z)a(y) + a(x)ᵀK_zz a(y), averaged over θ."""
        einsum, Z = self.library.einsum, self.anchors
        a_u, a_y = phi_u @ self.projection, phi_y @ self.projection
        K_uz, K_yz = self._mean_gram(self.kernel, U, Z), self._mean_gram(self.kernel, Y, Z)
        K_uy = self._mean_gram(self.kernel, U, Y)
        cross = einsum("nz,mz->nm", a_u, K_yz) + einsum("nz,mz->nm", K_uz, a_y)
        return K_uy - cross + einsum("nz,mz->nm", a_u @ self.K_zz, a_y)

    def missing_variance(self, U: Any, phi: Any) -> Any:
        """Return the diagonal of the same, not below 0."""
        einsum = self.library.einsum
        a = phi @ self.projection
        K_uz = self._mean_gram(self.kernel, U, self.anchors)
        k_uu = einsum("tn->n", self._diagonal(self.kernel, U)) / self._draws(self.kernel)
        missing = k_uu - einsum("nz,nz->n", 2.0 * K_uz - a @ self.K_zz, a)
        return self.library.clip(missing, 0.0, np.inf)

    def _mean_gram(self, tree: dict[str, Any], X: Any, Y: Any) -> Any:
        return self.library.einsum("tnm->nm", self._gram(tree, X, Y)) / self._draws(tree)

    def _draws(self, tree: dict[str, Any]) -> int:
        if "parts" in tree:
            return self._draws(tree["parts"][0])
        return int(next(value.shape[0] for name, value in tree.items() if name != "type"))

    def _gram(self, tree: dict[str, Any], X: Any, Y: Any) -> Any:
        """Return K_θ(X, Y) for every draw of θ."""
        if "parts" in tree:
            first, second = (self._gram(part, X, Y) for part in tree["parts"])
            return first + second if tree["type"] == "Sum" else first * second
        einsum, zeros = self.library.einsum, 0.0 * (X @ self._transposed(Y))
        if tree["type"] == "ConstantKernel":
            return tree["constant_value"][:, :, None] + zeros
        if tree["type"] == "DotProduct":
            return tree["sigma_0"][:, :, None] ** 2 + X @ self._transposed(Y)
        squares = (X[:, None, :] - Y[None, :, :]) ** 2
        lengths = tree["length_scale"] + 0.0 * Y[:1, :]  # a row for each draw, a column an input
        return self._radial(tree, einsum("td,nmd->tnm", lengths**-2.0, squares))

    def _transposed(self, Y: Any) -> Any:
        return self.library.einsum("md->dm", Y)

    def _radial(self, tree: dict[str, Any], squares: Any) -> Any:
        """Return a function of Σ_n (x_n − y_n)²/ℓ_n²."""
        exp, sqrt = self.library.exp, self.library.sqrt
        if tree["type"] == "RBF":
            return exp(-0.5 * squares)
        if tree["type"] == "RationalQuadratic":
            alpha = tree["alpha"][:, :, None]
            return (1.0 + squares / (2.0 * alpha)) ** -alpha
        r = sqrt(squares + 1e-36)  # with a derivative at 0
        if tree["type"] == "Matern0.5":
            return exp(-r)
        if tree["type"] == "Matern1.5":
            t = 3.0**0.5 * r
            return (1.0 + t) * exp(-t)
        t = 5.0**0.5 * r
        return (1.0 + t + t * t / 3.0) * exp(-t)

    def _diagonal(self, tree: dict[str, Any], X: Any) -> Any:
        """Return k_θ(x, x) for every draw of θ and row x."""
        if "parts" in tree:
            first, second = (self._diagonal(part, X) for part in tree["parts"])
            return first + second if tree["type"] == "Sum" else first * second
        norms = self.library.einsum("nd,nd->n", X, X)
        if tree["type"] == "ConstantKernel":
            return tree["constant_value"] + 0.0 * norms
        if tree["type"] == "DotProduct":
            return tree["sigma_0"] ** 2 + norms
        return 1.0 + 0.0 * (tree["length_scale"][:, :1] + norms)

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
