"""One private histogram an input, by which inputs are warped: crowded stretches get more room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpgp.features.inputs import UnitInputs
from dpgp.inference.warp import fit_warp, warp_bins, warp_share
from dpgp.steps.queries import HistogramQuery, count_noise
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook
    from dpgp.steps.known import Known
    from dpgp.steps.purse import Purse


@dataclass(frozen=True)
class InputHistograms:
    """Release a histogram of every input over its public bounds."""

    share: float
    label: ClassVar[str] = "input histograms"
    activity: ClassVar[str] = "looking where the inputs are"

    @classmethod
    def planned(cls, purse: Purse) -> tuple[InputHistograms, ...]:
        """Return the step where it is wanted and the histograms are not mostly noise."""
        if purse.is_unlimited or not purse.options.warp:
            return ()
        share = warp_share(purse.rows, purse.columns, purse.mu)
        return (cls(share),) if share > 0.0 else ()

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of a bin."""
        return [count_noise(options, options.columns, mu)]

    def query(self, known: Known) -> HistogramQuery:
        """Ask for counts in equal bins of every input."""
        box = known.options.box
        plain, n_bins = UnitInputs(box), warp_bins(known.n, known.columns, known.mu)

        def positions(inputs: Array, targets: Array) -> Array:
            return (plain(inputs).T + 1.0) * (n_bins / 2)

        return HistogramQuery(positions, known.columns, np.arange(1.0, n_bins), box.centre)

    def learn(self, known: Known, release: Any) -> None:
        """Warp the inputs by the noisy counts."""
        warp = fit_warp(release.counts, release.noise_std, known.n)
        known.inputs = UnitInputs(known.options.box, warp)

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take inputs to be spread evenly."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[InputHistograms]) -> str:
        """Say what the histograms cost, or why there are none."""
        if not planned:
            return (
                "no warping: the histograms of the inputs would be mostly noise, or were declined"
            )
        return f"warping of the inputs by private histograms: {planned[0].share:.1%} of the budget"
