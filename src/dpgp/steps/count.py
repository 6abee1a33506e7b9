"""The number of rows, where it is private: the first step, since the design depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpgp.privacy.calibration import gaussian_sigma
from dpgp.steps.base import CountQuery, Purpose

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known

SHARE = 0.02  # √0.02 = 0.14 of μ: a count has sensitivity one, and one per cent of n is enough


@dataclass(frozen=True)
class Count:
    """Release how many rows can be used."""

    share: float
    purpose: ClassVar[Purpose] = Purpose.COUNT
    label: ClassVar[str] = "number of rows"
    activity: ClassVar[str] = "counting rows"

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Count, ...]:
        """Return the step where the number is not public."""
        if purse.public_rows is not None:
            return ()
        return (cls(1.0 if purse.is_unlimited else SHARE),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of the count."""
        return [gaussian_sigma(float(options.max_rows_per_unit), mu)]

    def query(self, known: Known) -> CountQuery:
        """Ask for the number of usable rows."""
        return CountQuery()

    def learn(self, known: Known, release: float) -> None:
        """Take the noisy number, at least two."""
        known.n = max(release, 2.0)

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take n as known."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[Count]) -> str:
        """Say what the number of rows costs."""
        if not planned:
            return "the number of rows is public: neighbours have the same"
        return f"the number of rows is private: {planned[0].share:.0%} of the budget"
