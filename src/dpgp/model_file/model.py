"""A fitted estimator as one object of plain values, and back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dpgp import __version__
from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.features.whitened import WhitenedMap
from dpgp.inference.conformal import Calibration
from dpgp.inference.evidence import Moments
from dpgp.inference.posterior import Posterior
from dpgp.inference.warp import Warp
from dpgp.model_file.features import LARGEST, anchor_count, features_from_json, features_to_json
from dpgp.model_file.guarantee import about, certificate_from_json, certificate_to_json
from dpgp.model_file.kernels import kernel_from_json, kernel_to_json
from dpgp.model_file.releases import (
    density_from_json,
    density_to_json,
    stages_from_json,
    stages_to_json,
)
from dpgp.model_file.settings import settings_from_json, settings_to_json
from dpgp.model_file.values import (
    ModelFileError,
    as_covariance,
    as_fields,
    as_flag,
    as_items,
    as_matrix,
    as_number,
    as_positive,
    as_text,
    as_vector,
    check_increasing,
    number_to_json,
    triangle_to_json,
)
from dpgp.regressor import PrivateGPRegressor

Array = NDArray[np.float64]

KIND = "dpgp model"
FORMAT = 1
MOST_TARGETS = 1000
MOST_THETAS = 64
MOST_NUMBERS = 2**29
"""Numbers that a prediction may hold in memory at once for one matrix over the anchors."""

_FIELDS = (
    "about",
    "kind",
    "format",
    "dpgp_version",
    "created",
    "guarantee",
    "settings",
    "inputs",
    "targets",
    "features",
    "models",
    "input_density",
    "stages",
)
_MODEL = (
    "kernel",
    "noise",
    "log_evidence",
    "weights",
    "covariance",
    "thetas",
    "spreads",
    "calibration",
)


def encode(estimator: Any) -> dict[str, Any]:
    """Return released values and public choices of a fitted estimator."""
    check_is_fitted(estimator)
    posterior, certificate = estimator.posterior_, estimator.certificate_
    posteriors = posterior if isinstance(posterior, tuple) else (posterior,)
    features = posteriors[0].features
    if any(other.features is not features for other in posteriors):
        raise ModelFileError("models of targets with features of their own cannot be saved.")
    pairs = zip(posteriors, estimator.calibration_, strict=True)
    return {
        "about": about(certificate),
        "kind": KIND,
        "format": FORMAT,
        "dpgp_version": __version__,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "guarantee": certificate_to_json(certificate),
        "settings": settings_to_json(estimator.get_params(deep=False)),
        "inputs": _inputs_to_json(estimator.inputs_),
        "targets": {
            **_box_to_json(estimator.target_box_),
            "as_columns": isinstance(posterior, tuple),
        },
        "features": features_to_json(features),
        "models": [_model_to_json(*pair) for pair in pairs],
        "input_density": density_to_json(estimator.input_density_),
        "stages": stages_to_json(estimator.release_),
    }


def decode(document: Any) -> PrivateGPRegressor:
    """Return the estimator that a document describes; everything in it is checked."""
    _check_format(document)
    fields = as_fields(document, "the file", _FIELDS)
    for name in ("about", "dpgp_version", "created"):
        as_text(fields[name], name)
    inputs = _inputs(fields["inputs"])
    columns = len(inputs.box.low)
    estimator = PrivateGPRegressor(**settings_from_json(fields["settings"], columns))
    targets = as_fields(fields["targets"], "targets", ("low", "high", "names", "as_columns"))
    features = features_from_json(fields["features"], "features", columns)
    models = [
        _model(item, f"models[{k}]", features, columns)
        for k, item in enumerate(as_items(fields["models"], "models", MOST_TARGETS))
    ]
    estimator.target_box_ = _box(targets, "targets", len(models))
    estimator.inputs_ = inputs
    estimator.calibration_ = tuple(calibration for _, calibration in models)
    estimator.certificate_ = certificate_from_json(fields["guarantee"])
    _check_settings(estimator)
    posteriors = tuple(posterior for posterior, _ in models)
    several = as_flag(targets["as_columns"], "targets.as_columns")
    if not several and len(posteriors) > 1:
        raise ModelFileError("`targets.as_columns` must be true where there are several targets.")
    estimator.posterior_ = posteriors if several else posteriors[0]
    estimator.input_density_ = density_from_json(fields["input_density"], columns)
    estimator.release_ = stages_from_json(fields["stages"], len(models), features.dimension)
    estimator.n_features_in_ = columns
    if inputs.box.names is not None:
        estimator.feature_names_in_ = np.array(inputs.box.names, dtype=object)
    _check_predictions(estimator)
    return estimator


def _check_settings(estimator: PrivateGPRegressor) -> None:
    """Refuse arguments that contradict the certificate."""
    certificate = estimator.certificate_
    asked = (estimator.epsilon, estimator.delta, estimator.neighbours, estimator.max_rows_per_unit)
    relation = certificate.neighbours.value
    if asked != (certificate.epsilon, certificate.delta, relation, certificate.rows_per_unit):
        raise ModelFileError("`settings` contradict `guarantee`; change no argument after `fit`.")


def _check_format(document: Any) -> None:
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ModelFileError("this is not a model of dpgp: `save` of an estimator writes one.")
    version = document.get("format")
    if type(version) is not int or version < 1:
        raise ModelFileError("`format` must be a whole number from 1 on.")
    if version > FORMAT:
        raise ModelFileError(
            f"the file was written by a newer dpgp (format {version}); this one reads up to "
            f"format {FORMAT}: upgrade dpgp."
        )


def _box_to_json(box: Box) -> dict[str, Any]:
    names = None if box.names is None else [as_text(str(name), "names") for name in box.names]
    return {"low": box.low.tolist(), "high": box.high.tolist(), "names": names}


def _box(fields: dict[str, Any], where: str, columns: int | None = None) -> Box:
    low = as_vector(fields["low"], f"{where}.low", columns)
    high = as_vector(fields["high"], f"{where}.high", len(low))
    if not 1 <= len(low) <= LARGEST or not np.all(low < high):
        raise ModelFileError(f"`{where}` must have bounds with low < high.")
    names = fields["names"]
    if names is not None:
        names = tuple(as_text(name, f"{where}.names") for name in as_items(names, where))
        if len(names) != len(low):
            raise ModelFileError(f"`{where}.names` must hold one name for each bound.")
    return Box(low, high, names)


def _inputs_to_json(inputs: UnitInputs) -> dict[str, Any]:
    warp = inputs.warp
    if warp is None:
        return {**_box_to_json(inputs.box), "warp": None}
    if not isinstance(warp, Warp):
        raise ModelFileError(f"a warp of type {type(warp).__name__} cannot be saved.")
    parts = {"edges": warp.edges.tolist(), "values": warp.values.tolist()}
    return {**_box_to_json(inputs.box), "warp": parts}


def _inputs(value: Any) -> UnitInputs:
    fields = as_fields(value, "inputs", ("low", "high", "names", "warp"))
    box = _box(fields, "inputs")
    if fields["warp"] is None:
        return UnitInputs(box)
    where = "inputs.warp"
    parts = as_fields(fields["warp"], where, ("edges", "values"))
    edges = as_vector(parts["edges"], f"{where}.edges")
    values = as_matrix(parts["values"], f"{where}.values", len(edges), len(box.low))
    if len(edges) < 2 or not np.all(np.diff(edges) > 0.0):
        raise ModelFileError(f"`{where}.edges` must increase.")
    for row in (edges, *values):
        check_increasing(row, where, (-1.0, 1.0))
    return UnitInputs(box, Warp(edges, values))


def _model_to_json(posterior: Posterior, calibration: Calibration) -> dict[str, Any]:
    moments = posterior.moments
    return {
        "kernel": kernel_to_json(posterior.kernel),
        "noise": number_to_json(moments.noise),
        "log_evidence": number_to_json(posterior.log_evidence),
        "weights": moments.w.tolist(),
        "covariance": triangle_to_json(moments.V, "covariance"),
        "thetas": posterior.thetas.tolist(),
        "spreads": posterior.spreads.tolist(),
        "calibration": {"factors": calibration.factors.tolist(), "cdf": calibration.cdf.tolist()},
    }


def _model(
    value: Any, where: str, features: WhitenedMap, columns: int
) -> tuple[Posterior, Calibration]:
    fields = as_fields(value, where, _MODEL)
    kernel = kernel_from_json(fields["kernel"], f"{where}.kernel", columns)
    thetas = as_matrix(fields["thetas"], f"{where}.thetas", kernel.n_dims + 1)
    if len(thetas) > MOST_THETAS:
        raise ModelFileError(f"`{where}.thetas` must have at most {MOST_THETAS} rows.")
    _check_size(features, len(thetas), columns)
    spreads = as_vector(fields["spreads"], f"{where}.spreads", len(thetas))
    if not np.all(spreads > 0.0):
        raise ModelFileError(f"`{where}.spreads` must be positive.")
    moments = Moments(
        w=as_vector(fields["weights"], f"{where}.weights", features.dimension),
        V=as_covariance(fields["covariance"], f"{where}.covariance", features.dimension),
        noise=as_positive(fields["noise"], f"{where}.noise"),
    )
    log_evidence = as_number(fields["log_evidence"], f"{where}.log_evidence", infinite=True)
    posterior = Posterior(features, kernel, moments, thetas, spreads, log_evidence)
    return posterior, _calibration(fields["calibration"], f"{where}.calibration")


def _check_size(features: WhitenedMap, thetas: int, columns: int) -> None:
    """Refuse features whose matrices do not fit into memory, before any is computed."""
    anchors = anchor_count(features)
    if features.dimension > LARGEST or (thetas + columns) * anchors**2 > MOST_NUMBERS:
        raise ModelFileError("`features` are too many for a model file.")


def _calibration(value: Any, where: str) -> Calibration:
    fields = as_fields(value, where, ("factors", "cdf"))
    factors = as_vector(fields["factors"], f"{where}.factors")
    cdf = as_vector(fields["cdf"], f"{where}.cdf", len(factors))
    if len(factors) < 2:
        raise ModelFileError(f"`{where}` must hold two numbers or more.")
    check_increasing(factors, f"{where}.factors", (0.0, np.inf))
    check_increasing(cdf, f"{where}.cdf", (0.0, 1.0))
    return Calibration(factors, cdf)


def _check_predictions(estimator: PrivateGPRegressor) -> None:
    """Predict at three points of the box: a model that cannot is none."""
    box = estimator.inputs_.box
    U = estimator.inputs_(np.stack([box.low, box.centre, box.high]))
    for target in range(len(estimator.calibration_)):
        mean, std = estimator._predict_one(target, U, False, False)
        if not (np.isfinite(mean).all() and np.isfinite(std).all() and np.all(std > 0.0)):
            raise ModelFileError(f"`models[{target}]` does not predict finite numbers.")
