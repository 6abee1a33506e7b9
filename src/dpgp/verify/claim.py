"""The claim of a model file, recomputed by another library from the numbers in the file alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpgp.checked_values import (
    ModelFileError,
    as_choice,
    as_fields,
    as_number,
    as_positive,
    as_text,
    as_whole,
)

ROUNDING = 1e-9
"""Relative difference between two programs that compute the same in doubles."""
MOST_RELEASES = 10_000


@dataclass(frozen=True)
class ClaimedRelease:
    """One line of the certificate: Gaussian noise on a query of known sensitivity."""

    label: str
    query: str
    size: float
    coordinates: int
    sensitivity: float
    noise_std: float
    smallest_scale: float

    @property
    def noise_multiplier(self) -> float:
        """σ/Δ."""
        return self.noise_std / self.sensitivity

    @property
    def discretisation(self) -> float:
        """η = (5N + 2000)/(24σ²) of integer noise: docs/proofs/discrete_gaussian.md."""
        return (5 * self.coordinates + 2000) / (24.0 * self.smallest_scale**2)


@dataclass(frozen=True)
class Claim:
    """What a file promises, and the releases from which that must follow."""

    epsilon: float
    delta: float
    neighbours: str
    rows_per_unit: int
    seeded: bool
    grid_bits: int
    releases: tuple[ClaimedRelease, ...]


def read_claim(guarantee: Any) -> Claim:
    """Read the object ``guarantee`` of a file; a ModelFileError where it is none."""
    if not isinstance(guarantee, dict):
        raise ModelFileError("the file has no `guarantee`.")
    found = guarantee.get("releases")
    if not isinstance(found, list) or not 1 <= len(found) <= MOST_RELEASES:
        raise ModelFileError("the file lists no releases.")
    names = ("name", "grid_bits", "random_source")
    mechanism = as_fields(guarantee.get("mechanism"), "mechanism", names)
    as_choice(mechanism["name"], "mechanism.name", ("discrete Gaussian",))
    return Claim(
        epsilon=as_positive(guarantee.get("epsilon"), "epsilon", infinite=True),
        delta=as_positive(guarantee.get("delta"), "delta"),
        neighbours=as_choice(guarantee.get("neighbours"), "neighbours", ("replace", "add-remove")),
        rows_per_unit=as_whole(guarantee.get("rows_per_unit"), "rows_per_unit"),
        seeded=guarantee.get("seeded") is not False,
        grid_bits=as_whole(mechanism["grid_bits"], "mechanism.grid_bits", 1, 60),
        releases=tuple(_release(item) for item in found),
    )


def _release(value: Any) -> ClaimedRelease:
    if not isinstance(value, dict):
        raise ModelFileError("a release is no object.")
    return ClaimedRelease(
        label=as_text(value.get("label"), "label"),
        query=as_choice(value.get("query"), "query", LEAST_SENSITIVITY),
        size=as_number(value.get("size"), "size", low=1.0),
        coordinates=as_whole(value.get("coordinates"), "coordinates", 1, 10**12),
        sensitivity=as_positive(value.get("sensitivity"), "sensitivity"),
        noise_std=as_number(value.get("noise_std"), "noise_std", low=0.0),
        smallest_scale=as_number(value.get("smallest_scale"), "smallest_scale", low=0.0),
    )


def _gram(size: float, changed: int, rows: int) -> float:
    """√c·m·R²: c rank-one matrices of norm mR² that are positive semi-definite."""
    return math.sqrt(changed) * rows * size


def _histograms(size: float, changed: int, rows: int) -> float:
    """m·√(cD): a row is in one bin of each of D histograms."""
    return rows * math.sqrt(changed * size)


def _count(size: float, changed: int, rows: int) -> float:
    """m: a unit has between none and m rows that can be used."""
    return float(rows)


LEAST_SENSITIVITY = {"gram": _gram, "histograms": _histograms, "count": _count}
"""What one unit can change, written again from docs/proofs/gram_sensitivity.md."""


def sensitivities_follow(claim: Claim) -> bool:
    """Return whether every stated sensitivity is at least what its query needs."""
    changed = 2 if claim.neighbours == "replace" else 1
    return all(
        release.sensitivity
        >= LEAST_SENSITIVITY[release.query](release.size, changed, claim.rows_per_unit)
        * (1.0 - ROUNDING)
        for release in claim.releases
    )


def scales_follow(claim: Claim) -> bool:
    """Return whether integer noise is as fine as stated, and no finer than its analysis allows."""
    unit = 2.0**claim.grid_bits
    return all(
        2.0**30 <= release.smallest_scale <= release.noise_std * unit * (1.0 + ROUNDING)
        for release in claim.releases
    )


def recomputed_delta(claim: Claim) -> float:
    """δ at the claimed ε, by dp-accounting's Gaussian privacy loss; 1 where there is no noise."""
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    if any(release.noise_std == 0.0 for release in claim.releases):
        return 1.0
    squares = math.fsum(release.noise_multiplier**-2 for release in claim.releases)
    eta = math.fsum(release.discretisation for release in claim.releases)
    together = GaussianPrivacyLoss(squares**-0.5)
    return float(together.get_delta_for_epsilon(claim.epsilon - eta) * math.exp(eta))


def composed_epsilon(releases: Sequence[ClaimedRelease], delta: float) -> float:
    """ε at δ by dp-accounting's composition of every release's privacy loss distribution."""
    from dp_accounting import dp_event
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant

    if any(release.noise_std == 0.0 for release in releases):
        return math.inf
    counts: dict[float, int] = {}
    for release in releases:
        counts[release.noise_multiplier] = counts.get(release.noise_multiplier, 0) + 1
    accountant = PLDAccountant()
    for multiplier, count in counts.items():
        accountant.compose(dp_event.GaussianDpEvent(multiplier), count)
    return float(accountant.get_epsilon(delta))


def stated_mu(guarantee: Mapping[str, Any]) -> float:
    """Return the μ that a file states."""
    return as_number(guarantee.get("mu"), "mu", low=0.0, infinite=True)


def recomputed_mu(claim: Claim) -> float:
    """μ = √Σ(Δ/σ)²."""
    if any(release.noise_std == 0.0 for release in claim.releases):
        return math.inf
    return math.sqrt(math.fsum(release.noise_multiplier**-2 for release in claim.releases))
