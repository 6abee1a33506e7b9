"""The books: what was released, at which price, and that the budget was never exceeded."""

from __future__ import annotations

import math
from fractions import Fraction

from dpgp.privacy.accounting import ETA_ALLOWANCE, Spent, mu_of_guarantee, share_of_mu
from dpgp.privacy.events import GaussianRelease
from dpgp.privacy.neighbours import Neighbours


class BudgetError(RuntimeError):
    """A release would cost more than what is left of the budget."""


class GaussianBooks:
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
        """Return the μ of a share of the budget."""
        return share_of_mu(self.mu, fraction)

    def reserve(self, release: GaussianRelease) -> None:
        """Book a release, or raise BudgetError and book nothing."""
        if self.mu < math.inf:
            self._charge(release)
        self.releases.append(release)

    def _charge(self, release: GaussianRelease) -> None:
        covered = release.mu <= self.mu
        left = self._left - Fraction(release.mu) ** 2 if covered else Fraction(-1)
        eta_left = self._eta_left - release.eta
        if left < 0 or eta_left < 0.0:
            raise BudgetError(
                f"the release '{release.label}' does not fit into what is left of mu = "
                f"{self.mu:.6g}; nothing was drawn."
            )
        self._left, self._eta_left = left, eta_left

    @property
    def spent_mu(self) -> float:
        """Gaussian-DP parameter of everything booked so far."""
        return Spent.by(self.releases).mu


class Books(GaussianBooks):
    """A budget of (ε, δ), held as Gaussian DP."""

    def __init__(self, epsilon: float, delta: float, neighbours: Neighbours) -> None:
        super().__init__(mu_of_guarantee(epsilon, delta), neighbours)
        self.epsilon = epsilon
        self.delta = delta

    def spent_epsilon(self) -> float:
        """Return the ε of everything booked so far, at the budget's δ."""
        return Spent.by(self.releases).epsilon_at(self.delta)
