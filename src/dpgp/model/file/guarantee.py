"""The certificate as an object, and in words; one whose books do not add up is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpgp.checked_values import (
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
from dpgp.privacy.accounting import mu_of_guarantee
from dpgp.privacy.books import BudgetError, GaussianBooks
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.events import ApproximateRelease, Event, GaussianRelease
from dpgp.privacy.fixed_point import UNIT
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import text_up
from dpgp.privacy.sensitivity import histogram_sensitivity

MOST_RELEASES = 10_000  # far beyond any model, far below any harm
LAST_DIGITS = 1e-9
"""Relative difference that other processors may make when books are replayed."""
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
        "releases": [_release_to_json(release) for release in certificate.releases],
    }


def _release_to_json(release: Event) -> dict[str, Any]:
    if isinstance(release, ApproximateRelease):
        raise ModelFileError("models of a private selection cannot be saved.")
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
        rows_per_unit=as_whole(fields["rows_per_unit"], "guarantee.rows_per_unit"),
        per_person=as_flag(fields["per_person"], "guarantee.per_person"),
    )
    _check_books(certificate)
    return certificate


def _release(value: Any) -> Event:
    where = "guarantee.releases"
    fields = as_fields(value, where, _GAUSSIAN)
    as_choice(fields["type"], f"{where}.type", ("GaussianRelease",))
    return GaussianRelease(
        label=as_text(fields["label"], f"{where}.label"),
        sensitivity=as_number(fields["sensitivity"], f"{where}.sensitivity", low=0.0),
        noise_std=as_number(fields["noise_std"], f"{where}.noise_std", low=0.0),
        coordinates=as_whole(fields["coordinates"], f"{where}.coordinates", 1, 10**12),
        smallest_scale=as_number(fields["smallest_scale"], f"{where}.smallest_scale", low=0.0),
    )


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
    is_count = release.label == "number of rows"
    least = rows_per_unit if is_count else histogram_sensitivity(1, neighbours, rows_per_unit)
    if release.sensitivity < least:
        raise ModelFileError(
            "`guarantee.releases.sensitivity` is smaller than what one unit can change."
        )
    # noise of sd σ is drawn in units of 2^{-2b}, on no entry finer than σ
    if release.smallest_scale > release.noise_std * UNIT**2 * (1.0 + LAST_DIGITS):
        raise ModelFileError("`guarantee.releases.smallest_scale` contradicts its `noise_std`.")
