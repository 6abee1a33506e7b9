"""Stages: noisy Gram matrices of features and residuals, each about what the last left over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.numbered import NumberedStage
from dpgp.steps.queries import GramQuery, gram_noise_stds
from dpgp.steps.stage_release import stage_of

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook
    from dpgp.steps.known import Known
    from dpgp.steps.purse import Purse


@dataclass(frozen=True)
class GramStage(NumberedStage):
    """Release Σψψᵀ of features and of the residuals of every target, clipped."""

    @classmethod
    def planned(cls, purse: Purse) -> tuple[GramStage, ...]:
        """Split what other steps leave of the budget by the weights of the stages."""
        if purse.is_unlimited:
            return (cls(1.0, 1, 1),)
        weights = np.array(purse.options.stages, dtype=np.float64) / math.fsum(purse.options.stages)
        shares = (purse.left * weights).tolist()
        return tuple(cls(share, k, len(shares)) for k, share in enumerate(shares, start=1))

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise on features, targets and between them, at the smallest weight."""
        return gram_noise_stds(options, mu)

    def query(self, known: Known) -> GramQuery:
        """Ask for the Gram matrix of the features and what the mean so far leaves."""
        residuals = known.residuals([fit.clip for fit in known.targets])
        return GramQuery(known.features, residuals, known.design.target_weight)

    def learn(self, known: Known, release: GramRelease) -> None:
        """Update the beliefs about every target."""
        for k, fit in enumerate(known.targets):
            fit.add(stage_of(release, k, fit.clip, fit.weights, fit.n, fit.outcome))

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return what is expected to be left unknown after one more stage."""
        return outlook.after_stage(self.share)

    @classmethod
    def why(cls, planned: Sequence[GramStage]) -> str:
        """Say how many stages there are, and what they cost relative to the first."""
        if len(planned) == 1:
            return "stages: one"
        split = " : ".join(f"{stage.share / planned[0].share:g}" for stage in planned)
        return f"{len(planned)} stages, {split}, each about what the ones before left unexplained"
