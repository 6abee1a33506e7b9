"""The books: what was released, at which price, and that the budget was never exceeded.

Events are frozen records of what happened. What they cost together is composed by kind, and
converted to (ε, δ) once, at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from dpgp.privacy.calibration import epsilon_of_mu, mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import continuous_target, discrete_guarantee, discretisation_cost
from dpgp.privacy.parts import PaidByUnit, RowPart, dearest
from dpgp.privacy.rounding import sqrt_up, sum_up, text_down, text_up

# --- what happened --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bound:
    """Why a release has its sensitivity: the kind of the query, its size, and the proof.

    The size of a ``gram`` is ‖ψ‖² at most, of ``histograms`` how many a row is counted in, of a
    ``sum`` the largest value; of a ``count`` the squared weights of counts that a row adds to.
    """

    kind: str
    size: float

    @property
    def proof(self) -> str:
        """The page in docs/proofs that proves the sensitivity."""
        return PROOFS[self.kind]


PROOFS = {
    "gram": "gram_sensitivity",
    "histograms": "gram_sensitivity",
    "count": "gram_sensitivity",
    "sum": "gram_sensitivity",
    "moments": "moments_sensitivity",
}


@dataclass(frozen=True)
class GaussianRelease:
    """One Gaussian mechanism: what was released, and how much noise it carries.

    ``sensitivity`` and ``noise_std`` are in the units in which all noise of the release has the
    same standard deviation; ``smallest_scale`` is the smallest one in integer units, and ``bound``
    says why the sensitivity is what it is. It is about all rows, or about a ``part`` of them.
    """

    label: str
    sensitivity: float
    noise_std: float
    coordinates: int
    smallest_scale: float
    bound: Bound | None = None
    part: RowPart | None = None

    @property
    def mu(self) -> float:
        """Gaussian-DP parameter μ = Δ/σ, rounded up."""
        if self.noise_std == 0.0:
            return math.inf
        return math.nextafter(self.sensitivity / self.noise_std, math.inf)

    @property
    def eta(self) -> float:
        """What the discrete noise costs beyond the continuous one."""
        if self.noise_std == 0.0:
            return 0.0
        return discretisation_cost(self.coordinates, self.smallest_scale)

    @property
    def about(self) -> str:
        """Its name, and which part of the rows it is about where it is one."""
        return self.label if self.part is None else f"{self.label}, {self.part}"

    def __str__(self) -> str:
        numbers = "1 number" if self.coordinates == 1 else f"{self.coordinates} numbers"
        return (
            f"{self.about}: {numbers}, sensitivity {text_up(self.sensitivity)}, "
            f"noise {text_down(self.noise_std)}, mu {text_up(self.mu)}"
        )


@dataclass(frozen=True)
class ApproximateRelease:
    """Any mechanism that is (ε, δ)-DP as a whole, such as a selection: booked as one event."""

    label: str
    epsilon: float
    delta: float

    def __str__(self) -> str:
        return self.label


Event = GaussianRelease | ApproximateRelease


# --- what it costs together -----------------------------------------------------------------------


ETA_ALLOWANCE = 1e-12  # for the difference between discrete and continuous noise, over all releases
MARGIN = 1e-12  # of δ: far above the mass that discrete noise needs, far below what anybody prints


@dataclass(frozen=True)
class Spent:
    r"""The cost of events: Gaussian ones by μ and η, all others by their own ε and δ.

    Gaussian mechanisms compose to :math:`\sqrt{\sum\mu_k^2}`, of disjoint parts of the rows to the
    dearest (docs/proofs/parallel_parts.md), others by adding up ε and δ, and the two kinds by
    adding up again (docs/proofs/gaussian_calibration.md). To account for another kind
    of event, add a record to :mod:`dpgp.privacy.books` and its price here.
    """

    mu: float
    eta: float
    epsilon: float
    delta: float

    @classmethod
    def by(cls, events: Iterable[Event]) -> Spent:
        """Compose events."""
        events = list(events)
        gaussian = [event for event in events if isinstance(event, GaussianRelease)]
        others = [event for event in events if isinstance(event, ApproximateRelease)]
        return cls(
            mu=composed(gaussian),
            eta=sum_up(event.eta for event in gaussian),
            epsilon=sum_up(event.epsilon for event in others),
            delta=sum_up(event.delta for event in others),
        )

    def epsilon_at(self, delta: float) -> float:
        """Return the ε of everything together at this δ; infinite where δ does not suffice."""
        if self.mu == 0.0:
            return self.epsilon if self.delta <= delta else math.inf
        left = math.nextafter(delta - self.delta, 0.0) if self.delta else delta
        if left <= 0.0 or self.mu == math.inf:
            return math.inf
        # δ of the continuous noise behind δ' = e^η(δ + e^ε β), and a margin for e^ε β
        continuous = left * math.exp(-self.eta) * (1.0 - MARGIN)
        epsilon, reached = discrete_guarantee(
            epsilon_of_mu(self.mu, continuous), continuous, self.eta
        )
        return sum_up([epsilon, self.epsilon]) if reached <= left else math.inf


def composed(releases: Iterable[GaussianRelease]) -> float:
    """Return the μ of Gaussian releases of one fit together, rounded up."""
    prices = [(release.part, release.mu) for release in releases]
    if any(math.isinf(mu) for _, mu in prices):
        return math.inf
    return sqrt_up(dearest((part, Fraction(mu) ** 2) for part, mu in prices))


def share_of_mu(mu: float, fraction: float) -> float:
    """Return the μ of a share of a budget, rounded down: μ² is what adds up."""
    # 10⁻¹⁴: more than the roundings here and where the squares are added
    return mu * math.sqrt(fraction) * (1.0 - 1e-14)


def mu_of_guarantee(epsilon: float, delta: float) -> float:
    """Return the μ that discrete Gaussian noise may spend to meet (ε, δ)."""
    return mu_of_epsilon_delta(*continuous_target(epsilon, delta, ETA_ALLOWANCE))


# --- the books of one fit -------------------------------------------------------------------------


class BudgetError(RuntimeError):
    """A release would cost more than what is left of the budget."""


class Bookkeeper(Protocol):
    """Where a release is booked before its noise is drawn."""

    @property
    def neighbours(self) -> Neighbours:
        """What it means to differ in one unit."""
        ...

    def reserve(self, release: GaussianRelease) -> None:
        """Book a release, or raise BudgetError and book nothing."""
        ...


class GaussianBooks:
    """A budget in Gaussian DP and the releases booked against it.

    A release is booked before its noise is drawn: where drawing fails, it counts as spent. The
    books live as long as this object; a fit that fails hands them on (``spent_``, and a note).
    """

    def __init__(self, mu: float, neighbours: Neighbours) -> None:
        self.mu = mu
        self.neighbours = neighbours
        self.releases: list[GaussianRelease] = []
        self._paid = PaidByUnit()
        self._eta_left = ETA_ALLOWANCE

    def share(self, fraction: float) -> float:
        """Return the μ of a share of the budget."""
        return share_of_mu(self.mu, fraction)

    def reserve(self, release: GaussianRelease) -> None:
        """Book a release, or raise BudgetError and book nothing."""
        if self.mu < math.inf:
            self._charge(release)
        self.releases.append(release)

    def _charge(self, release: GaussianRelease) -> None:
        eta_left = self._eta_left - release.eta
        if not self._covers(release) or eta_left < 0.0:
            raise BudgetError(
                f"the release '{release.label}' does not fit into what is left of mu = "
                f"{self.mu:.6g}; nothing was drawn."
            )
        self._paid.add(release.part, Fraction(release.mu) ** 2)
        self._eta_left = eta_left

    def _covers(self, release: GaussianRelease) -> bool:
        """Whether no unit pays more than μ² with one more release, exactly."""
        if release.mu > self.mu:
            return False
        paid = self._paid.with_one_more(release.part, Fraction(release.mu) ** 2)
        return paid <= Fraction(self.mu) ** 2

    def about(self, part: RowPart | None) -> Bookkeeper:
        """Return the same books, in which what is reserved is about a part of the rows."""
        return self if part is None else _BooksOfPart(self, part)

    @property
    def spent_mu(self) -> float:
        """Gaussian-DP parameter of everything booked so far."""
        return Spent.by(self.releases).mu


@dataclass(frozen=True)
class _BooksOfPart:
    """Books in which all that is reserved is about one part of the rows."""

    books: GaussianBooks
    part: RowPart

    @property
    def neighbours(self) -> Neighbours:
        return self.books.neighbours

    def reserve(self, release: GaussianRelease) -> None:
        self.books.reserve(replace(release, part=self.part))


class Books(GaussianBooks):
    """A budget of (ε, δ), held as Gaussian DP."""

    def __init__(self, epsilon: float, delta: float, neighbours: Neighbours) -> None:
        super().__init__(mu_of_guarantee(epsilon, delta), neighbours)
        self.epsilon = epsilon
        self.delta = delta

    def spent_epsilon(self) -> float:
        """Return the ε of everything booked so far, at the budget's δ."""
        return Spent.by(self.releases).epsilon_at(self.delta)
