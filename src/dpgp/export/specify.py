"""All numbers of a fitted model, in the words of sparse Gaussian processes.

Inducing variables are the weights themselves, u = w with prior N(0, I) and q(u) = N(m, S). Their
covariance with f(x) is φ(x), and the covariance of f is that of
:class:`~dpgp.inference.inducing.EffectiveKernel`. Every feature map has weights, so every map can
be exported, and K_uu = I needs no jitter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import kernels as sk

from dpgp.features.whitened import (
    ColumnFeatures,
    ConcatenatedFeatures,
    GridFeatures,
    InducingFeatures,
    LinearFeatures,
    WhitenedMap,
)
from dpgp.inference.batch_kernels import batch_gram
from dpgp.inference.posterior import Posterior

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

Array = NDArray[np.float64]

_LEAVES = {
    sk.RBF: ("length_scale",),
    sk.Matern: ("length_scale",),
    sk.RationalQuadratic: ("alpha", "length_scale"),
    sk.ConstantKernel: ("constant_value",),
    sk.DotProduct: ("sigma_0",),
}
_SMOOTHNESS = (0.5, 1.5, 2.5)


def specification_of(model: FittedModel, target: int | None) -> dict[str, Any]:
    """Return inputs, target scale, features, kernel, and q(u) of one target."""
    k = chosen_target(model, target)
    posterior = model.posteriors[k]
    return {
        "inputs": _inputs(model.inputs),
        "centre": float(model.options.target_box.centre[k]),
        "scale": float(model.options.target_box.half_width[k]),
        "noise_variance": float(posterior.moments.noise**2),
        "m": posterior.moments.w,
        "S": posterior.moments.V,
        "features": feature_tree(posterior.features),
        "kernel": kernel_tree(posterior.kernel, posterior.thetas[:, :-1]),
        **_anchors(posterior),
    }


def chosen_target(model: FittedModel, target: int | None) -> int:
    """Return the number of the target; of several, one must be chosen."""
    count = len(model.calibrations)
    if target is None and count > 1:
        raise ValueError(f"`target` must say which of the {count} targets, from 0 to {count - 1}.")
    if not 0 <= (target or 0) < count:
        raise ValueError(f"`target` must lie between 0 and {count - 1}, got {target}.")
    return target or 0


def _inputs(inputs: Any) -> dict[str, Any]:
    """Return the public box and the warp, that of no warp where there is none."""
    box, ends = inputs.box, np.array([-1.0, 1.0])
    edges = ends if inputs.warp is None else inputs.warp.edges
    values = np.tile(ends, (len(box.low), 1)) if inputs.warp is None else inputs.warp.values
    return {"low": box.low, "high": box.high, "edges": edges, "values": values}


def _anchors(posterior: Posterior) -> dict[str, Any]:
    """Return what the missing variance needs: Z, P, and K(Z, Z) averaged over θ."""
    Z = posterior.features.anchors
    K_zz = batch_gram(posterior.kernel, posterior.thetas[:, :-1], Z, Z).mean(axis=0)
    return {
        "anchors": Z,
        "projection": posterior.features.projection,
        "K_zz": np.broadcast_to(K_zz, (len(Z), len(Z))).copy(),
    }


def feature_tree(features: WhitenedMap) -> dict[str, Any]:
    """Return a feature map as nested dictionaries."""
    if isinstance(features, InducingFeatures):
        kernel = features.kernel
        return {
            "type": "inducing",
            "kernel": kernel_tree(kernel, kernel.theta[None]),
            "anchors": features.anchors,
            "projection": features.projection / features._variance,
        }
    if isinstance(features, GridFeatures):
        return {"type": "grid", "factors": [feature_tree(factor) for factor in features.factors]}
    if isinstance(features, LinearFeatures):
        slope = np.sqrt((1.0 - features.constant_share) / features.columns)
        constant = np.sqrt(features.constant_share)
        return {"type": "linear", "constant": float(constant), "slope": float(slope)}
    if isinstance(features, ColumnFeatures):
        return {"type": "column", "column": features.column, "inner": feature_tree(features.inner)}
    if isinstance(features, ConcatenatedFeatures):
        maps = [feature_tree(inner) for inner in features.maps]
        return {"type": "concatenated", "roots": list(features._roots), "maps": maps}
    raise ValueError(f"features of type {type(features).__name__} cannot be exported.")


def kernel_tree(kernel: Any, thetas: Array) -> dict[str, Any]:
    """Return a kernel as nested dictionaries, a row of every parameter for each row of θ."""
    if type(kernel) in (sk.Sum, sk.Product):
        split = kernel.k1.n_dims
        parts = [
            kernel_tree(kernel.k1, thetas[:, :split]),
            kernel_tree(kernel.k2, thetas[:, split:]),
        ]
        return {"type": type(kernel).__name__, "parts": parts}
    _check_supported(kernel)
    return {"type": _name(kernel), **_parameters(kernel, thetas)}


def _check_supported(kernel: Any) -> None:
    smooth = not isinstance(kernel, sk.Matern) or kernel.nu in _SMOOTHNESS
    if type(kernel) not in _LEAVES or not smooth:
        raise ValueError(
            f"the kernel {kernel} cannot be exported; sums and products of RBF, Matern (nu among "
            f"{_SMOOTHNESS}), RationalQuadratic, ConstantKernel and DotProduct can."
        )


def _name(kernel: Any) -> str:
    return f"Matern{kernel.nu}" if isinstance(kernel, sk.Matern) else type(kernel).__name__


def _parameters(kernel: Any, thetas: Array) -> dict[str, Array]:
    """Return exp θ where a parameter is learned, its value where it is fixed; rows are draws."""
    values, start = {}, 0
    fixed = {h.name: h.fixed for h in kernel.hyperparameters}
    for name in _LEAVES[type(kernel)]:
        value = np.atleast_1d(np.asarray(kernel.get_params()[name], dtype=np.float64))
        if fixed[name]:
            values[name] = np.tile(value, (len(thetas), 1))
        else:
            values[name] = np.exp(thetas[:, start : start + len(value)])
            start += len(value)
    return values
