"""The certificate as an object, and in words; one whose books do not add up is refused."""

from __future__ import annotations

import math
from typing import Any

from dpgp.model_file.values import (
    ModelFileError,
    as_choice,
    as_fields,
    as_flag,
    as_number,
    as_positive,
    as_text,
    as_whole,
    number_to_json,
)
from dpgp.privacy.calibration import compose
from dpgp.privacy.certificate import Certificate, Selection
from dpgp.privacy.ledger import GaussianRelease, mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import text_up

MOST_RELEASES = 10_000
_GAUSSIAN = ("type", "label", "coordinates", "sensitivity", "noise_std", "smallest_scale")
_FIELDS = (
    "statement",
    "epsilon",
    "delta",
    "mu",
    "neighbours",
    "rows_per_unit",
    "per_person",
    "seeded",
    "releases",
)
_PAIRS = {
    Neighbours.REPLACE: "one unit replaced by another",
    Neighbours.ADD_REMOVE: "one unit added or removed",
}


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
        f"{what}Guarantee: for any two data sets that differ in {_PAIRS[certificate.neighbours]} "
        f"({certificate.unit}), any outcome of the fit is at most exp({epsilon}) "
        f"times as likely from one as from the other, plus {delta}."
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
        "releases": [_release_to_json(release) for release in certificate.releases],
    }


def _release_to_json(release: GaussianRelease | Selection) -> dict[str, Any]:
    if isinstance(release, Selection):
        return {"type": "Selection", "statement": release.statement}
    return {
        "type": "GaussianRelease",
        "label": release.label,
        "coordinates": int(release.coordinates),
        "sensitivity": number_to_json(release.sensitivity),
        "noise_std": number_to_json(release.noise_std),
        "smallest_scale": number_to_json(release.smallest_scale),
    }


def certificate_from_json(value: Any) -> Certificate:
    """Return the certificate that an object describes."""
    fields = as_fields(value, "guarantee", _FIELDS)
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
        rows_per_unit=as_whole(fields["rows_per_unit"], "guarantee.rows_per_unit", 1, 10**9),
        per_person=as_flag(fields["per_person"], "guarantee.per_person"),
    )
    _check_books(certificate)
    return certificate


def _release(value: Any) -> GaussianRelease | Selection:
    where = "guarantee.releases"
    if isinstance(value, dict) and value.get("type") == "Selection":
        statement = as_fields(value, where, ("type", "statement"))["statement"]
        return Selection(as_text(statement, f"{where}.statement"))
    fields = as_fields(value, where, _GAUSSIAN)
    as_choice(fields["type"], f"{where}.type", ("GaussianRelease", "Selection"))
    return GaussianRelease(
        label=as_text(fields["label"], f"{where}.label"),
        sensitivity=as_number(fields["sensitivity"], f"{where}.sensitivity", low=0.0),
        noise_std=as_number(fields["noise_std"], f"{where}.noise_std", low=0.0),
        coordinates=as_whole(fields["coordinates"], f"{where}.coordinates", 0, 10**12),
        smallest_scale=as_number(
            fields["smallest_scale"], f"{where}.smallest_scale", low=0.0, infinite=True
        ),
    )


def _check_books(certificate: Certificate) -> None:
    """Refuse a certificate whose releases cost more, or other, than it says."""
    gaussian = [r for r in certificate.releases if isinstance(r, GaussianRelease)]
    if certificate.mu is None or not gaussian or len(gaussian) < len(certificate.releases):
        raise ModelFileError("`guarantee` must have `mu` and Gaussian releases, to be recomputed.")
    spent = compose([release.mu for release in gaussian])
    allowed = mu_of_guarantee(certificate.epsilon, certificate.delta)
    adds_up = spent == certificate.mu or abs(spent - certificate.mu) <= 1e-9 * certificate.mu
    if not adds_up or (math.isfinite(allowed) and spent > allowed * (1.0 + 1e-9)):
        raise ModelFileError("`guarantee` does not follow from the releases that it lists.")
