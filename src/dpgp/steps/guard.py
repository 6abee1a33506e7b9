"""Guard of the mean: widely clipped residuals on a few features, against skewed noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpgp.features.inputs import BoxFeatures
from dpgp.features.linear import LinearFeatures
from dpgp.inference.guard import CONSTANT_SHARE
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.purse import NOTHING_CLIPPED
from dpgp.steps.queries import GramQuery, gram_noise_stds
from dpgp.steps.stage_release import stage_of

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook
    from dpgp.steps.known import Known
    from dpgp.steps.purse import Purse

SHARE = 0.05  # costs Gaussian data about 1 % of RMSE: `dpgp reproduce successor`, skewed noise


@dataclass(frozen=True)
class Guard:
    """Release the Gram matrix of a constant, the inputs and widely clipped residuals."""

    share: float
    label: ClassVar[str] = "guard of the mean"
    activity: ClassVar[str] = "guarding the mean against skewed noise"

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Guard, ...]:
        """Return the step wherever residuals are clipped."""
        return (cls(SHARE),) if purse.clips_residuals else ()

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, targets and between them, at the smallest weight."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for widely clipped residuals on constant and linear features."""
        simple = BoxFeatures(known.inputs, LinearFeatures(known.columns, CONSTANT_SHARE))
        return GramQuery(simple, known.residuals(self._clips(known)))

    def learn(self, known: Known, release: GramRelease) -> None:
        """Correct the mean of every target."""
        for k, (fit, clip) in enumerate(zip(known.targets, self._clips(known), strict=True)):
            fit.guard(stage_of(release, k, clip, fit.weights, fit.n))

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take the noise to be Gaussian."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[Guard]) -> str:
        """Say what the guard costs."""
        if not planned:
            return NOTHING_CLIPPED
        return f"guard of the mean against skewed noise: {planned[0].share:.0%} of the budget"

    def _clips(self, known: Known) -> list[float]:
        return [fit.guard_clip(known.mu_of(self.share)) for fit in known.targets]
