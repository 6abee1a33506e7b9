"""What a model file tells of the fit that it came from, beside its guarantee."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.checked_values import (
    LARGEST,
    MOST_TARGETS,
    ModelFileError,
    as_flag,
    as_items,
    as_number,
    as_positive,
    as_rows,
    as_text,
    as_vector,
)
from dpgp.packed import content_digest
from dpgp.verify.claim import Claim, recomputed_mu

MANY_INPUTS = 3
"""From how many inputs on stages learn a metric, unless something else was asked for."""
TYPICAL_ROWS = 2000.0
"""What shares are chosen for where the number of rows is private: docs/method.md."""
MOST_STAGES = 1000
NAME_DIGITS = 32
CLOSE_TO_GAUSSIAN = 1e-9

Tree = Mapping[str, Any]


@dataclass(frozen=True)
class ClaimedStage:
    """The noise that one stage of a file states: of the features, and (clip, σ_a, σ_c) a target.

    ``features`` is None where a stage learned its own, which are not kept.
    """

    features: int | None
    sigma_b: float
    targets: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class ClaimedFit:
    """Public choices of a fit, and what its steps left behind.

    ``n`` is the number of rows that the model was computed with, ``rows`` the one that the budget
    was split for. ``coordinates`` has one for every input of numbers and every indicator of a
    category, ``levels`` the most of any category, and ``counted_levels`` are how many columns of
    levels rows may be unusable by, beside numbers. Targets that ``are_joint`` are the classes of
    one, whose residuals are bounded together. ``laws_are_known`` says that new observations
    scatter by the normal law, which no release tells, and ``asks_parts`` that stages may ask parts
    of the rows. ``row_weight`` is what a row of the model weighs, one where rows have no weights;
    all else is in whole rows. A fit that ``has_prior`` started from an earlier model, which told
    where inputs and targets lie.
    """

    claim: Claim
    mu: float
    n: float
    has_public_rows: bool
    columns: int
    coordinates: int
    levels: int
    counted_levels: int
    targets: int
    has_classes: bool
    is_yes_no: bool
    are_joint: bool
    learns_metric: bool
    may_warp: bool
    calibrates: bool
    weights: tuple[float, ...]
    stages: tuple[ClaimedStage, ...]
    asks_parts: bool
    warp_bins: int | None
    scale_features: int | None
    laws_are_known: bool
    findings: Tree
    row_weight: float | None = None
    has_prior: bool = False

    @property
    def rows(self) -> float:
        """The number of rows, or a fixed one where it is private."""
        return self.n if self.has_public_rows else TYPICAL_ROWS

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing has a price (ε = ∞)."""
        return self.claim.promises_nothing

    @property
    def clips(self) -> bool:
        """Whether residuals are clipped: nowhere without noise, and never those of classes."""
        return not (self.is_unlimited or self.has_classes)


def read_fit(document: Tree, claim: Claim) -> ClaimedFit:
    """Read all of a file that its releases must have made; a ModelFileError where it is none."""
    settings, inputs = settings_of(document), object_of(document, "inputs")
    models = as_items(document.get("models"), "models", MOST_TARGETS)
    levels = _levels(inputs)
    columns = len(as_items(inputs.get("low"), "inputs.low", LARGEST))
    has_classes = _has_classes(object_of(document, "targets"), len(models))
    is_weighted = settings.get("weight_bound") is not None
    complete = settings.get("missing") == "error" and not has_classes and not is_weighted
    averages = settings.get("missing") == "model" and columns > 1
    findings = object_of(document, "findings", optional=True)
    row_weight = _row_weight(findings) if is_weighted else None
    stages = as_items(document.get("stages"), "stages", MOST_STAGES)
    return ClaimedFit(
        claim=claim,
        mu=recomputed_mu(claim),
        n=row_count(document) * (row_weight or 1.0),
        has_public_rows=claim.neighbours == "replace" and not claim.per_person and complete,
        columns=columns,
        coordinates=columns + sum(0 if count == 2 else count - 1 for count in levels),
        levels=max(levels, default=0),
        counted_levels=len(levels) + has_classes if settings.get("missing") != "error" else 0,
        targets=len(models),
        has_classes=has_classes,
        is_yes_no=has_classes and len(models) == 1,
        are_joint=has_classes and len(models) > 1,
        learns_metric=columns >= MANY_INPUTS or bool(levels) or averages,
        may_warp=as_flag(settings.get("warp"), "settings.warp"),
        calibrates=as_flag(settings.get("calibrate"), "settings.calibrate"),
        weights=_weights(settings),
        stages=tuple(_stage(stage, len(models)) for stage in stages),
        asks_parts=settings.get("passes", "few") == "few",
        warp_bins=_warp_bins(inputs),
        scale_features=_scale_features(document),
        laws_are_known=all(_is_gaussian(model) for model in models),
        findings=findings,
        row_weight=row_weight,
        has_prior=settings.get("prior_model") is not None,
    )


def settings_of(document: Tree) -> dict[str, Any]:
    """Return what was asked for; a ModelFileError where it is no object."""
    return object_of(document, "settings")


def name_of_sums(document: Tree) -> str:
    """Return the start of SHA-256 over the sums (c, A) of all stages, target by target.

    The digest of the records follows them, where there is one.
    """
    stages = as_items(document.get("stages"), "stages", MOST_STAGES)
    parts = [as_items(field_of(stage, "targets"), "stages.targets") for stage in stages]
    sums = [
        np.append(as_number(field_of(part, "c"), "c"), as_vector(field_of(part, "A"), "A"))
        for target in zip(*parts, strict=False)
        for part in target
    ]
    bound = as_text(document.get("records_digest", ""), "records_digest")
    content = np.concatenate(sums).astype("<f8").tobytes() + bound.encode()
    return hashlib.sha256(content).hexdigest()[:NAME_DIGITS]


def digest_of_records(document: Tree, members: Sequence[Tree] = ()) -> str | None:
    """Return the digest of the records, or of the names of members; None where there are none."""
    if members:
        return content_digest([member.get("id") for member in members], "members")
    return content_digest(document["records"], "records") if "records" in document else None


def row_count(document: Tree) -> float:
    """Return the number of effective rows, the same in all stages."""
    stages = as_items(document.get("stages"), "stages", MOST_STAGES)
    return as_rows([field_of(stage, "n") for stage in stages], "stages.n")


def object_of(parent: Any, name: str, *, optional: bool = False) -> dict[str, Any]:
    """Return a field that is an object; a ModelFileError where it is none."""
    value = parent.get(name, {} if optional else None) if isinstance(parent, Mapping) else None
    if not isinstance(value, dict):
        raise ModelFileError(f"`{name}` must be an object with named fields.")
    return value


def _has_classes(targets: Tree, models: int) -> bool:
    """Return whether the target is one of several classes: of two there is one model, of K K."""
    if targets.get("classes") is None:
        return False
    count = len(as_items(targets["classes"], "targets.classes"))
    if models != (1 if count == 2 else count):
        raise ModelFileError("`models` must be one of two `classes`, or one of each of more.")
    return True


def _row_weight(findings: Tree) -> float:
    """Σv²/Σv, the squares two sds of their noise larger, and never more than a whole row."""
    found = object_of(findings, "number of rows")
    total, squares, noise = (
        as_number(found.get(name), f"findings.number of rows.{name}")
        for name in ("weights", "squares", "noise of squares")
    )
    ratio = (max(squares, 0.0) + 2.0 * noise) / max(total, 2.0)
    return min(max(ratio, 2.0**-20), 1.0)


def _levels(inputs: Tree) -> list[int]:
    """Return how many levels every category has."""
    kinds = inputs.get("categories")
    if kinds is None:
        return []
    found = as_items(kinds, "inputs.categories", LARGEST)
    return [len(as_items(levels, "inputs.categories")) for levels in found if levels is not None]


def field_of(stage: Any, name: str) -> Any:
    """Return a field of a stage or of one of its targets."""
    if not isinstance(stage, dict):
        raise ModelFileError("`stages` must hold objects with named fields.")
    return stage.get(name)


def _weights(settings: Tree) -> tuple[float, ...]:
    found = as_items(settings.get("stages"), "settings.stages")
    return tuple(as_positive(weight, "settings.stages") for weight in found)


def _stage(value: Any, targets: int) -> ClaimedStage:
    B, parts = field_of(value, "B"), as_items(field_of(value, "targets"), "stages.targets")
    if len(parts) != targets:
        raise ModelFileError(f"`stages.targets` must have {targets} entries.")
    return ClaimedStage(
        features=None if B is None else len(as_items(B, "stages.B", LARGEST)),
        sigma_b=as_number(field_of(value, "sigma_b"), "stages.sigma_b", low=0.0),
        targets=tuple(_noise_of_target(part) for part in parts),
    )


def _noise_of_target(part: Any) -> tuple[float, float, float]:
    clip = as_positive(field_of(part, "clip"), "stages.clip")
    sigma_a = as_number(field_of(part, "sigma_a"), "stages.sigma_a", low=0.0)
    return clip, sigma_a, as_number(field_of(part, "sigma_c"), "stages.sigma_c", low=0.0)


def _warp_bins(inputs: Tree) -> int | None:
    if inputs.get("warp") is None:
        return None
    return len(as_items(object_of(inputs, "warp").get("edges"), "inputs.warp.edges")) - 1


def _scale_features(document: Tree) -> int | None:
    if document.get("scale_features") is None:
        return None
    anchors = object_of(document, "scale_features").get("anchors")
    return len(as_items(anchors, "scale_features.anchors", LARGEST))


def _is_gaussian(model: Any) -> bool:
    """Return whether a law is Φ at its factors, which a model takes before any is measured."""
    law = object_of(model, "calibration")
    factors = as_vector(law.get("factors"), "calibration.factors").tolist()
    cdf = as_vector(law.get("cdf"), "calibration.cdf", len(factors)).tolist()
    # Φ(t) = erfc(−t/√2)/2
    return all(
        abs(math.erfc(-t / math.sqrt(2.0)) / 2.0 - p) <= CLOSE_TO_GAUSSIAN
        for t, p in zip(factors, cdf, strict=True)
    )
