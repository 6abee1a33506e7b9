"""Guard of the mean of many inputs: widely clipped residuals on constant and linear features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpgp.features.inputs import BoxFeatures
from dpgp.features.linear import LinearFeatures
from dpgp.inference.clip_choice import guard_kappa
from dpgp.inference.guard import CONSTANT_SHARE
from dpgp.privacy.books import share_of_mu
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.queries import GramQuery, gram_noise_stds, noise_of_gram
from dpgp.steps.stage_release import stage_of

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook
    from dpgp.steps.known import Known
    from dpgp.steps.purse import Purse

SHARE = 0.03

LARGEST_NOISE = 0.1
"""Noise of the guard's constant, as a share of where it clips, beyond which there is no guard. By
hand: the bias of skewed residuals is an eighth of their sd or so, and drowns."""


@dataclass(frozen=True)
class MetricGuard:
    """Release the Gram matrix of a constant, the inputs and widely clipped residuals."""

    share: float
    label: ClassVar[str] = "guard of the mean"
    activity: ClassVar[str] = "guarding the mean against skewed noise"

    @classmethod
    def planned(cls, purse: Purse) -> tuple[MetricGuard, ...]:
        """Return the step wherever residuals are clipped and it can be told what that does."""
        return (cls(SHARE),) if purse.clips_residuals and _is_heard(purse) else ()

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, targets and between them, at the smallest weight."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for widely clipped residuals on constant and linear features."""
        simple = BoxFeatures(known.inputs, LinearFeatures(known.inputs.dimension, CONSTANT_SHARE))
        means = [posterior.moments.w for posterior in known.many.from_stages]
        residuals = known.many.residuals_from(known.inputs, means, self._clips(known))
        return GramQuery(simple, residuals)

    def learn(self, known: Known, release: GramRelease) -> None:
        """Correct the mean of every target."""
        many, clips = known.many, self._clips(known)
        many.guard(
            [
                stage_of(release, k, clip, posterior.moments.w, known.n)
                for k, (clip, posterior) in enumerate(zip(clips, many.from_stages, strict=True))
            ]
        )

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take the noise to be Gaussian."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[MetricGuard]) -> str:
        """Say what the guard costs."""
        if not planned:
            return "no guard of the mean: no residual is clipped, or noise would drown it"
        return f"guard of the mean against skewed noise: {planned[0].share:.0%} of the budget"

    def _clips(self, known: Known) -> list[float]:
        n, mu, targets = known.n, known.mu_of(self.share), known.many.fit.targets
        kappas = [guard_kappa(t.law, n, mu) for t in targets]
        pairs = zip(targets, kappas, strict=True)
        return [t.location.scale * min(t.widest, kappa * t.forecast) for t, kappa in pairs]


def _is_heard(purse: Purse) -> bool:
    """Return whether the mean of clipped residuals is known to a tenth of the clip."""
    noise = noise_of_gram(purse.options, 1.0, share_of_mu(purse.mu, SHARE)).cross_std
    return noise <= LARGEST_NOISE * purse.rows * math.sqrt(CONSTANT_SHARE)
