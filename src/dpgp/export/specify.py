"""All numbers of a fitted model, in the words of sparse Gaussian processes.

Inducing variables are the weights themselves, u = w with prior N(0, I) and q(u) = N(m, S). Their
covariance with f(x) is φ(x), and the covariance of f is that of
:class:`~dpgp.inference.inducing.EffectiveKernel`. Every feature map has weights, so every map can
be exported, and K_uu = I needs no jitter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpgp.arithmetic import NUMPY
from dpgp.features.base import feature_tree
from dpgp.inference.posterior import Posterior
from dpgp.kernels.formula import exported_tree, mean_gram, specify

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


def specification_of(model: FittedModel, target: int | None) -> dict[str, Any]:
    """Return inputs, target scale, features, kernel, and q(u) of one target."""
    k = chosen_target(model, target)
    posterior = model.posteriors[k]
    return {
        "inputs": model.inputs.specify(),
        "centre": float(model.options.target_box.centre[k]),
        "scale": float(model.options.target_box.half_width[k]),
        "noise_variance": float(posterior.moments.noise**2),
        "m": posterior.moments.w,
        "S": posterior.moments.V,
        "features": feature_tree(posterior.features),
        "kernel": exported_tree(posterior.kernel, posterior.thetas[:, :-1]),
        "local_scale": _local_scale(model, k),
        **_anchors(posterior),
    }


def _local_scale(model: FittedModel, k: int) -> dict[str, Any] | None:
    """Return the features, w and V of c(x) = exp(φᵀw + φᵀVφ); None where c is one."""
    if not model.scales:
        return None
    scale = model.scales[k]
    return {"features": feature_tree(scale.features), "w": scale.w, "V": scale.V}


def chosen_target(model: FittedModel, target: int | None) -> int:
    """Return the number of the target; of several, one must be chosen."""
    count = len(model.calibrations)
    if target is None and count > 1:
        raise ValueError(f"`target` must say which of the {count} targets, from 0 to {count - 1}.")
    if not 0 <= (target or 0) < count:
        raise ValueError(f"`target` must lie between 0 and {count - 1}, got {target}.")
    return target or 0


def _anchors(posterior: Posterior) -> dict[str, Any]:
    """Return what the missing variance needs: Z, P, and K(Z, Z) averaged over θ."""
    Z, tree = posterior.features.anchors, specify(posterior.kernel, posterior.thetas[:, :-1])
    return {
        "anchors": Z,
        "projection": posterior.features.projection,
        "K_zz": mean_gram(tree, Z, Z, NUMPY),
    }
