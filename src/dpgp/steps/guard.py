"""Guard of the mean: widely clipped residuals on a few features, against skewed noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpgp.features.inputs import BoxFeatures
from dpgp.features.linear import LinearFeatures
from dpgp.inference.guard import CONSTANT_SHARE
from dpgp.inference.stage import StageRelease
from dpgp.privacy.books import share_of_mu
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.base import GramQuery, Purpose, gram_noise_stds, noise_of_gram

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known

SHARE = 0.03
"""Whether it is three or five hundredths cannot be told from errors: docs/results/frame.md."""

LARGEST_NOISE = 0.1
"""Noise of the guard's constant, as a share of where it clips, beyond which there is no guard. By
hand: the bias of skewed residuals is an eighth of their sd or so, and drowns."""


@dataclass(frozen=True)
class Guard:
    """Release the Gram matrix of a constant, the inputs and widely clipped residuals."""

    share: float
    part: ClassVar[None] = None
    purpose: ClassVar[Purpose] = Purpose.GUARD
    label: ClassVar[str] = "guard of the mean"
    activity: ClassVar[str] = "guarding the mean against skewed noise"

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Guard, ...]:
        """Return the step wherever residuals are clipped and it can be told what that does."""
        return (cls(SHARE),) if purse.clips_residuals and _is_heard(purse) else ()

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, targets and between them."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for widely clipped residuals on constant and linear features."""
        simple = BoxFeatures(known.inputs, LinearFeatures(known.inputs.dimension, CONSTANT_SHARE))
        return GramQuery(simple, known.fit.residuals(known.fit.means, self._clips(known)))

    def learn(self, known: Known, release: GramRelease) -> None:
        """Correct the mean of every target."""
        pairs = zip(self._clips(known), known.fit.means, strict=True)
        known.fit.guard(
            [StageRelease.of(release, k, clip, w, known.n) for k, (clip, w) in enumerate(pairs)]
        )

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take the noise to be Gaussian."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[Guard]) -> str:
        """Say what the guard costs."""
        if not planned:
            return "no guard of the mean: no residual is clipped, or noise would drown it"
        return f"guard of the mean against skewed noise: {planned[0].share:.0%} of the budget"

    def _clips(self, known: Known) -> list[float]:
        return known.fit.guard_clips(known.mu_of(self.share))


def _is_heard(purse: Purse) -> bool:
    """Return whether the mean of clipped residuals is known to a tenth of the clip.

    Fixed features have no other way to doubt what clipping did, and always ask.
    """
    if not purse.options.learns_metric:
        return True
    noise = noise_of_gram(purse.options, share_of_mu(purse.mu, SHARE)).cross_std
    return noise <= LARGEST_NOISE * purse.rows * math.sqrt(CONSTANT_SHARE)
