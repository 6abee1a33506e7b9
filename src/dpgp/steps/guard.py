"""Guard of the mean: widely clipped residuals on a few features, against skewed noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpgp.features.inputs import BoxFeatures
from dpgp.features.linear import LinearFeatures
from dpgp.inference.clip_choice import ClipInterval
from dpgp.inference.guard import CONSTANT_SHARE
from dpgp.inference.stage import StageRelease
from dpgp.privacy.books import share_of_mu
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.base import GramQuery, Purpose, gram_noise_stds, noise_of_gram

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known

SHARE = 0.05
"""Where residuals may be anywhere within the bounds a sum of them then has four times the noise of
one with the whole budget. Of errors of f three hundredths cannot be told from five:
docs/results/averages.md, docs/results/frame.md."""

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
    effort: ClassVar[float] = 0.5  # of a stage's time: 30,000 rows of six inputs

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
        intervals = self._intervals(known)
        residuals = known.fit.residuals(known.fit.means, [i.half_width for i in intervals])
        middles = np.array([[i.middle] for i in intervals])
        return GramQuery(simple, replace(residuals, middles=middles))

    def learn(self, known: Known, release: GramRelease) -> None:
        """Correct the mean of every target."""
        pairs = zip(self._intervals(known), known.fit.means, strict=True)
        known.fit.guard(
            [
                _about_middle(StageRelease.of(release, k, i.half_width, w, known.n), i, known.n_std)
                for k, (i, w) in enumerate(pairs)
            ]
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

    def _intervals(self, known: Known) -> list[ClipInterval]:
        return known.fit.guard_intervals(known.mu_of(self.share))


def _about_middle(release: StageRelease, interval: ClipInterval, n_std: float) -> StageRelease:
    """Say that residuals lie about the middle m of an interval: their sum is off by m σ_n."""
    noise = math.hypot(release.sigma_a, interval.middle * n_std)
    return replace(release, middle=interval.middle, sigma_a=noise)


def _is_heard(purse: Purse) -> bool:
    """Return whether the mean of clipped residuals is known to a tenth of the clip.

    Fixed features have no other way to doubt what clipping did, and always ask.
    """
    if not purse.options.learns_metric:
        return True
    noise = noise_of_gram(purse.options, share_of_mu(purse.mu, SHARE)).cross_std
    return noise <= LARGEST_NOISE * purse.rows * math.sqrt(CONSTANT_SHARE)
