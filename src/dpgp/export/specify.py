"""A specification: all numbers of a fitted model, and what any array library computes from them.

Inducing variables are the weights themselves, u = w with prior N(0, I) and q(u) = N(m, S). Their
covariance with f(x) is φ(x), and the covariance of f is that of
:class:`~dpgp.inference.posterior.EffectiveKernel`. Every feature map has weights, so every map can
be exported, and K_uu = I needs no jitter. Formulas are those of :mod:`dpgp.kernels` and
:mod:`dpgp.features`, which need NumPy, SciPy and scikit-learn alone, so that this runs beside
GPflow and GPyTorch where dpgp does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.arithmetic import NUMPY, Library
from dpgp.features.base import evaluate, feature_tree, missing_covariance, missing_variance
from dpgp.features.inputs import unit_inputs
from dpgp.kernels.formula import exported_tree, mean_diagonal, mean_gram, specify

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


def specification_of(model: FittedModel, target: int | str | None) -> dict[str, Any]:
    """Return inputs, target scale, features, kernel, q(u), and Z, P, K(Z, Z) of one target."""
    k = model.chosen_target(target)
    posterior, target_box = model.posteriors[k], model.options.functions
    features, thetas = posterior.features, posterior.thetas[:, :-1]
    Z, tree = features.anchors, specify(posterior.kernel, thetas)
    local_scale = None
    if model.scales:  # c(x) = exp(φᵀw + φᵀVφ)
        scale = model.scales[k]
        local_scale = {"features": feature_tree(scale.features), "w": scale.w, "V": scale.V}
    return {
        "inputs": model.inputs.specify(),
        "centre": float(target_box.centre[k]),
        "scale": float(target_box.half_width[k]),
        "noise_variance": float(posterior.moments.noise**2),
        "m": posterior.moments.w,
        "S": posterior.moments.V,
        "features": feature_tree(features),
        "kernel": exported_tree(posterior.kernel, thetas),
        "local_scale": local_scale,
        "anchors": Z,
        "projection": features.projection,
        "K_zz": mean_gram(tree, Z, Z, NUMPY),
    }


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
        self.scale = self._arrays(specification["local_scale"])

    def unit_inputs(self, X: Any) -> Any:
        """Return raw inputs clipped, scaled to [−1, 1] and warped."""
        return unit_inputs(self.inputs, X, self.library)

    def evaluate(self, U: Any) -> Any:
        """Return φ of the rows of ``U``, one a row."""
        return evaluate(self.features, U, self.library)

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

    def local_scale(self, U: Any) -> Any:
        """Return c(x) = exp(φᵀw + φᵀVφ), by which the sd of an observation is multiplied."""
        if self.scale is None:
            return 1.0
        phi, library = evaluate(self.scale["features"], U, self.library), self.library
        log_scale = library.einsum("nd,d->n", phi, self.scale["w"])
        return library.exp(log_scale + library.einsum("nd,nd->n", phi @ self.scale["V"], phi))

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
