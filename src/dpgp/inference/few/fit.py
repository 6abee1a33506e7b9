"""A fit of few inputs: the whole of a fixed dictionary at every stage."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpgp.features.inputs import BoxFeatures, Residuals
from dpgp.inference.clip_choice import ClipInterval
from dpgp.inference.clipped_squares import ClippedSquare
from dpgp.inference.few.gram_estimate import density_behind
from dpgp.inference.few.target import TargetFit
from dpgp.inference.frame import InputModel
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.posterior import Posterior
from dpgp.inference.recorded import WHOLE_BOUNDS, Corrections, GridRecords, RecordedGuard
from dpgp.inference.residual_law import ResidualLaw
from dpgp.inference.stage import StageRelease
from dpgp.outcomes import OutcomeKind
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.privacy.mechanism import GramRelease


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
        asked = zip(self.targets, self.clips, self.centres, strict=True)
        for k, (fit, clip, centre) in enumerate(list(asked)):
            fit.add(StageRelease.of(release, k, clip, centre, fit.n, fit.outcome))

    @property
    def centres(self) -> list[Array]:
        """The means of the weights so far, 0 before the first stage; of classes they add up."""
        weights = [fit.weights for fit in self.targets]
        return list(weights - np.mean(weights, axis=0)) if self._outcome.is_joint else weights

    @property
    def clips(self) -> list[float]:
        """Where the next stage clips residuals, one by one or their norm."""
        if self._outcome.is_joint:
            values = np.array(self.centres) @ self.targets[0].models[0].atoms.T
            return [self._outcome.joint_clip(values)] * len(self.targets)
        return [fit.clip for fit in self.targets]

    @property
    def _outcome(self) -> OutcomeKind:
        return self.targets[0].outcome

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
    def squares(self) -> list[list[ClippedSquare]]:
        """The clipped squares of the last stage and of the guard."""
        atoms = self.targets[0].fitted[1].atoms
        told = [[fit.stages[-1], fit.guard_release] for fit in self.targets]
        return [[ClippedSquare(one, atoms @ one.w0) for one in each if one] for each in told]

    @property
    def optimism(self) -> tuple[float, ...]:
        """One: few fixed features change residuals little."""
        return (1.0,) * len(self.targets)

    @cached_property
    def input_model(self) -> InputModel:
        """The density of the inputs behind the estimate of B."""
        state, model = self.targets[0].fitted
        found = density_behind(state.gram, model.atoms, model.positions, self.targets[0].n)
        return InputModel(model.positions, found.weights, found.weights_covariance)

    @property
    def recorded(self) -> GridRecords:
        """What was measured, for whoever reads it again."""
        model = self.targets[0].fitted[1]
        return GridRecords(
            places=model.positions,
            locations=(WHOLE_BOUNDS,) * len(self.targets),
            biases=tuple(fit.bias for fit in self.targets),
            guards=tuple(_guard(fit, model.atoms) for fit in self.targets),
            follows=(None,) * len(self.targets),  # the guard tells what clipping did
            features=model.features,
            gram_stages=tuple(self.targets[0].stages),
            corrections=tuple(Corrections(*fit.corrections) for fit in self.targets),
            rows_per_unit=self.targets[0].rows_per_unit,
        )

    @property
    def releases(self) -> tuple[tuple[StageRelease, ...], ...]:
        """What stages released, target by target."""
        return tuple(tuple(fit.stages) for fit in self.targets)


def _guard(fit: TargetFit, atoms: Array) -> RecordedGuard | None:
    found = fit.recorded_guard
    return None if found is None else RecordedGuard.of(*found, atoms)
