"""A step of a fit that dpgp does not have, as somebody would add it: this file, and two lines.

It counts the rows in the lower and in the upper half of the first input, and only tells what it
found. One line is among the kinds of a fit, the other is its rule, written again for verification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpgp.steps.base import HistogramQuery, Purpose, count_noise
from dpgp.verify.shares import constant
from dpgp.verify.steps import PlannedStep

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known
    from dpgp.types import Array

SHARE = 0.01


@dataclass(frozen=True)
class Halves:
    """Release how many rows are in either half of the first input."""

    share: float
    part: ClassVar[None] = None
    purpose: ClassVar[Purpose] = Purpose.OTHER
    label: ClassVar[str] = "halves of an input"
    activity: ClassVar[str] = "halving an input"
    effort: ClassVar[float] = 0.1

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Halves, ...]:
        """Return the one step, whatever the fit."""
        return (cls(1.0 if purse.is_unlimited else SHARE),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of a half."""
        return [count_noise(options, 1, mu)]

    def query(self, known: Known) -> HistogramQuery:
        """Ask for two counts."""
        box = known.options.box

        def places(inputs: Array, targets: Array) -> Array:
            return inputs[:, :1].T - box.centre[0]

        return HistogramQuery(places, 1, np.zeros(1), box.centre)

    def learn(self, known: Known, release: Any) -> None:
        """Tell the share of the lower half."""
        lower, upper = np.maximum(release.counts[0], 1.0)
        known.findings[self.label] = {"lower": float(lower / (lower + upper))}

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[Halves]) -> str:
        """Say what two counts cost."""
        return f"two halves of an input: {sum(step.share for step in planned):.1%} of the budget"


VERIFIED = PlannedStep(
    label=Halves.label,
    query="histograms",
    size=lambda fit: 1.0,
    numbers=lambda fit, release: range(2, 3),
    is_taken=lambda fit: True,
    share=constant(SHARE),
    left=lambda fit: Halves.label in fit.findings,
)
"""The line of verification, which imports nothing of the step."""
