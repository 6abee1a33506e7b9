"""What the records of a ledger cost together, and what still fits: docs/proofs/ledger.md."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from dpgp.ledger.records import Closed, LedgerError, Opened, Other, Record, Reserved
from dpgp.privacy.books import (
    ETA_ALLOWANCE,
    MARGIN,
    GaussianRelease,
    Spent,
    mu_of_guarantee,
)
from dpgp.privacy.calibration import epsilon_of_mu
from dpgp.privacy.parts import dearest
from dpgp.privacy.rounding import float_up, sqrt_up, sum_up, text_down

LARGEST_COMPOSED = 10.0
"""ε of others, and μ, beyond which prices are added up: distributions would fill the memory."""
BISECTIONS = 10  # μ to a thousandth of the cap: answers have three digits


@dataclass(frozen=True)
class Cost:
    """Price of some records: Σμ² and Ση of Gaussian releases, (ε, δ) of every other mechanism."""

    squares: Fraction = Fraction(0)
    eta: Fraction = Fraction(0)
    others: tuple[tuple[float, float], ...] = ()

    @classmethod
    def gaussian(cls, mu: float, eta: float) -> Cost:
        """Return the price of Gaussian releases that compose to μ."""
        if math.isinf(mu):
            raise LedgerError("a fit without noise has no price; give it a finite `epsilon`.")
        return cls(Fraction(mu) ** 2, Fraction(eta))

    @classmethod
    def of_fit(cls, releases: Iterable[GaussianRelease]) -> Cost:
        """Return the price of what one fit released: of disjoint parts a unit pays the dearest."""
        prices = [(each.part, cls.gaussian(each.mu, each.eta)) for each in releases]
        squares = dearest((part, price.squares) for part, price in prices)
        return cls(squares, sum((price.eta for _, price in prices), Fraction(0)))

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.squares + other.squares, self.eta + other.eta, self.others + other.others)

    def instead_of(self, reserved: Cost, total: Cost) -> Cost:
        """Return a total in which this Gaussian price replaces one that was reserved: exact."""
        squares, eta = total.squares - reserved.squares, total.eta - reserved.eta
        return Cost(squares + self.squares, eta + self.eta, total.others)

    @property
    def mu(self) -> float:
        """Gaussian-DP parameter of the Gaussian part, rounded up."""
        return sqrt_up(self.squares)

    def epsilon_at(self, delta: float) -> float:
        """Return the ε of everything together, converted once."""
        eta = float_up(self.eta)
        added = [sum_up(pair[part] for pair in self.others) for part in (0, 1)]
        if not self.others or max(added[0], self.mu) > LARGEST_COMPOSED:
            return Spent(self.mu, eta, *added).epsilon_at(delta)
        # δ of continuous noise behind δ' = e^η(δ + e^ε β), as for Gaussian releases alone
        continuous = delta * math.exp(-eta) * (1.0 - MARGIN)
        return sum_up([_pld_epsilon(self.mu, self.others, continuous), eta])


def _pld_epsilon(mu: float, others: Sequence[tuple[float, float]], delta: float) -> float:
    """ε at δ of one Gaussian mechanism and others, by privacy loss distributions, rounded up."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    together = _composed(tuple(others))
    if mu > 0.0:
        together = together.compose(pld.from_gaussian_mechanism(1.0 / mu))
    return float(together.get_epsilon_for_delta(delta))


@lru_cache(maxsize=64)
def _composed(others: tuple[tuple[float, float], ...]) -> Any:
    """Privacy loss distribution of mechanisms of which only ε and δ are known."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    parts = (common.DifferentialPrivacyParameters(*pair) for pair in others)
    return reduce(lambda a, b: a.compose(b), map(pld.from_privacy_parameters, parts))


@dataclass(frozen=True)
class Cap:
    """The most that may be spent on one unit."""

    epsilon: float
    delta: float

    @property
    def mu(self) -> float:
        """The μ that Gaussian releases alone may spend."""
        return mu_of_guarantee(self.epsilon, self.delta)

    def holds(self, cost: Cost) -> bool:
        """Return whether a price is within the cap; exactly so where all of it is Gaussian."""
        if cost.squares > Fraction(self.mu) ** 2 or cost.eta > ETA_ALLOWANCE:
            return False
        return not cost.others or cost.epsilon_at(self.delta) <= self.epsilon

    def spent(self, cost: Cost) -> float:
        """Return the ε of a price at the cap's δ: at most the cap's, infinite beyond the cap."""
        if not self.holds(cost):
            return math.inf
        return min(cost.epsilon_at(self.delta), self.epsilon)

    def mu_left(self, cost: Cost) -> float:
        """Return the largest μ, rounded down, that Gaussian releases may still spend."""
        if not self.holds(cost):
            return 0.0
        if not cost.others:
            return _sqrt_down(Fraction(self.mu) ** 2 - cost.squares)
        low, high = 0.0, self.mu
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            fits = self.holds(cost + Cost.gaussian(middle, 0.0))
            low, high = (middle, high) if fits else (low, middle)
        return low


def _sqrt_down(square: Fraction) -> float:
    """Return a double that is not above √q: exact if the root is a double."""
    root = sqrt_up(square)
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0.0)
    return root


def epsilon_that_fits(mu_left: float, delta: float) -> float:
    """Return the largest ε in three digits whose fit at δ costs at most this μ; zero for none."""
    if mu_left <= 0.0:
        return 0.0
    epsilon = epsilon_of_mu(mu_left, delta)
    # a little more first: rounding may have left 2.9999… of a whole budget of 3
    for near in (epsilon * (1.0 + 1e-9), epsilon * (1.0 - 1e-9), epsilon * 0.99):
        candidate = float(text_down(near, 3))
        if candidate > 1e-9 and mu_of_guarantee(candidate, delta) <= mu_left:
            return candidate
    return 0.0


@dataclass(frozen=True)
class Account:
    """The state after some records: the cap, what was spent on whom, and which fits are open.

    ``totals`` has the price of what concerned everybody under None, and that of each group.
    """

    opened: Opened
    totals: Mapping[str | None, Cost]
    running: Mapping[str, Reserved] = field(default_factory=dict)
    simulations: int = 0

    @classmethod
    def of(cls, records: Iterable[Record]) -> Account:
        """Replay records; a LedgerError where they contradict each other."""
        first, *rest = records
        if not isinstance(first, Opened):
            raise LedgerError("a ledger must begin with its cap.")
        _check_cap(first)
        account = cls(first, dict.fromkeys((None, *first.disjoint), Cost()))
        for record in rest:
            account = account.after(record)
        return account

    @property
    def cap(self) -> Cap:
        """The most that may be spent on one unit."""
        return Cap(self.opened.epsilon, self.opened.delta)

    def after(self, record: Record) -> Account:
        """Return the state with one more record."""
        match record:
            case Opened():
                raise LedgerError("a ledger has one cap, and it cannot be changed.")
            case Reserved():
                return self._reserved(record)
            case Closed():
                return self._closed(record)
            case Other():
                price = Cost(others=((record.epsilon, record.delta),))
                return self._with(record.partition, self.total(record.partition) + price)

    def _reserved(self, record: Reserved) -> Account:
        if record.fit in self.running:
            raise LedgerError("a fit is reserved twice.")
        total = self.total(record.partition)
        opened = replace(self, running={**self.running, record.fit: record})
        if record.simulation:
            return replace(opened, simulations=self.simulations + 1)
        return opened._with(record.partition, total + Cost.gaussian(record.mu, record.eta))

    def _closed(self, record: Closed) -> Account:
        if record.fit not in self.running:
            raise LedgerError("a fit is closed that was not reserved, or is closed twice.")
        fit = self.running[record.fit]
        running = {name: other for name, other in self.running.items() if name != record.fit}
        closed = replace(self, running=running)
        if fit.simulation:
            return closed
        reserved, released = Cost.gaussian(fit.mu, fit.eta), _cost_of(record)
        if released.squares > reserved.squares or released.eta > reserved.eta:
            raise LedgerError("a fit released more than it had reserved.")
        total = released.instead_of(reserved, self.total(fit.partition))
        return closed._with(fit.partition, total)

    def total(self, partition: str | None) -> Cost:
        """Return what was spent on one group alone, or on everybody; an error of no group."""
        if partition not in self.totals:
            raise LedgerError(
                f"'{partition}' is not among the groups of people that this ledger declares "
                "disjoint; they are named when it is created."
            )
        return self.totals[partition]

    def _with(self, partition: str | None, total: Cost) -> Account:
        return replace(self, totals={**self.totals, partition: total})

    def costs(self, partition: str | None = None) -> list[Cost]:
        """Return what was spent on the people of every group, or of the one that is named."""
        groups = self.opened.disjoint if partition is None else (partition,)
        everybody = self.totals[None]
        return [everybody + self.totals[name] for name in groups] or [everybody]

    def worst(self, partition: str | None = None) -> Cost:
        """Return what was spent on whom most was spent."""
        return max(self.costs(partition), key=lambda cost: (self.cap.spent(cost), cost.squares))

    def mu_left(self, partition: str | None = None) -> float:
        """Return the μ that Gaussian releases about one group, or about all, may still spend."""
        return min(self.cap.mu_left(cost) for cost in self.costs(partition))

    def holds(self) -> bool:
        """Return whether no unit has more spent on it than the cap."""
        return all(self.cap.holds(cost) for cost in self.costs())


def _check_cap(opened: Opened) -> None:
    """Raise where no noise could keep to the cap, so large or so small is it."""
    try:
        mu_of_guarantee(opened.epsilon, opened.delta)
    except ValueError as error:
        raise LedgerError(f"nothing can be kept within the cap: {error}") from None


def _cost_of(record: Closed) -> Cost:
    try:
        return Cost.of_fit(record.releases)
    except (ValueError, OverflowError):
        raise LedgerError("a release is listed whose noise cannot be accounted for.") from None
