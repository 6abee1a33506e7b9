"""Calibration of intervals: one private histogram of scaled residuals for every target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpgp.inference.conformal import calibrate, calibration_edges, calibration_share
from dpgp.inference.predictive import predictives
from dpgp.privacy.parts import RowPart
from dpgp.steps.base import HistogramQuery, Purpose, count_noise
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known


@dataclass(frozen=True)
class Calibrate:
    """Release how far observations are from their predictions, in predicted standard deviations."""

    share: float
    part: RowPart | None = None
    purpose: ClassVar[Purpose] = Purpose.CALIBRATION
    label: ClassVar[str] = "residual histograms"
    activity: ClassVar[str] = "calibrating intervals"
    effort: ClassVar[float] = 1.5  # of a stage's time: 30,000 rows of six inputs

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Calibrate, ...]:
        """Return the step where it is wanted."""
        if not purse.options.calibrate:
            return ()
        share = 1.0 if purse.is_unlimited else calibration_share(purse.rows, purse.mu)
        return (cls(share, purse.calibration_part),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of a bin."""
        return [count_noise(options, options.n_targets, mu)]

    def query(self, known: Known) -> HistogramQuery:
        """Ask for counts of (y − m(x))/(c(x)s(x)) between public edges."""
        inputs_of, edges = known.inputs, self._edges(known)
        laws = predictives(known.fit.posteriors, known.scales)

        def scaled_residuals(inputs: Array, targets: Array) -> Array:
            U, gaps = inputs_of.without_gaps(inputs)
            found = [_scaled(*law.at(U), y) for law, y in zip(laws, targets, strict=True)]
            return np.where(gaps, np.nan, found)

        return HistogramQuery(scaled_residuals, len(laws), edges[1:-1], inputs_of.filler)

    def learn(self, known: Known, release: Any) -> None:
        """Estimate the law of the scaled residuals of every target."""
        edges = self._edges(known)
        inputs, laws = known.fit.input_model, predictives(known.fit.posteriors, known.scales)
        # sums of squares are about rows with gaps as well, whose residuals are larger
        squares = [[] for _ in laws] if known.has_gaps else known.fit.squares
        rows = zip(release.counts, laws, squares, strict=True)
        found = [
            calibrate(
                row,
                release.noise_std,
                edges=edges,
                squares=[s.of_law(inputs, law) for s in told],
                **self._rows(known, row, release.noise_std),
            )
            for row, law, told in rows
        ]
        pairs = zip(found, known.fit.optimism, strict=True)
        known.calibrations = tuple(law.widened(optimism) for law, optimism in pairs)

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: it is about the mean."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[Calibrate]) -> str:
        """Say what calibration costs."""
        if not planned:
            return "no calibration of intervals: declined, or an outcome whose law is known"
        step = planned[0]
        asked = "" if step.part is None else f", one of {step.part.of} parts of the rows"
        return (
            f"calibration of intervals: {step.share:.1%} of the budget{asked}, a bin known to 1 % "
            "of the rows"
        )

    def _rows(self, known: Known, counts: Array, noise_std: float) -> dict[str, float]:
        """Return how many rows were counted: where some have gaps, those that have none."""
        if not known.has_gaps:
            n, n_std = known.rows_of(self.part)
            return {"n": n, "n_std": n_std}
        return {"n": max(counts.sum(), 2.0), "n_std": noise_std * np.sqrt(len(counts))}

    def _edges(self, known: Known) -> Array:
        (noise_std,) = self.noise_stds(known.options, known.mu_of(self.share))
        return calibration_edges(noise_std, known.rows_of(self.part)[0])


def _scaled(mean: Array, std: Array, target: Array) -> Array:
    """Return residuals in predicted standard deviations; means are cut to the target's bounds."""
    return np.asarray((target - np.clip(mean, -1.0, 1.0)) / std)
