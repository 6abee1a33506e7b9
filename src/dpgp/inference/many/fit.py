"""A fit of many inputs: what is least known at every stage, in a metric that is learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpgp.features.base import UnitFeatures
from dpgp.features.inducing import DictionaryValues, ProjectedFeatures
from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.inference.clip_choice import ClipInterval
from dpgp.inference.clipped_squares import ClippedSquare
from dpgp.inference.earlier import Earlier
from dpgp.inference.frame import InputModel
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.directions import gradient_metric, water_filled
from dpgp.inference.many.final import (
    Final,
    bias_of,
    final_of,
    following_scale,
    guarded,
    hidden_beyond,
    moved_by_scale,
    unguarded,
    unguarded_bias,
)
from dpgp.inference.many.measured import MeasuredSums
from dpgp.inference.many.plan import MOST_FEATURES
from dpgp.inference.many.records import WeightBelief, common_root, lower_root, stage_operator
from dpgp.inference.many.target import Centre, Target
from dpgp.inference.posterior import Posterior
from dpgp.inference.recorded import MetricRecords, RecordedGuard, RecordedStage, RecordedSums
from dpgp.inference.residual_law import ResidualLaw
from dpgp.inference.stage import StageRelease
from dpgp.outcomes import NUMBER, Location, OutcomeKind
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.privacy.mechanism import GramRelease

SMALLEST_NORM = 0.3
"""Features of a row are divided by their norm, or by this where it is smaller. By hand: all of the
norm is used, and no row is blown up that the features hardly see."""

LEAST_NOISE = 1e-4
"""Relative noise below which directions are as good as known: keeps a fit without noise stable."""

LARGEST_LEVERAGE = 0.5
"""Beyond it 1 − d/n is no approximation: residuals are at most twice as large for new rows."""


class Growth(NamedTuple):
    """After how many records a dictionary gets which inducing points: early ones need fewer."""

    records: int
    points: Array


class MetricFit:
    """Takes releases one by one, and says what to release next; never sees a row."""

    def __init__(
        self,
        inputs: UnitInputs,
        dictionary: Dictionary,
        locations: Sequence[Location],
        n: float,
        kappa: float,
        outcome: OutcomeKind = NUMBER,
        growth: Growth | None = None,
        of_parts: int = 0,
    ) -> None:
        self.inputs, self.dictionary, self._growth = inputs, dictionary, growth
        self._of_parts = of_parts  # records, before all rows are asked
        self.n, self.outcome = n, outcome
        d, theta = dictionary.features.dimension, dictionary.family.start
        nothing = Centre(np.zeros(d), np.zeros(len(dictionary.synthetic)))
        self.targets = []
        for place in locations:
            root = lower_root(dictionary.priors.at(theta, place.scale)).T
            prior = WeightBelief(np.zeros(d), np.asarray(root))
            self.targets.append(Target(place, n, kappa, nothing, prior, theta))
        self._asked: ProjectedFeatures | None = None
        self._stages: list[list[StageRelease]] = []
        self._recorded: list[RecordedStage] = []
        self._guards: tuple[StageRelease, ...] = ()
        self._scales: tuple[LocalScale, ...] = ()
        self._rows = n

    def start_from(self, earlier: Earlier) -> None:
        """Believe what earlier releases told, and take residuals from there."""
        self._rows = self.n + earlier.rows
        for k, target in enumerate(self.targets):
            target.earlier = partial(earlier.equations, k, location=target.location)
            target.start(self.dictionary, earlier.noises[k] / target.location.scale)
        if self.outcome.is_joint:
            self._add_up()

    def ask(self, noise_std: float) -> BoxFeatures:
        """Return the directions of f in which most is unknown."""
        root = common_root([target.belief.root * target.gain for target in self.targets])
        variance = max(noise_std / self.n, LEAST_NOISE) ** 2
        P = water_filled(root, self.dictionary.second_moments, variance, MOST_FEATURES)
        self._asked = ProjectedFeatures(self.dictionary.features, P, SMALLEST_NORM)
        return BoxFeatures(self.inputs, self._asked)

    def take(self, release: GramRelease, share: float, *, renew: bool) -> None:
        """Take the answer to what was asked."""
        if self._asked is None:
            raise ValueError("an answer needs a question.")
        values = self.dictionary.values @ self._asked.P
        norms = np.maximum(np.linalg.norm(values, axis=1), SMALLEST_NORM)
        asked, self._asked = self._asked, None
        self.take_stage(release, asked, values / norms[:, None], share, renew=renew)

    def take_stage(
        self,
        release: GramRelease,
        features: UnitFeatures,
        phi: Array,
        share: float,
        *,
        renew: bool,
        places: Sequence[Location] = (),
    ) -> None:
        """Take a stage whose ``features`` at the synthetic rows are the rows of ``phi``.

        Where it told better ``places`` of the targets all is said about these from now on.
        """
        self._note(release)
        seen = stage_operator(phi, release.feature_gram, release.feature_std, self.n)
        clips = self.clips
        for k, target in enumerate(self.targets):
            target.take(MeasuredSums.of(release, k, self.n, share, seen.Q), seen)
        sums = [
            _sums(target, release.cross[:, k] * clip)
            for k, (target, clip) in enumerate(zip(self.targets, clips, strict=True))
        ]
        stage = RecordedStage(features, release.feature_gram, share, release.fraction, tuple(sums))
        self._recorded.append(stage)
        for target, place in zip(self.targets, places, strict=False):  # none, or one for each
            target.relocate(place)
        for target in self.targets:
            target.forget_if_moved(self.dictionary)
        if len(self._stages) == self._of_parts:
            self._ask_all_rows()
        value = sum(target.learn(self.dictionary) for target in self.targets)
        if self._growth is not None and len(self._stages) == self._growth.records:
            self._grow(self._growth.points)
        elif renew:
            self._renew(value)
        for target in self.targets:
            target.move(self.dictionary)
        if self.outcome.is_joint:
            self._add_up()

    def _add_up(self) -> None:
        """Let centres add up to nothing, and clip where no row's residuals together reach."""
        excess = np.mean(self.centres, axis=0)
        for target in self.targets:
            target.shift_centre(-excess, self.dictionary)
        centres = np.array([target.centre_at_synthetic for target in self.targets])
        clip = self.outcome.joint_clip(centres)
        for target in self.targets:
            target.clip = clip / target.location.scale

    def _note(self, release: GramRelease) -> None:
        """Keep the second moments of a stage, without its features."""
        none = np.empty(0)
        whole = [
            StageRelease.of(release, k, clip, none, self.n, self.outcome)
            for k, clip in enumerate(self.clips)
        ]
        self._stages.append([replace(stage, A=none, B=np.empty((0, 0))) for stage in whole])

    def _renew(self, value: float) -> None:
        """Read all records in other metrics, and keep the one that raises the evidence most."""
        families = self.dictionary.family.renewed(self._metric)
        self._choose([replace(self.dictionary, family=family) for family in families], value)

    def _ask_all_rows(self) -> None:
        """Let the rows of parts count once: from here on all rows are asked, theirs again."""
        for target in self.targets:
            target.records = [record.asked_again for record in target.records]

    def _grow(self, points: Array) -> None:
        """Read all records with other inducing points, in the present metric or another."""
        grown = replace(self.dictionary, points=points)
        families = (grown.family, *grown.family.renewed(self._metric))
        self._choose([replace(grown, family=family) for family in families], -math.inf)

    def _settle(self) -> None:
        """Choose one of several kernels by its evidence; features stay as they are."""
        families, features = self.dictionary.family.members, self.dictionary.features
        read = [replace(self.dictionary, family=family, own=features) for family in families]
        self._choose(read, -math.inf)

    def _choose(self, dictionaries: Sequence[Dictionary], value: float) -> None:
        """Read all records in each dictionary, and take the one of the largest evidence."""
        if not dictionaries:
            return
        with ThreadPoolExecutor(len(dictionaries)) as pool:
            readings = list(pool.map(self._read_in, dictionaries))
        evidence, dictionary, targets = max(readings, key=itemgetter(0))
        if evidence > value:
            self.dictionary, self.targets = dictionary, targets
            for target in targets:
                target.believe(dictionary)

    def _metric(self, rough: Any) -> Array:
        """Return the average over targets of the metric in which f, less a part, is smooth."""
        beliefs = [target.belief for target in self.targets]
        sums = sum(gradient_metric(self.dictionary, belief, rough) for belief in beliefs)
        return np.asarray(sums) / len(self.targets)

    def _read_in(self, dictionary: Dictionary) -> tuple[float, Dictionary, list[Target]]:
        """Return what all records say in another dictionary, with its evidence."""
        targets = [target.starting_in(dictionary.family) for target in self.targets]
        evidence = sum(target.weigh(dictionary) for target in targets)
        return evidence, dictionary, targets

    @property
    def centres(self) -> list[Array]:
        """The functions that residuals are taken from."""
        return [target.centre_in_bounds(self.dictionary) for target in self.targets]

    @property
    def clips(self) -> list[float]:
        """Where the next stage clips, in units of the bounds."""
        return [target.location.scale * target.clip for target in self.targets]

    @property
    def residual_sds(self) -> list[float]:
        """What is expected of the residuals' sds, in units of the bounds."""
        return [target.location.scale * target.forecast for target in self.targets]

    def residuals(self, weights: Sequence[Array], clips: Sequence[float]) -> Residuals:
        """Return what functions leave of the targets, from kernel values at each row."""
        values = DictionaryValues(self.dictionary.features)
        on_values = np.array([values.weights(w) for w in weights])
        return Residuals(BoxFeatures(self.inputs, values), on_values, np.array(clips))

    def learn_laws(self, laws: Sequence[ResidualLaw], mu: float) -> None:
        """Take the law of the residuals of every target."""
        for target, law in zip(self.targets, laws, strict=True):
            target.learn_law(law, mu)

    @cached_property
    def _finals(self) -> tuple[Final, ...]:
        """What the stages say in the end of every target."""
        self._settle()
        return tuple(final_of(target, self.dictionary) for target in self.targets)

    @property
    def means(self) -> list[Array]:
        """What all stages together believe of f."""
        return [final.posterior.moments.w for final in self._finals]

    def guard_intervals(self, mu: float) -> list[ClipInterval]:
        """Return where a guard of the mean clips."""
        return [target.guard_interval(mu) for target in self.targets]

    def guard(self, releases: Sequence[StageRelease]) -> None:
        """Correct the mean of every target by its guard's release."""
        self._guards = tuple(releases)
        self.__dict__.pop("posteriors", None)

    def follow_scales(self, scales: Sequence[LocalScale]) -> None:
        """Correct the mean of every target by what its local scale says of clipping."""
        self._scales = tuple(scales)
        self.__dict__.pop("posteriors", None)

    @cached_property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The posterior of every target, with what is known by now of what clipping did."""
        return tuple(self._corrected(k) for k in range(len(self.targets)))

    def _corrected(self, k: int) -> Posterior:
        posterior = self._finals[k].posterior
        about = (self.targets[k], self._stages[-1][k].clip, self.dictionary)
        posterior = following_scale(posterior, self._moved(k))
        if self._guards:
            return guarded(posterior, self._guards[k], *about)
        return unguarded(posterior, *about)

    def _moved(self, k: int) -> Array | None:
        """Return what the local scale, where it is known, says that clipping did."""
        if not self._scales:
            return None
        target, clip = self.targets[k], self._stages[-1][k].clip
        final = self._finals[k].posterior
        return moved_by_scale(final, target, clip, self.dictionary, self._scales[k])

    @property
    def squares(self) -> list[list[ClippedSquare]]:
        """Clipped squares of the last stage, unless nearly all was clipped, and of the guard."""
        told, values = self._recorded[-1].targets, self.dictionary.values
        found = [
            [] if sums is None else [ClippedSquare(stage, sums.centre)]
            for sums, stage in zip(told, self._stages[-1], strict=True)
        ]
        for squares, guard in zip(found, self._guards, strict=False):  # none, or one for each
            squares.append(ClippedSquare(guard, values @ guard.w0))
        return found

    @property
    def optimism(self) -> tuple[float, ...]:
        """How many times as large residuals of new rows are as those of the fitted ones."""
        leverages = (min(final.degrees / self._rows, LARGEST_LEVERAGE) for final in self._finals)
        return tuple(1.0 / (1.0 - leverage) for leverage in leverages)

    @property
    def input_model(self) -> InputModel:
        """Synthetic rows, each for equally many."""
        rows = self.dictionary.synthetic
        return InputModel(rows, np.full(len(rows), self.n / len(rows)))

    @property
    def recorded(self) -> MetricRecords:
        """What was measured, for whoever reads it again."""
        rows = zip(self._finals, self.targets, self._stages[-1], strict=True)
        values, bias = self.dictionary.values, bias_of if self._guards else unguarded_bias
        guards = [
            RecordedGuard.of(guard, hidden_beyond(guard, final.posterior, target), values)
            for guard, final, target in zip(self._guards, self._finals, self.targets, strict=False)
        ]
        moved = [self._moved(k) for k in range(len(self.targets))]
        return MetricRecords(
            places=self.dictionary.synthetic,
            n=self.n,
            locations=tuple(target.location for target in self.targets),
            stages=tuple(self._recorded),
            biases=tuple(bias(final.posterior, target, last.clip) for final, target, last in rows),
            guards=tuple(guards) or (None,) * len(self.targets),
            follows=tuple(None if w is None else values @ w for w in moved),
        )

    @property
    def releases(self) -> tuple[tuple[StageRelease, ...], ...]:
        """The second moments of all stages, target by target."""
        return tuple(zip(*self._stages, strict=True))


def _sums(target: Target, A: Array) -> RecordedSums | None:
    """Return what a stage has just told of a target; None where nearly all was clipped."""
    if target.corrected is None:
        return None
    return RecordedSums(A, *target.corrected, target.centre_at_synthetic)
