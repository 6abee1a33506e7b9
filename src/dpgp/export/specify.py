"""All numbers of a fitted model, in the words of sparse Gaussian processes.

Inducing variables are the weights themselves, u = w with prior N(0, I) and q(u) = N(m, S). Their
covariance with f(x) is φ(x), and the covariance of f is that of
:class:`~dpgp.inference.inducing.EffectiveKernel`. Every feature map has weights, so every map can
be exported, and K_uu = I needs no jitter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dpgp.features.whitened import (
    ColumnFeatures,
    ConcatenatedFeatures,
    GridFeatures,
    InducingFeatures,
    LinearFeatures,
    WhitenedMap,
)
from dpgp.inference.posterior import Posterior
from dpgp.kernels.formula import batch_gram, exported_tree

Array = NDArray[np.float64]


def specification_of(estimator: Any, target: int | None) -> dict[str, Any]:
    """Return inputs, target scale, features, kernel, and q(u) of one target."""
    check_is_fitted(estimator)
    k = chosen_target(estimator, target)
    posterior = estimator._posterior_of(k)
    return {
        "inputs": _inputs(estimator.inputs_),
        "centre": float(estimator.target_box_.centre[k]),
        "scale": float(estimator.target_box_.half_width[k]),
        "noise_variance": float(posterior.moments.noise**2),
        "m": posterior.moments.w,
        "S": posterior.moments.V,
        "features": feature_tree(posterior.features),
        "kernel": exported_tree(posterior.kernel, posterior.thetas[:, :-1]),
        **_anchors(posterior),
    }


def chosen_target(estimator: Any, target: int | None) -> int:
    """Return the number of the target; of several, one must be chosen."""
    count = len(estimator.calibration_)
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
            "kernel": exported_tree(kernel, kernel.theta[None]),
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
