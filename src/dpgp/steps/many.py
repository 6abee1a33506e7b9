"""What a fit of many inputs knows between its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.features.projected import KernelValues
from dpgp.features.residuals import Residuals
from dpgp.features.unit_line import UnitLine
from dpgp.inference.many.final import Final, final_of, guarded, unguarded
from dpgp.inference.many.marginals import Marginals
from dpgp.inference.many.plan import buys_input_model, clip_kappa, inducing_points
from dpgp.inference.many.stages import ManyInputsFit, NextStage
from dpgp.inference.many.synthetic import (
    CONSTANT_SHARE,
    ROWS,
    SMALLEST_SIZE,
    InputMoments,
    direction_moments,
    input_moments,
)
from dpgp.inference.many.target import first_clip
from dpgp.inference.posterior import Posterior
from dpgp.inference.stage import StageRelease
from dpgp.model.density import InputDensity
from dpgp.outcomes import NUMBER, Location, OutcomeKind
from dpgp.planning.file_room import DENSITY_POINTS, most_points
from dpgp.privacy.mechanism import GramRelease
from dpgp.steps.stage_release import stage_of
from dpgp.types import Array

LARGEST_LEVERAGE = 0.5
"""Beyond it the approximation says nothing."""


@dataclass
class ManyInputs:
    """The parts of an input model as they come, and the fit that rests on it.

    ``signal`` is nμ over the rows of a unit, ``inputs`` the number of inputs. ``marginals`` are
    those of the columns of numbers, ``levels`` the masses of the levels of every category.
    ``stages`` has the second moments that every stage released, without its features.
    """

    n: float
    signal: float
    inputs: int
    outcome: OutcomeKind = NUMBER
    locations: tuple[Location, ...] = ()
    marginals: Marginals | None = None
    levels: tuple[Array, ...] = ()
    pool: Array = field(default_factory=lambda: np.empty((0, 0)))
    synthetic: Array | None = None
    line: tuple[GramRelease, float] | None = None
    asked: NextStage | None = None
    stages: list[list[StageRelease]] = field(default_factory=list)

    @property
    def kappa(self) -> float:
        """Where stages clip, in residual sds."""
        return clip_kappa(self.signal)

    @property
    def is_in_the_dark(self) -> bool:
        """Whether nothing is known of how the inputs spread, and a line will hardly tell."""
        return self.marginals is None and not buys_input_model(self.signal, self.inputs)

    def line_features(self, coordinates: int) -> LinearFeatures | UnitLine:
        """Return constant and linear features of the inputs' coordinates."""
        if self.is_in_the_dark:
            return UnitLine(coordinates, CONSTANT_SHARE, SMALLEST_SIZE)
        return LinearFeatures(coordinates, CONSTANT_SHARE)

    def moments_of(self, release: GramRelease) -> InputMoments:
        """Return moments of the inputs from the Gram matrix of these features."""
        read = direction_moments if self.is_in_the_dark else input_moments
        return read(release.feature_gram, release.feature_std, self.n)

    def first_residuals(self, line: BoxFeatures) -> Residuals:
        """Return the targets about their centres, clipped, from constant and linear features."""
        weights = np.zeros((len(self.locations), line.dimension))
        weights[:, 0] = [place.centre / np.sqrt(CONSTANT_SHARE) for place in self.locations]
        clips = [place.scale * first_clip(place, self.kappa) for place in self.locations]
        return Residuals(line, weights, np.array(clips))

    @cached_property
    def fit(self) -> ManyInputsFit:
        """The fit on the synthetic inputs, with the line as its first record."""
        if self.line is None:
            raise ValueError("a fit of many inputs starts with a line.")
        rows = self.pool[:ROWS] if self.synthetic is None else self.synthetic
        room = most_points(rows.shape[1], len(self.locations))
        points = min(inducing_points(self.signal, rows.shape[1]), room)
        fit = ManyInputsFit(rows, self.locations, self.n, points, self.kappa)
        phi = self.line_features(rows.shape[1]).evaluate(rows).T
        release, weight = self.line
        self._note(release, fit)
        fit.take(release, phi, weight, renew=False)
        return fit

    def ask(self, noise: float, most: int) -> NextStage:
        """Return the features of the next stage."""
        self.asked = self.fit.ask(noise, most)
        return self.asked

    def take(self, release: GramRelease, weight: float, *, renew: bool) -> None:
        """Take the answer; ``weight`` is the stage's part of all of them."""
        if self.asked is None:
            raise ValueError("an answer needs a question.")
        self._note(release, self.fit)
        self.fit.take(release, self.asked.phi, weight, renew=renew)
        self.asked = None

    def residuals(self, inputs: UnitInputs, clips: Sequence[float]) -> Residuals:
        """Return what the present centres leave of the targets, to be clipped there."""
        fit = self.fit
        weights = [target.centre_in_bounds(fit.dictionary) for target in fit.targets]
        return self.residuals_from(inputs, weights, clips)

    @property
    def clips(self) -> list[float]:
        """Where the next stage clips, in units of the bounds."""
        return _clips(self.fit)

    @property
    def residual_sds(self) -> list[float]:
        """What is expected of the residuals' sds, in units of the bounds."""
        return [target.location.scale * target.forecast for target in self.fit.targets]

    def residuals_from(
        self, inputs: UnitInputs, weights: Sequence[Array], clips: Sequence[float]
    ) -> Residuals:
        """Return what functions of these weights in the dictionary leave of the targets."""
        values = KernelValues(self.fit.dictionary.features)
        on_values = np.array([values.weights(w) for w in weights])
        return Residuals(BoxFeatures(inputs, values), on_values, np.array(clips))

    @cached_property
    def finals(self) -> tuple[Final, ...]:
        """What the stages say in the end of every target."""
        return tuple(final_of(target, self.fit.dictionary) for target in self.fit.targets)

    @property
    def from_stages(self) -> tuple[Posterior, ...]:
        """The posterior of every target from the stages alone."""
        return tuple(final.posterior for final in self.finals)

    @property
    def optimism(self) -> tuple[float, ...]:
        """How many times as large residuals of new rows are as those of the fitted ones."""
        leverages = (min(final.degrees / self.n, LARGEST_LEVERAGE) for final in self.finals)
        return tuple(1.0 / (1.0 - leverage) for leverage in leverages)

    @cached_property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The posterior of every target, in doubt of what clipping did; a guard replaces it."""
        rows = zip(self.from_stages, self.fit.targets, self._last_clips, strict=True)
        return tuple(unguarded(*row, self.fit.dictionary) for row in rows)

    @property
    def _last_clips(self) -> list[float]:
        return [stage.clip for stage in self.stages[-1]]

    def guard(self, releases: Sequence[StageRelease]) -> None:
        """Correct the mean of every target by its guard's release."""
        rows = zip(self.from_stages, releases, self.fit.targets, self._last_clips, strict=True)
        self.posteriors = tuple(guarded(*row, self.fit.dictionary) for row in rows)

    def density(self, inputs: UnitInputs) -> InputDensity:
        """Return synthetic rows in the units of the inputs, each for equally many rows."""
        points = inputs.invert(self.fit.dictionary.synthetic[:DENSITY_POINTS])
        return InputDensity(points, np.full(len(points), self.n / len(points)))

    def releases(self) -> tuple[tuple[StageRelease, ...], ...]:
        """Return the second moments of all stages, target by target."""
        return tuple(zip(*self.stages, strict=True))

    def _note(self, release: GramRelease, fit: ManyInputsFit) -> None:
        none, clips = np.empty(0), _clips(fit)
        whole = [
            stage_of(release, k, clip, none, self.n, self.outcome) for k, clip in enumerate(clips)
        ]
        self.stages.append([replace(stage, A=none, B=np.empty((0, 0))) for stage in whole])


def _clips(fit: ManyInputsFit) -> list[float]:
    return [target.location.scale * target.clip for target in fit.targets]
