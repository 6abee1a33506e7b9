"""The books: what was released, at which price, and that the budget was never exceeded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpgp.privacy.calibration import compose, epsilon_of_mu, mu_of_epsilon_delta
from dpgp.privacy.discretisation import (
    continuous_target,
    discrete_guarantee,
    discretisation_cost,
)
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.rounding import text_down, text_up

ETA_ALLOWANCE = 1e-12  # for the difference between discrete and continuous noise, over all releases


class BudgetExceededError(RuntimeError):
    """A release would cost more than what is left of the budget."""


@dataclass(frozen=True)
class GaussianRelease:
    """One Gaussian mechanism: what was released, and how much noise it carries.

    ``sensitivity`` and ``noise_std`` are in the units in which all noise of the release has the
    same standard deviation; ``smallest_scale`` is the smallest one in integer units.
    """

    label: str
    sensitivity: float
    noise_std: float
    coordinates: int
    smallest_scale: float

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

    def __str__(self) -> str:
        return (
            f"{self.label}: {self.coordinates} numbers, sensitivity {text_up(self.sensitivity)}, "
            f"noise {text_down(self.noise_std)}, mu {text_up(self.mu)}"
        )


class GaussianLedger:
    """A budget in Gaussian DP and the releases booked against it.

    A release is booked before its noise is drawn: where drawing fails, it counts as spent. The
    books live as long as this object; a fit that fails hands them on (``spent_``, and a note).
    """

    def __init__(self, mu: float, neighbours: Neighbours) -> None:
        self.mu = mu
        self.neighbours = neighbours
        self.releases: list[GaussianRelease] = []
        self._left = Fraction(mu if mu < math.inf else 0.0) ** 2  # μ² − Σ μ_k², exactly
        self._eta_left = ETA_ALLOWANCE

    def share(self, fraction: float) -> float:
        """Return the μ of a share of the budget, rounded down: μ² is what adds up."""
        return self.mu * math.sqrt(fraction) * (1.0 - 1e-14)

    def reserve(self, release: GaussianRelease) -> None:
        """Book a release, or raise BudgetExceededError and book nothing."""
        if self.mu < math.inf:
            self._charge(release)
        self.releases.append(release)

    def _charge(self, release: GaussianRelease) -> None:
        covered = release.mu <= self.mu
        left = self._left - Fraction(release.mu) ** 2 if covered else Fraction(-1)
        eta_left = self._eta_left - release.eta
        if left < 0 or eta_left < 0.0:
            raise BudgetExceededError(
                f"the release '{release.label}' does not fit into what is left of mu = "
                f"{self.mu:.6g}; nothing was drawn."
            )
        self._left, self._eta_left = left, eta_left

    @property
    def spent_mu(self) -> float:
        """Gaussian-DP parameter of everything booked so far."""
        return compose([release.mu for release in self.releases])


class Ledger(GaussianLedger):
    """A budget of (ε, δ), held as Gaussian DP."""

    def __init__(self, epsilon: float, delta: float, neighbours: Neighbours) -> None:
        super().__init__(mu_of_guarantee(epsilon, delta), neighbours)
        self.epsilon = epsilon
        self.delta = delta

    def spent_epsilon(self) -> float:
        """Return the ε of everything booked so far, at the budget's δ."""
        eta = sum(release.eta for release in self.releases)
        _, delta = continuous_target(self.epsilon, self.delta, eta)
        return discrete_guarantee(epsilon_of_mu(self.spent_mu, delta), delta, eta)[0]


def mu_of_guarantee(epsilon: float, delta: float) -> float:
    """Return the μ that discrete Gaussian noise may spend to meet (ε, δ)."""
    return mu_of_epsilon_delta(*continuous_target(epsilon, delta, ETA_ALLOWANCE))
