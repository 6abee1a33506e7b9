"""A fit of few inputs: the whole of a fixed dictionary at every stage."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpgp.features.inputs import BoxFeatures, Residuals
from dpgp.inference.clip_choice import ClipInterval
from dpgp.inference.few.gram_estimate import DoubtedEstimate, density_estimate
from dpgp.inference.few.target import TargetFit
from dpgp.inference.frame import InputModel
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Posterior
from dpgp.inference.residual_law import ResidualLaw
from dpgp.inference.stage import StageRelease
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.privacy.mechanism import GramRelease

EXACT_DENSITY = 1e-3
"""Noise, as a share of the rows, that an exact Gram matrix is read with to find a density."""


class FixedFit:
    """Takes releases one by one, and says what to release next; never sees a row.

    ``features`` are those of raw inputs, and ``targets`` the fit of every target on them.
    """

    def __init__(self, features: BoxFeatures, targets: Sequence[TargetFit]) -> None:
        self.features = features
        self.targets = tuple(targets)

    def ask(self, noise_std: float) -> BoxFeatures:
        """Return all features, the same for every stage."""
        return self.features

    def take(self, release: GramRelease, share: float, *, renew: bool) -> None:
        """Update the beliefs about every target."""
        for k, fit in enumerate(self.targets):
            fit.add(StageRelease.of(release, k, fit.clip, fit.weights, fit.n, fit.outcome))

    @property
    def centres(self) -> list[Array]:
        """The means of the weights so far, 0 before the first stage."""
        return [fit.weights for fit in self.targets]

    @property
    def clips(self) -> list[float]:
        """Where the next stage clips residuals."""
        return [fit.clip for fit in self.targets]

    @property
    def residual_sds(self) -> list[float]:
        """Standard deviations of what the present means leave of the targets."""
        return [fit.residual_sd for fit in self.targets]

    def residuals(self, weights: Sequence[Array], clips: Sequence[float]) -> Residuals:
        """Return what functions leave of the targets, to be clipped there."""
        return Residuals(self.features, np.array(weights), np.array(clips))

    def learn_laws(self, laws: Sequence[ResidualLaw], mu: float) -> None:
        """Take the law of the residuals of every target."""
        for fit, law in zip(self.targets, laws, strict=True):
            fit.learn_law(law, mu)

    @property
    def means(self) -> list[Array]:
        """What all stages together believe of f."""
        return self.centres

    def guard_intervals(self, mu: float) -> list[ClipInterval]:
        """Return where a guard of the mean clips."""
        return [fit.guard_interval(mu) for fit in self.targets]

    def guard(self, releases: Sequence[StageRelease]) -> None:
        """Correct the mean of every target by its guard's release."""
        for fit, release in zip(self.targets, releases, strict=True):
            fit.guard(release)

    def follow_scales(self, scales: Sequence[LocalScale]) -> None:
        """Leave all as it is: along one or two inputs the guard tells what clipping did."""

    @property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The posterior of every target, from the stages and the guard so far."""
        return tuple(fit.posterior() for fit in self.targets)

    @property
    def optimism(self) -> tuple[float, ...]:
        """One: few fixed features change residuals little."""
        return (1.0,) * len(self.targets)

    @cached_property
    def input_model(self) -> InputModel:
        """The density of the inputs behind the estimate of B."""
        state, model = self.targets[0].fitted
        n, gram = self.targets[0].n, state.gram
        found = (
            gram.density
            if isinstance(gram, DoubtedEstimate)
            else density_estimate(gram.B, EXACT_DENSITY * n, model.atoms, model.positions, n)
        )
        return InputModel(model.positions, found.weights, found.weights_covariance)

    @property
    def releases(self) -> tuple[tuple[StageRelease, ...], ...]:
        """What stages released, target by target."""
        return tuple(tuple(fit.stages) for fit in self.targets)
