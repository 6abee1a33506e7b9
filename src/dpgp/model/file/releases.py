"""What was released and read from it: the stages' noisy sums, a density, laws, scales, findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpgp.checked_values import (
    LARGEST,
    ModelFileError,
    as_between,
    as_covariance,
    as_fields,
    as_findings,
    as_items,
    as_matrix,
    as_number,
    as_positive,
    as_rows,
    as_symmetric,
    as_text,
    as_vector,
    check_increasing,
    number_to_json,
    triangle_to_json,
    with_present,
)
from dpgp.domain import Box
from dpgp.features.base import features_from_json
from dpgp.features.inducing import InducingFeatures
from dpgp.inference.conformal import Calibration
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.stage import StageRelease
from dpgp.model.file.categories import SIGNED_FROM, are_levels
from dpgp.model.input_model import InputDensity
from dpgp.outcomes import OutcomeKind
from dpgp.outcomes.log_odds import LARGEST_SHIFT, Cut, LogOdds
from dpgp.row_weights import ReleasedWeights

MOST_WRITTEN = 1000  # stages of a file: far beyond any model, far below any harm

CLIPS = (1e-9, 1e9)
"""Where residuals may be clipped, in half-widths of the target: far beyond any model."""

LAWS = ("law of residuals", "target histograms")
"""Steps whose findings are read again: probabilities by the kinds of laws, one law a target.

Those of targets have shares of the rows in equal bins as well, and their noise.
"""

HISTOGRAMS = "input histograms"
"""The step whose findings tell whether bounds are right: shares of the rows, and their noise."""
FEWEST_BINS = 8

COUNTS = "number of rows"
"""The step whose findings tell how many of a table's rows and cells can be used."""

LABELS = "labels by prediction"
"""The step whose findings tell how good probabilities are: counts by bins of predictions."""

POOLED = "pooled"
"""What was found when releases were compared; no step of a fit has that name."""

Stages = tuple[tuple[StageRelease, ...], ...]

_SHARED = ("n", "sigma_b", "B", "targets")
_OWN = ("clip", "sigma_a", "sigma_c", "c", "A", "w0")


def stages_to_json(release: Stages) -> list[dict[str, Any]]:
    """Return one object a stage; targets share its Gram matrix of the features.

    Without B there are no A and no w0 either: features of a stage of its own are not kept.
    """
    return [_stage_to_json(targets) for targets in zip(*release, strict=True)]


def _stage_to_json(targets: Sequence[StageRelease]) -> dict[str, Any]:
    first = targets[0]
    if any(not np.array_equal(other.B, first.B) for other in targets):
        raise ModelFileError("targets with Gram matrices of their own cannot be saved.")
    return {
        "n": number_to_json(first.n),
        "sigma_b": number_to_json(first.sigma_b),
        "B": triangle_to_json(first.B, "Gram matrix") if len(first.B) else None,
        "targets": [
            {
                "clip": number_to_json(target.clip),
                "sigma_a": number_to_json(target.sigma_a),
                "sigma_c": number_to_json(target.sigma_c),
                "c": number_to_json(target.c),
                "A": target.A.tolist(),
                "w0": target.w0.tolist(),
            }
            for target in targets
        ],
    }


def stages_from_json(value: Any, targets: int, dimension: int, outcome: OutcomeKind) -> Stages:
    """Return the stages of every target."""
    items = as_items(value, "stages", MOST_WRITTEN)
    fields = [as_fields(item, "stages", _SHARED) for item in items]
    n = as_rows([shared["n"] for shared in fields], "stages.n")
    stages = [_stage(shared, n, targets, dimension, outcome) for shared in fields]
    return tuple(zip(*stages, strict=True))


def _stage(
    fields: dict[str, Any], n: float, targets: int, d: int, outcome: OutcomeKind
) -> list[StageRelease]:
    items = as_items(fields["targets"], "stages.targets")
    if len(items) != targets:
        raise ModelFileError(f"`stages.targets` must have {targets} entries.")
    d = 0 if fields["B"] is None else d
    B = as_symmetric(fields["B"], "stages.B", d) if d else np.empty((0, 0))
    sigma_b = as_number(fields["sigma_b"], "stages.sigma_b", low=0.0)
    parts = [as_fields(item, "stages.targets", _OWN) for item in items]
    return [
        StageRelease(
            A=as_vector(part["A"], "stages.A", d),
            B=B,
            c=as_number(part["c"], "stages.c"),
            sigma_a=as_number(part["sigma_a"], "stages.sigma_a", low=0.0),
            sigma_b=sigma_b,
            sigma_c=as_number(part["sigma_c"], "stages.sigma_c", low=0.0),
            clip=as_between(part["clip"], "stages.clip", *CLIPS),
            w0=as_vector(part["w0"], "stages.w0", d),
            n=n,
            outcome=outcome,
        )
        for part in parts
    ]


def density_to_json(density: InputDensity | None) -> dict[str, Any] | None:
    """Return points in the inputs' own units, and about how many rows lie near each."""
    if density is None:
        return None
    return {"points": density.points.tolist(), "weights": density.weights.tolist()}


def density_from_json(value: Any, box: Box) -> InputDensity | None:
    """Return the density of the inputs, if there is one."""
    if value is None:
        return None
    fields = as_fields(value, "input_density", ("points", "weights"))
    points = as_matrix(fields["points"], "input_density.points", len(box.low))
    if not are_levels(points, box):
        raise ModelFileError("`input_density.points` must hold numbers of levels in categories.")
    weights = as_vector(fields["weights"], "input_density.weights", len(points))
    if np.any(weights < 0.0):
        raise ModelFileError("`input_density.weights` must not be negative.")
    return InputDensity(points, weights)


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


def findings_from_json(value: Any, targets: int) -> dict[str, Any]:
    """Read what steps found beside a posterior: plain values, by their names in the certificate."""
    findings = as_findings(value)
    if not isinstance(findings, dict):
        raise ModelFileError("`findings` must hold plain values by the names of steps.")
    for name in LAWS:
        if name in findings:
            _check_laws(findings[name], f"findings.{name}", targets)
    if HISTOGRAMS in findings:
        _check_shares(findings[HISTOGRAMS], f"findings.{HISTOGRAMS}")
    if POOLED in findings:
        _check_pooled(findings[POOLED], f"findings.{POOLED}", targets)
    if COUNTS in findings and ReleasedWeights.found(findings[COUNTS]) is None:
        _check_counts(findings[COUNTS], f"findings.{COUNTS}")
    if LABELS in findings:
        _check_labels(findings[LABELS], f"findings.{LABELS}")
    return findings


def _check_labels(value: Any, where: str) -> None:
    """Check what was predicted in every bin, rising, and noisy counts of both labels."""
    fields = as_fields(value, where, ("predicted", "apart", "no", "yes", "noise"))
    predicted = as_vector(as_items(fields["predicted"], where), where)
    for name in ("apart", "no", "yes"):
        as_vector(fields[name], where, len(predicted))
    if (np.diff(predicted) < 0.0).any() or as_number(fields["noise"], where) < 0.0:
        raise ModelFileError(f"`{where}` must rise from bin to bin, and its noise be 0 or more.")


def _check_pooled(value: Any, where: str, targets: int) -> None:
    """Check rows of every release, the sd between them a target, and words about them."""
    names = ("rows", "between", "agreement", "differences")
    fields = as_fields(value, where, with_present(names, value, "along"))
    for line in fields.get("along", ()):
        _check_along(line, f"{where}.along")
    as_vector(fields["rows"], where)
    as_vector(fields["between"], where, targets)
    as_text(fields["agreement"], where)


def _check_along(value: Any, where: str) -> None:
    """Check a line along an input: places that rise, as many differences and sds."""
    fields = as_fields(value, where, ("release", "target", "input", "at", "difference", "sd"))
    for name in ("release", "target", "input"):
        as_text(fields[name], where)
    at = as_vector(as_items(fields["at"], where), where)
    if len(at) < 2 or (np.diff(at) <= 0.0).any():
        raise ModelFileError(f"`{where}` must go through two places or more, one after the other.")
    for name in ("difference", "sd"):
        as_vector(fields[name], where, len(at))


def _check_counts(value: Any, where: str) -> None:
    """Check counts of rows and of cells, beside the public number of rows, and their noise."""
    fields = as_fields(value, where, ("told", "usable", "noise", "cells", "noise of cells"))
    for name in ("usable", "noise", "noise of cells"):
        as_number(fields[name], where)
    as_positive(fields["told"], where)
    if fields["cells"] != []:  # no column of levels was counted
        for cells in as_items(fields["cells"], where):
            as_number(cells, where)


def _check_shares(value: Any, where: str) -> None:
    """Check shares of the rows by bins, no bins of a category, and the noise of a share."""
    fields = as_fields(value, where, ("noise", "shares"))
    as_number(fields["noise"], where)
    for column in as_items(fields["shares"], where):
        if column is not None:
            _check_bins(column, where)


def _check_bins(value: Any, where: str) -> None:
    shares = as_items(value, where)
    if len(shares) < FEWEST_BINS:
        raise ModelFileError(f"`{where}` must hold {FEWEST_BINS} bins or more.")
    for share in shares:
        as_number(share, where)


def _check_laws(value: Any, where: str, targets: int) -> None:
    laws = as_items(value, where)
    if len(laws) != targets or not all(isinstance(law, dict) for law in laws):
        raise ModelFileError(f"`{where}` must hold one law a target, by its kinds.")
    for law in laws:
        for name, told in law.items():
            if name == "shares":
                _check_bins(told, where)
            else:
                as_number(told, where)
        if ("shares" in law) != ("noise" in law):
            raise ModelFileError(f"`{where}` must hold shares and their noise, or neither.")


def log_odds_to_json(odds: tuple[LogOdds, ...]) -> dict[str, Any]:
    """Return the fields of a file that tell how beliefs become probabilities; none for numbers."""
    shifts = {"shifts": [each.shift for each in odds]} if odds else {}
    links = [[each.level, each.slope, each.spread] for each in odds if each.spread is not None]
    weights = [each.weight for each in odds] if len(odds) > 1 else []
    cuts = [[*each.cut] for each in odds if each.cut is not None]
    found = {"log_odds": links, "class_weights": weights, "class_cuts": cuts}
    return shifts | {name: value for name, value in found.items() if value}


def log_odds_from_json(
    document: dict[str, Any], targets: int, outcome: OutcomeKind
) -> tuple[LogOdds, ...]:
    """Read them; older files have shifts of all log odds alike, or neither."""
    if "shifts" not in document:
        return ()
    shifts = as_vector(document["shifts"], "shifts", targets)
    if not outcome.link_is_fitted or np.abs(shifts).max() > LARGEST_SHIFT:
        raise ModelFileError(f"`shifts` must be log odds of classes within ±{LARGEST_SHIFT:g}.")
    if "log_odds" not in document:
        return tuple(LogOdds(shift=a, level=a) for a in shifts.tolist())
    links = as_matrix(document["log_odds"], "log_odds", 3)
    if len(links) != targets or (links[:, 1] < 0.0).any() or (links[:, 2] <= 0.0).any():
        raise ModelFileError("`log_odds` must be a, b ≥ 0 and τ > 0, one row a target.")
    weights = as_vector(document.get("class_weights", [1.0]), "class_weights", targets)
    if weights.min() <= 0.0:
        raise ModelFileError("`class_weights` must be positive, one for each class.")
    cuts = _cuts_from_json(document.get("class_cuts"), targets, outcome)
    parts = zip(shifts.tolist(), links.tolist(), weights.tolist(), cuts, strict=True)
    return tuple(
        LogOdds(shift, a, b, tau, weight, cut) for shift, (a, b, tau), weight, cut in parts
    )


def _cuts_from_json(value: Any, classes: int, outcome: OutcomeKind) -> Sequence[Cut | None]:
    """Read offsets, thresholds and the slope of classes that have an order; else None of each."""
    if value is None and not outcome.has_order:
        return [None] * classes
    offsets, thresholds, slopes = as_matrix(value, "class_cuts", 3).T
    well_made = (
        outcome.has_order
        and len(offsets) == classes
        and (np.diff(thresholds[:-1]) >= 0.0).all()
        and slopes[0] >= 0.0
        and np.ptp(slopes) == 0.0
    )
    if not well_made:
        raise ModelFileError(
            "`class_cuts` must be offsets, increasing thresholds and one slope ≥ 0, a row for each "
            "of the classes that have an order."
        )
    return [
        Cut(*cut) for cut in zip(*(v.tolist() for v in (offsets, thresholds, slopes)), strict=True)
    ]
