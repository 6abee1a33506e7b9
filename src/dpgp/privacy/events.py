"""What happened: frozen records of releases. What they cost together is the accountant's job."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpgp.privacy.discretisation import discretisation_cost
from dpgp.privacy.rounding import text_down, text_up


@dataclass(frozen=True)
class Bound:
    """Why a release has its sensitivity: the kind of the query, its size, and the proof.

    The size of a ``gram`` is ‖ψ‖² at most, of ``histograms`` how many a row is counted in, of a
    ``sum`` the largest value; of a ``count`` it is one.
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
    says why the sensitivity is what it is.
    """

    label: str
    sensitivity: float
    noise_std: float
    coordinates: int
    smallest_scale: float
    bound: Bound | None = None

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


@dataclass(frozen=True)
class ApproximateRelease:
    """Any mechanism that is (ε, δ)-DP as a whole, such as a selection: booked as one event."""

    label: str
    epsilon: float
    delta: float

    def __str__(self) -> str:
        return self.label


Event = GaussianRelease | ApproximateRelease
