"""Where the targets lie within their bounds: with many inputs, stages start from there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpgp.inference.many.location import locate
from dpgp.inference.many.plan import bins_of_target, target_share
from dpgp.inference.residual_families import Kind
from dpgp.steps.base import SHARE_DIGITS, HistogramQuery, Purpose, count_noise
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known


@dataclass(frozen=True)
class TargetHistograms:
    """Release a histogram of every target over its public bounds."""

    share: float
    part: ClassVar[None] = None
    purpose: ClassVar[Purpose] = Purpose.PLACES
    label: ClassVar[str] = "target histograms"
    activity: ClassVar[str] = "looking where the targets are"
    effort: ClassVar[float] = 0.02  # of a stage's time: 30,000 rows of six inputs

    @classmethod
    def planned(cls, purse: Purse) -> tuple[TargetHistograms, ...]:
        """Return the one step; an outcome whose place is known needs none."""
        if purse.options.outcome.location is not None:
            return ()
        return (cls(1.0 if purse.is_unlimited else target_share(purse.signal)),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of a bin."""
        return [count_noise(options, options.n_targets, mu)]

    def query(self, known: Known) -> HistogramQuery:
        """Ask for counts in equal bins of every target."""
        bins = bins_of_target(known.signal)

        def positions(inputs: Array, targets: Array) -> Array:
            return (targets + 1.0) * (bins / 2)

        inner = np.arange(1.0, bins)
        return HistogramQuery(positions, known.options.n_targets, inner, known.inputs.filler)

    def learn(self, known: Known, release: Any) -> None:
        """Take centre and scale of every target, whether it has two values, and its shares."""
        places = tuple(locate(counts, release.noise_std, known.n) for counts in release.counts)
        known.locations = places
        known.findings[self.label] = [
            {
                Kind.TWO_VALUES.words: float(place.has_two_values),
                "noise": float(release.noise_std / known.n),
                "shares": np.round(counts / known.n, SHARE_DIGITS).tolist(),
            }
            for place, counts in zip(places, release.counts, strict=True)
        ]

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take targets to fill their bounds."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[TargetHistograms]) -> str:
        """Say what the histograms cost."""
        if not planned:
            return "no histograms of the target: its kind tells where it lies"
        share = math.fsum(step.share for step in planned)
        return f"where the targets lie, from histograms: {share:.1%} of the budget"
