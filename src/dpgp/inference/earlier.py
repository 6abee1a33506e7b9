"""What earlier releases told of the same study: where a fit of other people may start.

All of it was released before: reading it is post-processing (docs/proofs/pooled_releases.md).
"""

from __future__ import annotations

from typing import Protocol

from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.metric import MetricFamily
from dpgp.inference.many.records import NormalEquations
from dpgp.outcomes import Location
from dpgp.types import Array


class Earlier(Protocol):
    """Releases that were read before; sums, places and scales are in units of the bounds."""

    @property
    def inputs(self) -> UnitInputs:
        """The cube of their inputs."""
        ...

    @property
    def synthetic(self) -> Array:
        """Places in it that stand for their rows, all alike."""
        ...

    @property
    def locations(self) -> tuple[Location, ...]:
        """Where every target lies."""
        ...

    @property
    def family(self) -> MetricFamily | None:
        """The metric that they ended with; None where they learned none."""
        ...

    @property
    def rows(self) -> float:
        """How many they are about."""
        ...

    @property
    def signal(self) -> float:
        """nμ of one fit whose sums would have the noise of all of them."""
        ...

    @property
    def noises(self) -> tuple[float, ...]:
        """The sd of an observation of every target."""
        ...

    def equations(self, target: int, dictionary: Dictionary, location: Location) -> NormalEquations:
        """Return what their records say of the weights of a target about its location."""
        ...
