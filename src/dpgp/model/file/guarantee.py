"""The certificate as an object, and in words; one whose books do not add up is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dpgp.checked_values import (
    ModelFileError,
    as_choice,
    as_fields,
    as_findings,
    as_flag,
    as_number,
    as_part,
    as_positive,
    as_text,
    as_whole,
    number_to_json,
    with_present,
)
from dpgp.privacy.books import (
    ApproximateRelease,
    Bound,
    BudgetError,
    Event,
    GaussianBooks,
    GaussianRelease,
    mu_of_guarantee,
)
from dpgp.privacy.certificate import Certificate, Provenance, StudyRecord
from dpgp.privacy.exact_sums import FRACTION_BITS, UNIT
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.parts import RowPart
from dpgp.privacy.rounding import text_up
from dpgp.privacy.sensitivity import count_sensitivity, gram_sensitivity, histogram_sensitivity

MOST_RELEASES = 10_000  # far beyond any model, far below any harm
LAST_DIGITS = 1e-9
"""Relative difference that other processors may make when books are replayed."""
_GAUSSIAN = (
    "type",
    "label",
    "query",
    "size",
    "proof",
    "coordinates",
    "sensitivity",
    "noise_std",
    "smallest_scale",
)
_FIELDS = (
    "statement",
    "epsilon",
    "delta",
    "mu",
    "neighbours",
    "rows_per_unit",
    "per_person",
    "seeded",
    "mechanism",
    "versions",
    "ledger",
    "releases",
)
_MECHANISM = ("name", "grid_bits", "random_source")
MECHANISM = "discrete Gaussian"
KINDS = ("gram", "histograms", "count")
"""Queries that a fit asks; those of the paper's algorithms are not saved."""
_NOT_SAID = "not said"
_STUDY = ("sha256", "title", "id")
_SHA256 = re.compile("[0-9a-f]{64}")


def about(certificate: Certificate) -> str:
    """Return what a model file is, and what it guarantees, for whoever opens one."""
    what = (
        "A Gaussian-process regression fitted by dpgp under differential privacy; `dpgp.load` "
        "reads it. It holds public choices and values that were released with privacy noise, and "
        "no row of the data. "
    )
    if not certificate.is_private:
        return f"{what}{certificate}".split("\n")[0]
    epsilon, delta = text_up(certificate.epsilon), text_up(certificate.delta)
    return (
        f"{what}Guarantee: for any two data sets that differ in one unit "
        f"{certificate.neighbours.change} ({certificate.unit}), any outcome of the fit is at most "
        f"exp({epsilon}) times as likely from one as from the other, plus {delta}."
    )


def certificate_to_json(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as an object of plain values."""
    return {
        "statement": str(certificate).split("\n")[0],
        "epsilon": number_to_json(certificate.epsilon),
        "delta": number_to_json(certificate.delta),
        "mu": None if certificate.mu is None else number_to_json(certificate.mu),
        "neighbours": certificate.neighbours.value,
        "rows_per_unit": int(certificate.rows_per_unit),
        "per_person": bool(certificate.per_person),
        "seeded": bool(certificate.seeded),
        **_provenance_to_json(certificate.provenance),
        "releases": [_release_to_json(release) for release in certificate.releases],
    }


def _provenance_to_json(provenance: Provenance | None) -> dict[str, Any]:
    known = provenance or Provenance(_NOT_SAID, ())
    mechanism = (MECHANISM, 2 * FRACTION_BITS, known.random_source)
    return {
        "mechanism": dict(zip(_MECHANISM, mechanism, strict=True)),
        "versions": dict(known.versions),
        "ledger": known.ledger,
        **({} if known.study is None else {"study": asdict(known.study)}),
    }


def _release_to_json(release: Event) -> dict[str, Any]:
    if isinstance(release, ApproximateRelease) or release.bound is None:
        raise ModelFileError("models of a private selection cannot be saved.")
    return {
        "type": "GaussianRelease",
        "label": release.label,
        "query": release.bound.kind,
        "size": number_to_json(release.bound.size),
        "proof": release.bound.proof,
        "coordinates": int(release.coordinates),
        "sensitivity": number_to_json(release.sensitivity),
        "noise_std": number_to_json(release.noise_std),
        "smallest_scale": number_to_json(release.smallest_scale),
        **({} if release.part is None else {"part": [release.part.number, release.part.of]}),
    }


def certificate_from_json(value: Any) -> Certificate:
    """Return the certificate that an object describes."""
    has_study = isinstance(value, dict) and "study" in value
    fields = as_fields(value, "guarantee", (*_FIELDS, *(["study"] if has_study else [])))
    as_text(fields["statement"], "guarantee.statement")
    items = fields["releases"]
    if not isinstance(items, list) or len(items) > MOST_RELEASES:
        raise ModelFileError(f"`guarantee.releases` must list at most {MOST_RELEASES} releases.")
    relations = tuple(relation.value for relation in Neighbours)
    mu = fields["mu"]
    certificate = Certificate(
        epsilon=as_positive(fields["epsilon"], "guarantee.epsilon", infinite=True),
        delta=as_number(fields["delta"], "guarantee.delta", low=0.0),
        neighbours=Neighbours(as_choice(fields["neighbours"], "guarantee.neighbours", relations)),
        mu=None if mu is None else as_number(mu, "guarantee.mu", low=0.0, infinite=True),
        releases=tuple(_release(item) for item in items),
        seeded=as_flag(fields["seeded"], "guarantee.seeded"),
        rows_per_unit=as_whole(fields["rows_per_unit"], "guarantee.rows_per_unit"),
        per_person=as_flag(fields["per_person"], "guarantee.per_person"),
        provenance=_provenance(fields),
    )
    _check_books(certificate)
    return certificate


def _provenance(fields: dict[str, Any]) -> Provenance:
    mechanism = as_fields(fields["mechanism"], "guarantee.mechanism", _MECHANISM)
    as_choice(mechanism["name"], "guarantee.mechanism.name", (MECHANISM,))
    as_whole(mechanism["grid_bits"], "guarantee.mechanism.grid_bits", *(2 * FRACTION_BITS,) * 2)
    versions, ledger = as_findings(fields["versions"], "guarantee.versions"), fields["ledger"]
    if not isinstance(versions, dict) or not all(isinstance(v, str) for v in versions.values()):
        raise ModelFileError("`guarantee.versions` must name packages and their versions.")
    return Provenance(
        random_source=as_text(mechanism["random_source"], "guarantee.mechanism.random_source"),
        versions=tuple(versions.items()),
        ledger=None if ledger is None else as_text(ledger, "guarantee.ledger"),
        study=_study(fields["study"]) if "study" in fields else None,
    )


def _study(value: Any) -> StudyRecord:
    fields = as_fields(value, "guarantee.study", _STUDY)
    if not _SHA256.fullmatch(as_text(fields["sha256"], "guarantee.study.sha256")):
        raise ModelFileError("`guarantee.study.sha256` must be 64 hexadecimal digits.")
    named = (fields[name] for name in ("title", "id"))
    texts = [None if text is None else as_text(text, "guarantee.study") for text in named]
    return StudyRecord(fields["sha256"], *texts)


def _release(value: Any) -> Event:
    where = "guarantee.releases"
    fields = as_fields(value, where, with_present(_GAUSSIAN, value, "part"))
    part = as_part(fields, f"{where}.part")
    as_choice(fields["type"], f"{where}.type", ("GaussianRelease",))
    return GaussianRelease(
        label=as_text(fields["label"], f"{where}.label"),
        sensitivity=as_number(fields["sensitivity"], f"{where}.sensitivity", low=0.0),
        noise_std=as_number(fields["noise_std"], f"{where}.noise_std", low=0.0),
        coordinates=as_whole(fields["coordinates"], f"{where}.coordinates", 1, 10**12),
        smallest_scale=as_number(fields["smallest_scale"], f"{where}.smallest_scale", low=0.0),
        bound=_bound(fields, where),
        part=None if part is None else RowPart(*part),
    )


def _bound(fields: dict[str, Any], where: str) -> Bound:
    size = as_number(fields["size"], f"{where}.size", low=1.0)
    bound = Bound(as_choice(fields["query"], f"{where}.query", KINDS), size)
    as_choice(fields["proof"], f"{where}.proof", (bound.proof,))
    return bound


def _least_sensitivity(bound: Bound, neighbours: Neighbours, rows_per_unit: int) -> float:
    """Return what one unit can change of such a query, by the proof that it names."""
    match bound.kind:
        case "gram":
            return gram_sensitivity(math.sqrt(bound.size), neighbours, rows_per_unit)
        case "histograms":
            return histogram_sensitivity(int(bound.size), neighbours, rows_per_unit)
        case "count":
            return count_sensitivity(bound.size, rows_per_unit)
    return float(rows_per_unit)


def _check_books(certificate: Certificate) -> None:
    """Refuse a certificate whose releases cost more, or other, than it says."""
    gaussian = [r for r in certificate.releases if isinstance(r, GaussianRelease)]
    if certificate.mu is None or not gaussian or len(gaussian) < len(certificate.releases):
        raise ModelFileError("`guarantee` must have `mu` and Gaussian releases, to be recomputed.")
    for release in gaussian:
        _check_release(release, certificate.neighbours, certificate.rows_per_unit)
    spent = _replayed(gaussian, certificate)
    if spent != certificate.mu and abs(spent - certificate.mu) > LAST_DIGITS * certificate.mu:
        raise ModelFileError("`guarantee` does not follow from the releases that it lists.")


def _replayed(releases: Sequence[GaussianRelease], certificate: Certificate) -> float:
    """Book all releases again against the budget that is claimed; return the μ they spend."""
    allowed = mu_of_guarantee(certificate.epsilon, certificate.delta)
    books = GaussianBooks(allowed * (1.0 + LAST_DIGITS), certificate.neighbours)
    try:
        for release in releases:
            books.reserve(release)
    except BudgetError:
        raise ModelFileError(
            "`guarantee` does not follow from the releases that it lists: they cost more."
        ) from None
    return books.spent_mu


def _check_release(release: GaussianRelease, neighbours: Neighbours, rows_per_unit: int) -> None:
    """Refuse a release that says less of a unit, or of its noise, than any release can."""
    if release.bound is None:
        raise ModelFileError("`guarantee.releases` must name the query of every release.")
    least = _least_sensitivity(release.bound, neighbours, rows_per_unit)
    if release.sensitivity < least * (1.0 - LAST_DIGITS):
        raise ModelFileError(
            "`guarantee.releases.sensitivity` is smaller than what one unit can change."
        )
    # noise of sd σ is drawn in units of 2^{-2b}, on no entry finer than σ
    if release.smallest_scale > release.noise_std * UNIT**2 * (1.0 + LAST_DIGITS):
        raise ModelFileError("`guarantee.releases.smallest_scale` contradicts its `noise_std`.")
