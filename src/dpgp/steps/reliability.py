"""How good a classifier is: labels counted by what was predicted of them, of yes and no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpgp.inference.reliability import (
    cuts_between,
    means_and_gaps,
    most_bins,
    reliability_share,
)
from dpgp.steps.base import HistogramQuery, Purpose, count_noise
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known

YES_AND_NO = 2  # labels


@dataclass(frozen=True)
class LabelsByPrediction:
    """Release how many rows of either label have a prediction between public cuts.

    Probabilities rise with the posterior mean of f, which is therefore cut in their stead.
    """

    share: float
    part: ClassVar[None] = None
    purpose: ClassVar[Purpose] = Purpose.CALIBRATION
    label: ClassVar[str] = "labels by prediction"
    activity: ClassVar[str] = "comparing labels with their probabilities"
    effort: ClassVar[float] = 0.5  # of a stage's time: it evaluates the same features

    @classmethod
    def planned(cls, purse: Purse) -> tuple[LabelsByPrediction, ...]:
        """Return the step of a fit of yes and no, where counts are not mostly noise."""
        share = 1.0 if purse.is_unlimited else reliability_share(purse.signal)
        return (cls(share),) if share > 0.0 else ()

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of a bin: a row is in one of all."""
        return [count_noise(options, 1, mu)]

    def query(self, known: Known) -> HistogramQuery:
        """Ask for counts of no and yes in turn, from the least prediction on."""
        inputs_of, cuts = known.inputs, self._cuts(known)
        (posterior,) = known.fit.posteriors

        def numbers(inputs: Array, targets: Array) -> Array:
            U, gaps = inputs_of.without_gaps(inputs)
            predicted = posterior.moments.w @ posterior.features.evaluate(U)
            numbers = 2.0 * np.searchsorted(cuts, predicted) + (targets > 0.0)
            return np.where(gaps, np.nan, numbers)

        inner = np.arange(0.5, 2 * len(cuts) + 1)
        return HistogramQuery(numbers, 1, inner, inputs_of.filler)

    def learn(self, known: Known, release: Any) -> None:
        """Keep the counts beside what was predicted in every bin, and how far apart."""
        means, gaps = means_and_gaps(*_predictions(known), self._cuts(known))
        counts = release.counts[0].reshape(-1, 2)
        known.findings[self.label] = {
            "predicted": means.tolist(),
            "apart": gaps.tolist(),
            "no": counts[:, 0].tolist(),
            "yes": counts[:, 1].tolist(),
            "noise": float(release.noise_std),
        }

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: it is about the mean."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[LabelsByPrediction]) -> str:
        """Say what the counts cost, or why there are none."""
        if not planned:
            return "no labels counted by their predictions: they would be mostly noise"
        share = f"{planned[0].share:.1%} of the budget"
        return f"labels counted by their predictions, for AUC and reliability: {share}"

    def _cuts(self, known: Known) -> Array:
        (noise_std,) = self.noise_stds(known.options, known.mu_of(self.share))
        return cuts_between(*_predictions(known), most_bins(noise_std, known.n))


def _predictions(known: Known) -> tuple[Array, Array]:
    """Return the posterior mean where rows are, and how many are there."""
    places, (posterior,) = known.fit.input_model, known.fit.posteriors
    values = posterior.moments.w @ posterior.features.evaluate(places.places)
    return np.asarray(values), np.maximum(places.weights, 0.0)
