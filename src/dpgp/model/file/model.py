"""A fitted model as one object of plain values, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dpgp import __version__
from dpgp.checked_values import (
    LARGEST,
    MOST_TARGETS,
    ModelFileError,
    as_covariance,
    as_fields,
    as_items,
    as_matrix,
    as_number,
    as_positive,
    as_text,
    as_vector,
    as_whole,
    number_to_json,
    triangle_to_json,
)
from dpgp.features.base import WrittenMap, features_from_json, features_to_json
from dpgp.inference.conformal import Calibration
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Moments, Posterior
from dpgp.inference.recorded import Recorded
from dpgp.kernels.known import kernel_from_json, kernel_to_json, own_kernel_from_json
from dpgp.model.file.categories import (
    CLASSES_FROM,
    SEVERAL_CLASSES_FROM,
    SIGNED_FROM,
    box_to_json,
    classes_to_json,
    inputs_from_json,
    inputs_to_json,
    targets_from_json,
)
from dpgp.model.file.guarantee import about, certificate_from_json, certificate_to_json
from dpgp.model.file.records import records_from_json, records_to_json
from dpgp.model.file.releases import (
    Stages,
    calibration_from_json,
    calibration_to_json,
    density_from_json,
    density_to_json,
    findings_from_json,
    log_odds_from_json,
    log_odds_to_json,
    scale_features_from_json,
    scale_from_json,
    scale_to_json,
    stages_from_json,
    stages_to_json,
)
from dpgp.model.file.settings import settings_from_json, settings_to_json
from dpgp.model.fitted import FittedModel, model_class
from dpgp.packed import check_room, content_digest, pack_document, unpack_documents
from dpgp.privacy.certificate import Certificate

KIND = "dpgp model"
FORMAT = SEVERAL_CLASSES_FROM
"""Newest format. A file has the oldest that can hold its outcome, so that older programs read what
they can. Formats 1 and, where there are categories, 2 had no function of the scale, and the law of
absolute residuals."""
NEWEST_FORMAT = 10**6
MOST_MEMBERS = 1000  # releases that were pooled
MOST_THETAS = 64  # twice what a fit keeps: every prediction costs a kernel matrix for each

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
_OPTIONAL = (
    "id",
    "findings",
    "shifts",
    "log_odds",
    "records",
    "records_digest",
    "members",
    "class_weights",
    "class_cuts",
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


def encode(model: FittedModel, records: bool = True) -> dict[str, Any]:
    """Return released values and public choices of a fitted model, with its records if asked."""
    features = model.posteriors[0].features
    if any(other.features is not features for other in model.posteriors):
        raise ModelFileError("models of targets with features of their own cannot be saved.")
    scales = model.scales or (None,) * model.n_targets
    parts = zip(model.posteriors, model.calibrations, scales, strict=True)
    target_box = model.options.target_box
    version = model.outcome.file_format
    classes = {} if version < CLASSES_FROM else {"classes": classes_to_json(target_box)}
    targets = {**box_to_json(target_box), **classes}
    document = {
        "about": about(model.certificate),
        "kind": KIND,
        "format": version,
        "dpgp_version": __version__,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "id": model.id,
        "guarantee": certificate_to_json(model.certificate),
        "settings": settings_to_json(model.options),
        "inputs": inputs_to_json(model.inputs),
        "targets": {**targets, "as_columns": len(target_box.low) > 1},
        "features": features_to_json(features),
        "scale_features": features_to_json(model.scales[0].features) if model.scales else None,
        "models": [_model_to_json(*part) for part in parts],
        "input_density": density_to_json(model.density),
        "stages": stages_to_json(model.stages),
    }
    document |= {"findings": dict(model.findings)} if model.findings else {}
    if model.records_digest is not None:
        document["records_digest"] = model.records_digest
    if records and model.recorded is not None:
        document["records"] = records_to_json(model.recorded)
    if model.members:
        document["members"] = [pack_document(encode(member)) for member in model.members]
    return document | log_odds_to_json(model.log_odds)


def decode(document: Any) -> FittedModel:
    """Return the model that a document describes; everything in it is checked."""
    _check_format(document)
    without = {name: part for name, part in document.items() if name not in _OPTIONAL}
    version = document["format"]
    is_signed = version >= SIGNED_FROM
    fields = as_fields(without, "the file", _FIELDS + (("scale_features",) if is_signed else ()))
    for name in ("about", "dpgp_version", "created"):
        as_text(fields[name], name)
    inputs = inputs_from_json(fields["inputs"], version)
    columns = inputs.dimension
    features = features_from_json(fields["features"], "features", columns)
    if max(features.dimension, features.most_anchors) > LARGEST:  # before any matrix is computed
        raise ModelFileError("`features` are too many for a model file.")
    items = as_items(fields["models"], "models", MOST_TARGETS)
    read_kernel = _reader_of_kernels(fields["settings"], columns)
    models = [
        _model(item, f"models[{k}]", features, version, read_kernel) for k, item in enumerate(items)
    ]
    shared = scale_features_from_json(fields.get("scale_features"), columns)
    scales = [
        scale_from_json(item.get("scale"), f"models[{k}].scale", shared)
        for k, item in enumerate(items)
    ]
    target_box = targets_from_json(fields["targets"], len(models), version)
    members = _members(document)
    certificate = _certificate(fields["guarantee"], members)
    options = settings_from_json(fields["settings"], inputs.box, target_box, certificate.per_person)
    if options.n_targets != len(models):
        raise ModelFileError(f"`models` must be {options.n_targets}, as `targets` say.")
    stages = stages_from_json(fields["stages"], len(models), features.dimension, options.outcome)
    model = model_class(options.outcome)(
        options=options,
        inputs=inputs,
        posteriors=tuple(posterior for posterior, _ in models),
        calibrations=tuple(calibration for _, calibration in models),
        stages=stages,
        density=density_from_json(fields["input_density"], inputs.box),
        certificate=certificate
        if members
        else replace(certificate, rows_of_unit=options.rows_of_unit),
        scales=tuple(scale for scale in scales if scale is not None),
        findings=findings_from_json(document.get("findings", {}), len(models)),
        log_odds=log_odds_from_json(document, len(models), options.outcome),
        recorded=_records(document, features, stages, options.max_rows_per_unit, columns),
        members=members,
        records_digest=_digest_of_records(document, members),
    )
    _check_settings(model)
    _check_predictions(model)
    if "id" in document and document["id"] != model.id:  # older files have none
        raise ModelFileError("`id` does not follow from the sums in `stages` and `records_digest`.")
    return model


def _members(document: dict[str, Any]) -> tuple[FittedModel, ...]:
    """Return the releases that were pooled, none of which was; empty where none were."""
    if "members" not in document:
        return ()
    packed = as_items(document["members"], "members", MOST_MEMBERS)
    members = unpack_documents(packed, "members")
    if any(isinstance(member, dict) and "members" in member for member in members):
        raise ModelFileError("`members` must be releases, not pooled models.")
    read = tuple(decode(member) for member in members)
    if len({member.id for member in read}) < len(read):
        raise ModelFileError("`members` must be different releases, each once.")
    return read


def _certificate(value: Any, members: tuple[FittedModel, ...]) -> Certificate:
    """Return the certificate, that of pooled releases from their own."""
    if not members:
        return certificate_from_json(value)
    certificate = Certificate.of_pool([member.certificate for member in members])
    if value != certificate_to_json(certificate):
        raise ModelFileError("`guarantee` is not that of the releases in `members` together.")
    return certificate


def _records(
    document: dict[str, Any], features: WrittenMap, stages: Stages, rows: int, columns: int
) -> Recorded | None:
    """Return what stages measured, where the file has it."""
    if "records" not in document:
        return None
    check_room(document["records"])
    return records_from_json(document["records"], features, stages, rows, columns)


def _digest_of_records(document: dict[str, Any], members: tuple[FittedModel, ...]) -> str | None:
    """Return what binds records, or members, to the id; None in files of earlier versions."""
    if "records_digest" not in document:
        return None
    stated = as_text(document["records_digest"], "records_digest")
    held = [member.id for member in members] or document.get("records")
    where = "members" if members else "records"
    if held is not None and content_digest(held, where) != stated:
        raise ModelFileError(f"`{where}` are not those of `records_digest`.")
    return stated


def _check_settings(model: FittedModel) -> None:
    """Refuse options that contradict the certificate."""
    options, certificate = model.options, model.certificate
    asked = (options.epsilon, options.delta, options.neighbours, options.max_rows_per_unit)
    promised = (certificate.epsilon, certificate.delta, certificate.neighbours)
    if asked != (*promised, certificate.rows_per_unit):
        raise ModelFileError("`settings` contradict `guarantee`.")


def _check_format(document: Any) -> None:
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ModelFileError("this is not a model of dpgp: `save` of an estimator writes one.")
    version = as_whole(document.get("format"), "format", 1, NEWEST_FORMAT)
    if version > FORMAT:
        raise ModelFileError(
            f"the file was written by a newer dpgp (format {version}); this one reads up to "
            f"format {FORMAT}: upgrade dpgp."
        )


def _model_to_json(
    posterior: Posterior, calibration: Calibration, scale: LocalScale | None
) -> dict[str, Any]:
    moments = posterior.moments
    return {
        "kernel": kernel_to_json(posterior.kernel),
        "noise": number_to_json(moments.noise),
        "log_evidence": number_to_json(posterior.log_evidence),
        "weights": moments.w.tolist(),
        "covariance": triangle_to_json(moments.V, "covariance"),
        "thetas": posterior.thetas.tolist(),
        "spreads": posterior.spreads.tolist(),
        "calibration": calibration_to_json(calibration),
        "scale": scale_to_json(scale),
    }


def _reader_of_kernels(settings: Any, columns: int) -> Callable[[Any, str], Any]:
    """Return what reads kernels: as they were given, or those that a fit makes by itself."""
    is_given = isinstance(settings, dict) and settings.get("kernel") is not None
    read = own_kernel_from_json if is_given else kernel_from_json
    return lambda value, where: read(value, where, columns)


def _model(
    value: Any,
    where: str,
    features: WrittenMap,
    version: int,
    read_kernel: Callable[[Any, str], Any],
) -> tuple[Posterior, Calibration]:
    fields = as_fields(value, where, _MODEL + (("scale",) if version >= SIGNED_FROM else ()))
    kernel = read_kernel(fields["kernel"], f"{where}.kernel")
    thetas = as_matrix(fields["thetas"], f"{where}.thetas", kernel.n_dims + 1)
    if len(thetas) > MOST_THETAS:
        raise ModelFileError(f"`{where}.thetas` must have at most {MOST_THETAS} rows.")
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
    law = calibration_from_json(fields["calibration"], f"{where}.calibration", version)
    return posterior, law


def _check_predictions(model: FittedModel) -> None:
    """Predict at three points of the box: a model that cannot is none."""
    box = model.options.box
    U = model.inputs(np.stack([box.low, box.centre, box.high]))
    for target in range(model.n_targets):
        mean, std = model.posteriors[target].predict(U)
        std = model.local_scale(target, U) * std
        if not (np.isfinite(mean).all() and np.isfinite(std).all() and np.all(std > 0.0)):
            raise ModelFileError(f"`models[{target}]` does not predict finite numbers.")
