"""How new observations scatter: the law of scaled residuals, and the function of the scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpgp.checked_values import (
    LARGEST,
    ModelFileError,
    as_covariance,
    as_fields,
    as_vector,
    check_increasing,
    triangle_to_json,
)
from dpgp.features.base import features_from_json, features_to_json
from dpgp.features.inducing import InducingFeatures
from dpgp.inference.conformal import Calibration
from dpgp.inference.local_scale import LocalScale

SIGNED_FROM = 3
"""Format from which on the law is that of signed residuals, and a scale may follow the inputs."""


def calibration_to_json(calibration: Calibration) -> dict[str, Any]:
    """Return the distribution of the scaled residual."""
    return {"factors": calibration.factors.tolist(), "cdf": calibration.cdf.tolist()}


def calibration_from_json(value: Any, where: str, version: int) -> Calibration:
    """Return the distribution of the scaled residual; older formats have its absolute value's."""
    fields = as_fields(value, where, ("factors", "cdf"))
    factors = as_vector(fields["factors"], f"{where}.factors")
    cdf = as_vector(fields["cdf"], f"{where}.cdf", len(factors))
    if len(factors) < 2:
        raise ModelFileError(f"`{where}` must hold two numbers or more.")
    is_signed = version >= SIGNED_FROM
    check_increasing(factors, f"{where}.factors", (-np.inf if is_signed else 0.0, np.inf))
    check_increasing(cdf, f"{where}.cdf", (0.0, 1.0))
    return Calibration(factors, cdf) if is_signed else Calibration.of_absolute(factors, cdf)


def scale_features_to_json(scales: tuple[LocalScale, ...]) -> dict[str, Any] | None:
    """Return the features that the scales of all targets share, null where there are none."""
    return features_to_json(scales[0].features) if scales else None


def scale_features_from_json(value: Any, columns: int) -> InducingFeatures | None:
    """Return these features, if there are any."""
    if value is None:
        return None
    features = features_from_json(value, "scale_features", columns)
    if not isinstance(features, InducingFeatures) or features.dimension > LARGEST:
        raise ModelFileError(f"`scale_features` must be inducing features, {LARGEST} at most.")
    return features


def scale_to_json(scale: LocalScale | None) -> dict[str, Any] | None:
    """Return mean and covariance of the weights of log c."""
    if scale is None:
        return None
    return {"weights": scale.w.tolist(), "covariance": triangle_to_json(scale.V, "scale")}


def scale_from_json(value: Any, where: str, features: InducingFeatures | None) -> LocalScale | None:
    """Return the function of the scale of one target; there is one if there are features."""
    if (value is None) != (features is None):
        raise ModelFileError(f"`{where}` and `scale_features` must both be null, or none of them.")
    if features is None:
        return None
    fields = as_fields(value, where, ("weights", "covariance"))
    d = features.dimension
    return LocalScale(
        features,
        as_vector(fields["weights"], f"{where}.weights", d),
        as_covariance(fields["covariance"], f"{where}.covariance", d),
    )
