"""The claim of a model file, recomputed by another library from the numbers in the file alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.checked_values import (
    ModelFileError,
    as_choice,
    as_fields,
    as_flag,
    as_number,
    as_part,
    as_positive,
    as_text,
    as_whole,
)

ROUNDING = 1e-9
"""Relative difference between two programs that compute the same in doubles."""
MOST_RELEASES = 10_000

GRID_BITS = 40
"""Noise is drawn in units of 2^-40, twice the bits of the columns: docs/proofs/exact_sums.md."""
FINEST, COARSEST = 2.0**30, 2.0**57
"""Scales in these units that are drawn: docs/proofs/discrete_gaussian.md, and 64-bit integers."""
LEAST_MU, MOST_MU = 1e-6, 1e6
"""Noise between these scales is worth some μ in between; nothing else is computed with."""
LOG_TAIL = -800.0
"""log β: where integer noise may differ by more than η, docs/proofs/discrete_gaussian.md."""
LARGEST_MU, MOST_COMPOSED = 2.5, 40
"""Beyond these, distributions of the privacy loss take minutes; the closed form decides anyway."""


@dataclass(frozen=True)
class ClaimedRelease:
    """One line of the certificate: Gaussian noise on a query of known sensitivity.

    ``part`` is the number of the part of the rows that it is about, and of how many.
    """

    label: str
    query: str
    size: float
    coordinates: int
    sensitivity: float
    noise_std: float
    smallest_scale: float
    part: tuple[int, int] | None = None

    @property
    def mu(self) -> float:
        """Δ/σ; infinite where there is no noise."""
        return math.inf if self.noise_std == 0.0 else self.sensitivity / self.noise_std

    @property
    def is_drawn(self) -> bool:
        """Whether its integer noise is as fine as stated, and as coarse as its analysis allows."""
        stated = self.noise_std * 2.0**GRID_BITS
        return FINEST <= self.smallest_scale <= stated * (1.0 + ROUNDING) and stated <= COARSEST

    @property
    def discretisation(self) -> float:
        """η = (5N + 2000)/(24σ²) of integer noise: docs/proofs/discrete_gaussian.md."""
        return (5 * self.coordinates + 2000) / (24.0 * self.smallest_scale**2)


@dataclass(frozen=True)
class Claim:
    """What a file promises, and the releases from which that must follow."""

    epsilon: float
    delta: float
    mu: float
    neighbours: str
    rows_per_unit: int
    per_person: bool
    seeded: bool
    random_source: str
    statement: str
    releases: tuple[ClaimedRelease, ...]

    @property
    def changed(self) -> int:
        """How many units differ between neighbours: a unit is replaced, or comes or goes."""
        return 2 if self.neighbours == "replace" else 1

    @property
    def promises_nothing(self) -> bool:
        """Whether ε is infinite."""
        return math.isinf(self.epsilon)

    @property
    def is_private(self) -> bool:
        """Whether the file says that nobody knows its noise, and that there is some."""
        return not (self.seeded or self.promises_nothing)


def read_claim(guarantee: Any) -> Claim:
    """Read the object ``guarantee`` of a file; a ModelFileError where it is none."""
    if not isinstance(guarantee, dict):
        raise ModelFileError("the file has no `guarantee`.")
    found = guarantee.get("releases")
    if not isinstance(found, list) or not 1 <= len(found) <= MOST_RELEASES:
        raise ModelFileError(f"the file must list between 1 and {MOST_RELEASES} releases.")
    names = ("name", "grid_bits", "random_source")
    mechanism = as_fields(guarantee.get("mechanism"), "mechanism", names)
    as_choice(mechanism["name"], "mechanism.name", ("discrete Gaussian",))
    as_whole(mechanism["grid_bits"], "mechanism.grid_bits", GRID_BITS, GRID_BITS)
    return Claim(
        epsilon=as_positive(guarantee.get("epsilon"), "epsilon", infinite=True),
        delta=_probability(guarantee.get("delta"), "delta"),
        mu=as_number(guarantee.get("mu"), "mu", low=0.0, infinite=True),
        neighbours=as_choice(guarantee.get("neighbours"), "neighbours", ("replace", "add-remove")),
        rows_per_unit=as_whole(guarantee.get("rows_per_unit"), "rows_per_unit"),
        per_person=as_flag(guarantee.get("per_person"), "per_person"),
        seeded=as_flag(guarantee.get("seeded"), "seeded"),
        random_source=as_text(mechanism["random_source"], "mechanism.random_source"),
        statement=as_text(guarantee.get("statement"), "statement"),
        releases=tuple(_release(item) for item in found),
    )


def _probability(value: Any, where: str) -> float:
    number = as_positive(value, where)
    if number >= 1.0:
        raise ModelFileError(f"`{where}` must be below 1: it is a probability.")
    return number


def _release(value: Any) -> ClaimedRelease:
    if not isinstance(value, dict):
        raise ModelFileError("a release is no object.")
    return ClaimedRelease(
        label=as_text(value.get("label"), "label"),
        query=as_choice(value.get("query"), "query", SENSITIVITIES),
        size=as_number(value.get("size"), "size", low=1.0),
        coordinates=as_whole(value.get("coordinates"), "coordinates", 1, 10**12),
        sensitivity=as_positive(value.get("sensitivity"), "sensitivity"),
        noise_std=as_number(value.get("noise_std"), "noise_std", low=0.0),
        smallest_scale=as_number(value.get("smallest_scale"), "smallest_scale", low=0.0),
        part=as_part(value, "part"),
    )


def _gram(size: float, changed: int, rows: int) -> float:
    """√c·m·R²: c rank-one matrices of norm mR² that are positive semi-definite."""
    return math.sqrt(changed) * rows * size


def _histograms(size: float, changed: int, rows: int) -> float:
    """m·√(cD): a row is in one bin of each of D histograms."""
    return rows * math.sqrt(changed * size)


def _count(size: float, changed: int, rows: int) -> float:
    """m·√size: of each count a unit has between none and m rows, whose squared weights add up."""
    return rows * math.sqrt(size)


SENSITIVITIES: Mapping[str, Callable[[float, int, int], float]] = {
    "gram": _gram,
    "histograms": _histograms,
    "count": _count,
}
"""What one unit can change, written again from docs/proofs/gram_sensitivity.md."""


def are_close(stated: float, computed: float, within: float = ROUNDING) -> bool:
    """Return whether two programs may have found these two numbers for one."""
    is_near = math.isfinite(computed) and abs(stated - computed) <= within * abs(computed)
    return stated == computed or is_near


def sensitivities_follow(claim: Claim) -> bool:
    """Return whether every stated sensitivity is what one unit can change of its query."""
    return all(
        are_close(
            release.sensitivity,
            SENSITIVITIES[release.query](release.size, claim.changed, claim.rows_per_unit),
        )
        for release in claim.releases
    )


def noise_is_drawn(claim: Claim) -> bool:
    """Return whether the noise of every release can be drawn, as its analysis asks for."""
    return all(release.is_drawn for release in claim.releases)


def paid_by_a_unit(claim: Claim) -> tuple[ClaimedRelease, ...]:
    """Return what a unit of the dearest part pays for: docs/proofs/parallel_parts.md.

    Parts of different dealings are not disjoint, so that one of each is paid for.
    """
    dealt: dict[int, dict[int, list[ClaimedRelease]]] = {}
    for release in claim.releases:
        if release.part is not None:
            number, of = release.part
            dealt.setdefault(of, {}).setdefault(number, []).append(release)
    everybody = tuple(release for release in claim.releases if release.part is None)
    dearest = (max(parts.values(), key=_price) for parts in dealt.values())
    return (*everybody, *(release for part in dearest for release in part))


def _price(releases: Iterable[ClaimedRelease]) -> float:
    return math.hypot(*(release.mu for release in releases))


def recomputed_mu(claim: Claim) -> float:
    """μ = √Σ(Δ/σ)² over all that one unit pays for."""
    return _price(paid_by_a_unit(claim))


def recomputed_delta(claim: Claim, spared: float = 0.0) -> float:
    """δ at the claimed ε, by dp-accounting's Gaussian privacy loss.

    One where the noise is none that is drawn; ``spared`` is a share of all noise to leave out.
    """
    mu = recomputed_mu(claim)
    if not (noise_is_drawn(claim) and LEAST_MU <= mu <= MOST_MU):
        return 1.0
    eta = math.fsum(release.discretisation for release in claim.releases)
    return delta_of(mu / (1.0 - spared), eta, claim.epsilon)


def delta_of(mu: float, eta: float, epsilon: float) -> float:
    """δ at ε of noise of this μ, whose integers cost η beyond."""
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    with np.errstate(all="ignore"):  # of an ε beyond all reason
        delta = GaussianPrivacyLoss(1.0 / mu).get_delta_for_epsilon(epsilon - eta)
    # δ' = e^η(δ + e^ε β)
    return min(1.0, math.exp(eta) * (float(delta) + math.exp(min(epsilon + LOG_TAIL, 0.0))))


def composed_epsilon(claim: Claim) -> float | None:
    """ε at δ by composed privacy loss distributions of dp-accounting; None where it takes long."""
    from dp_accounting import dp_event
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant

    counts: dict[float, int] = {}
    for release in paid_by_a_unit(claim):
        counts[release.mu] = counts.get(release.mu, 0) + 1
    within = min(counts) >= LEAST_MU and recomputed_mu(claim) <= LARGEST_MU
    if not within or sum(counts.values()) > MOST_COMPOSED:
        return None
    accountant = PLDAccountant()
    for mu, count in counts.items():
        accountant.compose(dp_event.GaussianDpEvent(1.0 / mu), count)
    return float(accountant.get_epsilon(claim.delta))
