"""What every step of a fit can do. A fit is a loop over steps, and so is a forecast."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from dpgp.steps.queries import Query

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.known import Known
    from dpgp.steps.purse import Purse


class Purpose(StrEnum):
    """What a share of the budget buys; a plan adds them up by it."""

    COUNT = "count"
    PLACES = "places"  # where inputs and targets lie
    FUNCTION = "function"
    LAW = "law"
    GUARD = "guard"
    SCALE = "scale"
    CALIBRATION = "calibration"
    OTHER = "other"


class StageOutlook(Protocol):
    """What is expected to be known, before any data is seen; stages are what changes it."""

    def after_stage(self, share: float) -> Self:
        """Return what is expected after a stage with a share of μ²."""
        ...


AnyOutlook = TypeVar("AnyOutlook", bound=StageOutlook)


class Step(Protocol):
    """One release of a fit: what it costs, what it asks, what is made of the answer.

    A step is a frozen record of public numbers. ``share`` is its part of μ², ``label`` its name in
    the certificate, ``activity`` what is said while it runs.
    """

    @property
    def share(self) -> float:
        """Part of μ² that the step spends."""
        ...

    @property
    def purpose(self) -> Purpose:
        """What the share buys."""
        ...

    @property
    def label(self) -> str:
        """Name in the certificate."""
        ...

    @property
    def activity(self) -> str:
        """What is said while the step runs: public, the same for any data."""
        ...

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Self, ...]:
        """Return the steps of this kind that a fit takes, by the kind's own share rule."""
        ...

    def noise_stds(self, options: Options, mu: float) -> Sequence[float]:
        """Return the standard deviations of the noise that the step will draw with a budget μ."""
        ...

    def query(self, known: Known) -> Query:
        """Return what to ask of the rows, from what is known so far."""
        ...

    def learn(self, known: Known, release: Any) -> None:
        """Take the released answer into what is known."""
        ...

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return what is expected to be known after this step, before any data."""
        ...

    @classmethod
    def why(cls, planned: Sequence[Self]) -> str:
        """Explain in a line why there are these steps of the kind, or none."""
        ...
