"""Stages of many inputs: each takes its features from what was released before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.features.inputs import BoxFeatures
from dpgp.inference.many.plan import MOST_FEATURES, stage_weights
from dpgp.options import STAGES
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.numbered import NumberedStage
from dpgp.steps.queries import GramQuery, gram_noise_stds, noise_of_gram

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook
    from dpgp.steps.known import Known
    from dpgp.steps.purse import Purse

UNLIMITED_STAGES = 4  # where nothing has a price: two in the first metric, two in the one they find


@dataclass(frozen=True)
class MetricStage(NumberedStage):
    """Release Σψψᵀ of the directions in which most is unknown, and of clipped residuals."""

    @classmethod
    def planned(cls, purse: Purse) -> tuple[MetricStage, ...]:
        """Split what other steps leave of the budget by growing weights."""
        if purse.is_unlimited:
            return tuple(cls(1.0, k + 1, UNLIMITED_STAGES) for k in range(UNLIMITED_STAGES))
        asked = purse.options.stages
        weights = np.array(stage_weights(purse.signal) if asked == STAGES else asked)
        shares = (purse.left * weights / weights.sum()).tolist()
        return tuple(cls(share, k, len(shares)) for k, share in enumerate(shares, start=1))

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, targets and between them, at the smallest weight."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for what is least known, with residuals from the present centre."""
        noise = noise_of_gram(known.options, 1.0, known.mu_of(self.share))
        question = known.many.ask(noise.cross_std, MOST_FEATURES)
        features = BoxFeatures(known.inputs, question.features)
        return GramQuery(features, known.residuals(known.many.clips))

    def learn(self, known: Known, release: GramRelease) -> None:
        """Update the beliefs, and every second time the metric."""
        renew = self.number % 2 == 0 and self.number < self.of
        known.many.take(release, known.stage_weight(self.share), renew=renew)

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return what is expected to be unknown after one more stage."""
        return outlook.after_stage(self.share)

    @classmethod
    def why(cls, planned: Sequence[MetricStage]) -> str:
        """Say how many stages there are."""
        return (
            f"{len(planned)} stages in a learned metric, each about what the ones before left "
            "unexplained"
        )
