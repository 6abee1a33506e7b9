"""What steps and pooling found beside a posterior, against the books: noise, rows and words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from dpgp.checked_values import as_items, as_number, as_text, as_vector
from dpgp.verify.claim import ClaimedRelease, are_close
from dpgp.verify.contents import ClaimedFit, field_of, object_of, row_count, settings_of

CELLS_WEIGHT = 0.25
"""Squared weight of all further counts beside that of rows: docs/proofs/gram_sensitivity.md."""
AGREE = "The releases agree: "
REAL = 0.01
"""Probability below which a difference between releases is more than noise."""

Booked = Mapping[str, float]


def wrong_findings(fit: ClaimedFit) -> Iterator[str]:
    """Say which findings of steps state other noise, or other rows, than their releases."""
    for release in fit.claim.releases:
        finding = fit.findings.get(release.label)
        if finding is None or release.label not in BOOKED:
            continue
        parts = finding if isinstance(finding, list) else [finding]  # one part a target
        for part, (name, number) in product(parts, BOOKED[release.label](fit, release).items()):
            where = f"findings.{release.label}.{name}"
            if name in part and not are_close(as_number(part[name], where), number):
                yield f"'{release.label}' states {name} {part[name]:.6g}, not {number:.6g}"


def _of_count(fit: ClaimedFit, release: ClaimedRelease) -> Booked:
    """Further counts have σ√(k/w), k of them; fewer than two rows are taken for two."""
    others = math.sqrt((release.coordinates - 1) / CELLS_WEIGHT) * release.noise_std
    rows = {} if fit.n <= 2.0 else {"usable": fit.n, "weights": fit.n}
    return {"noise": release.noise_std, "noise of squares": others, "noise of cells": others} | rows


def _of_shares(fit: ClaimedFit, release: ClaimedRelease) -> Booked:
    return {"noise": release.noise_std / fit.n}


def _of_labels(fit: ClaimedFit, release: ClaimedRelease) -> Booked:
    """Counts are those of effective rows."""
    return {"noise": release.noise_std / (fit.row_weight or 1.0)}


BOOKED: Mapping[str, Callable[[ClaimedFit, ClaimedRelease], Booked]] = {
    "number of rows": _of_count,
    "target histograms": _of_shares,
    "input histograms": _of_shares,
    "labels by prediction": _of_labels,
}
"""Numbers of a step's finding that its release and the number of rows settle."""


# --- pooled releases ------------------------------------------------------------------------------


def wrong_pooling(document: Mapping[str, Any], members: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Say what a pooled file tells of its releases that they do not tell themselves."""
    bounds = {settings_of(member).get("weight_bound") for member in members}
    if settings_of(document).get("weight_bound") != (bounds.pop() if len(bounds) == 1 else None):
        yield "`weight_bound` is not that of its releases"
    rows = [max(row_count(member), 1.0) for member in members]
    yield from _wrong_sums(document, members, rows)
    findings = object_of(document, "findings")
    yield from (f"pooling finds no '{name}'" for name in findings if name != "pooled")
    found = object_of(findings, "pooled")
    stated = as_vector(found.get("rows"), "findings.pooled.rows").tolist()
    if len(stated) != len(rows) or not all(map(are_close, stated, rows)):
        yield "the rows of its releases are others"
    if not _says_what_differs(as_text(found.get("agreement"), "findings.pooled"), found):
        yield "its words about its releases say other than its numbers"


def _wrong_sums(
    document: Mapping[str, Any], members: Sequence[dict[str, Any]], rows: Sequence[float]
) -> Iterator[str]:
    """Compare its stages with the last one of every release, as if it were over all rows."""
    stages = as_items(document.get("stages"), "stages")
    if len(stages) != len(members):
        yield f"{len(stages)} stages of {len(members)} releases"
        return
    for number, (stage, member, n) in enumerate(zip(stages, members, rows, strict=True), start=1):
        times, last = sum(rows) / n, as_items(member.get("stages"), "stages")[-1]
        pairs = zip(_numbers(stage), _numbers(last), strict=False)
        if not all(are_close(one, times * other) for one, other in pairs):
            yield f"the sums of release {number} are others"


def _numbers(stage: Any) -> list[float]:
    """Return σ_b, and c, σ_a and σ_c of every target."""
    targets = as_items(field_of(stage, "targets"), "stages.targets")
    own = [field_of(part, name) for part in targets for name in ("c", "sigma_a", "sigma_c")]
    return [as_number(value, "stages") for value in (field_of(stage, "sigma_b"), *own)]


def _says_what_differs(words: str, found: Mapping[str, Any]) -> bool:
    """Return whether a text tells of the releases that differ, or of none and the largest z."""
    differences = [
        (as_text(release, "differences"), *as_vector(rest, "differences", 4).tolist())
        for release, _, *rest in as_items(found.get("differences"), "differences")
    ]
    real = [each for each in differences if each[2] < REAL]
    told = real or [max(differences, key=lambda each: abs(each[1]))]
    return words.startswith(AGREE) == (not real) and all(
        name in words and f"(z = {z:.1f}, p = {p:.2g}; " in words and f"{abs(d):.3g} ± " in words
        for name, z, p, d, _ in told
    )
