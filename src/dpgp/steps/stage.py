"""Stages: noisy Gram matrices of features and residuals, each about what the last left over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpgp.inference.many.plan import LEADING, early_stages, stage_weights
from dpgp.options import STAGES
from dpgp.privacy.mechanism import GramRelease
from dpgp.privacy.parts import RowPart
from dpgp.steps.base import GramQuery, Purpose, gram_noise_stds, noise_of_gram

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known

UNLIMITED_STAGES = 8
"""Stages in a learned metric where nothing has a price: two in every metric that they find; with
four, kin40k has a fourth more error. A fixed dictionary needs one."""


EARLY_EFFORT = 0.5
"""Time of a stage that has few inducing points, of that of a later one: 0.4 to 0.5 of it in a
fit of 100,000 rows of six inputs: docs/results/one_pass.md."""


@dataclass(frozen=True)
class Stage:
    """Release Σψψᵀ of features and of the residuals of every target, clipped.

    One that ``is_early`` has few inducing points, if any has many.
    """

    share: float
    number: int
    of: int
    part: RowPart | None = None
    is_early: bool = False
    purpose: ClassVar[Purpose] = Purpose.FUNCTION

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Stage, ...]:
        """Split what other steps leave of the budget by the weights of the stages."""
        weights = _weights(purse)
        left = math.fsum(weights) if purse.is_unlimited else purse.left
        shares = [left * weight / math.fsum(weights) for weight in weights]
        early = early_stages(len(shares)) if purse.options.learns_metric else 0
        return tuple(
            cls(share, k, len(shares), is_early=k <= early)
            for k, share in enumerate(shares, start=1)
        )

    @property
    def label(self) -> str:
        """Name in the certificate."""
        return f"stage {self.number}"

    @property
    def activity(self) -> str:
        """Say which of how many stages it is."""
        return f"{self.label} of {self.of}"

    @property
    def effort(self) -> float:
        """Return the time it takes, of a late stage's: 30,000 rows of six inputs."""
        return EARLY_EFFORT if self.is_early else 1.0

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, targets and between them."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for the Gram matrix of features and of what the functions so far leave."""
        fit, mu = known.fit, known.mu_of(self.share)
        times = 1 if self.part is None else self.part.of
        features = fit.ask(times * noise_of_gram(known.options, mu).cross_std)
        leading = LEADING if known.options.learns_metric else None
        residuals = fit.residuals(fit.centres, fit.clips)
        return GramQuery(features, residuals, leading, known.options.outcome.is_joint)

    def learn(self, known: Known, release: GramRelease) -> None:
        """Update the beliefs about every target, and every second time the dictionary."""
        renew = self.number % 2 == 0 and self.number < self.of
        weight = known.stage_weight(self.share, self.part)
        known.fit.take(release.for_all(self.part), weight, renew=renew)

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return what is expected to be left unknown after one more stage."""
        return outlook.after_stage(self.share, 1.0 if self.part is None else self.part.fraction)

    @classmethod
    def why(cls, planned: Sequence[Stage]) -> str:
        """Say how many stages there are, and what they cost relative to the first."""
        if len(planned) <= 1:
            return "stages: one"
        split = " : ".join(f"{stage.share / planned[0].share:.3g}" for stage in planned)
        said = f"{len(planned)} stages, {split}, each about what the ones before left unexplained"
        early = [stage.part for stage in planned if stage.part is not None]
        if not early:
            return said
        return (
            f"{said}; the first {len(early)} ask one of {early[0].of} parts of the rows each, for "
            f"which a row pays once, the last {len(planned) - len(early)} all rows"
        )


UPDATE_STAGES = (1.0, 1.0, 2.0, 2.0)
"""Weights of stages that start from an earlier model: residuals are small from the first on, and
two come before the law of residuals."""


ONE_STAGE = (1.0,)
"""Weights where nothing is clipped on fixed features: labels are as far from probabilities in the
last stage as in the first, so that a split buys nothing. docs/how-to/yes-no.md has the figures."""


def _weights(purse: Purse) -> tuple[float, ...]:
    options, asked = purse.options, purse.options.stages
    if purse.is_unlimited:
        return (1.0,) * (UNLIMITED_STAGES if options.learns_metric else 1)
    if asked != STAGES:
        return asked
    if options.prior_model is not None:
        return UPDATE_STAGES
    if options.learns_metric:
        return stage_weights(purse.signal)
    return STAGES if options.outcome.is_clipped else ONE_STAGE
