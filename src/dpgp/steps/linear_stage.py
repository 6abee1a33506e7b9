"""The first stage of many inputs: a line, whose Gram matrix is the copula of the inputs as well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpgp.features.inputs import BoxFeatures
from dpgp.inference.many.mixed import mixed_pool
from dpgp.inference.many.plan import linear_share
from dpgp.inference.many.synthetic import broad_pool, synthetic_pool
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.queries import GramQuery, gram_noise_stds

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook
    from dpgp.steps.known import Known
    from dpgp.steps.purse import Purse


@dataclass(frozen=True)
class LinearStage:
    """Release the Gram matrix of a constant, the warped inputs and the centred targets."""

    share: float
    label: ClassVar[str] = "linear stage"
    activity: ClassVar[str] = "fitting a line"

    @classmethod
    def planned(cls, purse: Purse) -> tuple[LinearStage, ...]:
        """Return the one step."""
        return (cls(1.0 if purse.is_unlimited else linear_share(purse.signal, purse.columns)),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, targets and between them, at the smallest weight."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for constant and linear features and the targets about their centres."""
        line = BoxFeatures(known.inputs, known.many.line_features(known.inputs.dimension))
        return GramQuery(line, known.many.first_residuals(line))

    def learn(self, known: Known, release: GramRelease) -> None:
        """Draw inputs of these moments; the line itself is read when their model is complete."""
        many = known.many
        moments = many.moments_of(release)
        if known.options.box.categories:
            many.pool = mixed_pool(
                known.inputs.coordinates, many.marginals, many.levels, moments, known.n
            )
        elif many.marginals is None:
            many.pool = broad_pool(moments)
        else:
            many.pool = synthetic_pool(many.marginals, many.marginals.warp(), moments)
        many.line = (release, known.stage_weight(self.share))

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return what is expected to be unknown after one more stage."""
        return outlook.after_stage(self.share)

    @classmethod
    def why(cls, planned: Sequence[LinearStage]) -> str:
        """Say what the line costs."""
        share = math.fsum(step.share for step in planned)
        return f"a line, and correlations of the inputs: {share:.1%} of the budget"
