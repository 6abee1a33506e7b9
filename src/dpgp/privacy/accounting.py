"""What events cost together: composed by kind, converted to (ε, δ) once, at the end."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpgp.privacy.calibration import compose, epsilon_of_mu, mu_of_epsilon_delta
from dpgp.privacy.discretisation import continuous_target, discrete_guarantee
from dpgp.privacy.events import ApproximateRelease, Event, GaussianRelease
from dpgp.privacy.rounding import sum_up

ETA_ALLOWANCE = 1e-12  # for the difference between discrete and continuous noise, over all releases
MARGIN = 1e-12  # of δ: far above the mass that discrete noise needs, far below what anybody prints


@dataclass(frozen=True)
class Spent:
    r"""The cost of events: Gaussian ones by μ and η, all others by their own ε and δ.

    Gaussian mechanisms compose to :math:`\sqrt{\sum\mu_k^2}`, others by adding up ε and δ, and the
    two kinds by adding up again (docs/proofs/gaussian_calibration.md). To account for another kind
    of event, add a record to :mod:`dpgp.privacy.events` and its price here.
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
            mu=compose([event.mu for event in gaussian]),
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


def share_of_mu(mu: float, fraction: float) -> float:
    """Return the μ of a share of a budget, rounded down: μ² is what adds up."""
    # 10⁻¹⁴: more than the roundings here and where the squares are added
    return mu * math.sqrt(fraction) * (1.0 - 1e-14)


def mu_of_guarantee(epsilon: float, delta: float) -> float:
    """Return the μ that discrete Gaussian noise may spend to meet (ε, δ)."""
    return mu_of_epsilon_delta(*continuous_target(epsilon, delta, ETA_ALLOWANCE))
