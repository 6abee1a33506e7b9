r"""What a fit measured of f, kept so that any later dictionary can read it, alone or with others'.

Every stage is a linear measurement :math:`H(f - f_0) = a + N(0, R)` of a function on places that
stand for the rows. Stages of few inputs share one dictionary and the error of one Gram matrix, so
they are one measurement (:mod:`dpgp.inference.few.evidence`); those of many inputs have features of
their own (:mod:`dpgp.inference.many.records`). All numbers are in units of the public bounds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dpgp.features.base import UnitFeatures, WhitenedMap
from dpgp.features.linear import LinearFeatures
from dpgp.inference.few.evidence import combine_corrected
from dpgp.inference.few.gram_estimate import (
    DensityEstimate,
    GramEstimate,
    density_behind,
    estimate_gram,
)
from dpgp.inference.guard import CONSTANT_SHARE, BiasPrior
from dpgp.inference.many.records import Record, StageOperator, stage_operator
from dpgp.inference.posterior import Moments
from dpgp.inference.stage import StageRelease
from dpgp.outcomes import Location
from dpgp.types import Array

RIDGE = 1e-8
"""Of the mean eigenvalue, where a function is written in the features that measured it."""


WHOLE_BOUNDS = Location(0.0, 1.0)
"""Where targets of few inputs lie: priors are in units of the bounds."""


class PlaceBelief(NamedTuple):
    """What is believed of f at the places of a fit: its mean, and how to compute its covariance."""

    mean: Array
    covariance: Callable[[], Array]


@dataclass(frozen=True)
class RecordedGuard:
    """Widely clipped residuals of f₀ about ``middle`` on constant and linear features.

    ``beyond`` is the root mean square of what its own clip may hide.
    """

    A: Array
    sigma_a: float
    middle: float
    centre: Array  # f₀ at the places
    beyond: float

    @classmethod
    def of(cls, release: StageRelease, beyond: float, values: Array) -> RecordedGuard:
        """Return a guard's release, with the features of its f₀ at the places."""
        return cls(release.A, release.sigma_a, release.middle, values @ release.w0, beyond)


@dataclass(frozen=True)
class Recorded(ABC):
    """What the stages of one fit measured of f; tuples have one entry a target."""

    places: Array  # that stand for the rows, in the cube of the inputs
    locations: tuple[Location, ...]  # where targets lie
    biases: tuple[BiasPrior, ...]  # what clipping may have done
    guards: tuple[RecordedGuard | None, ...]  # what was asked about it
    follows: tuple[Array | None, ...]  # what it is expected to have done at the places by the scale

    @property
    @abstractmethod
    def weights(self) -> Array:
        """How many rows each of the places stands for."""

    @abstractmethod
    def records(
        self,
        target: int,
        stages: Sequence[StageRelease],
        belief: PlaceBelief,
        noise: float,
        doubt: float,
    ) -> list[Record]:
        """Return a target's measurements, linearised where f is believed to be.

        ``noise`` is the sd of an observation, and ``doubt`` the relative error of where rows are.
        """


@dataclass(frozen=True)
class Corrections:
    """What clipping left of the signal of every stage, and the variance that it added."""

    slopes: Array
    distortions: Array


@dataclass(frozen=True)
class GridRecords(Recorded):
    """Stages over one fixed dictionary; ``places`` are atoms of the public cube."""

    features: WhitenedMap
    gram_stages: tuple[StageRelease, ...]
    corrections: tuple[Corrections, ...]
    rows_per_unit: int = 1

    @cached_property
    def _atoms(self) -> Array:
        return self.features.evaluate(self.places).T

    @cached_property
    def _gram(self) -> GramEstimate:
        return estimate_gram(self.gram_stages, self._atoms, self.places)

    @cached_property
    def _density(self) -> DensityEstimate:
        n = self.gram_stages[-1].n
        return density_behind(self._gram, self._atoms, self.places, n)

    @property
    def weights(self) -> Array:
        """The density of the inputs behind the Gram matrix."""
        return self._density.weights

    @cached_property
    def _nearest(self) -> Array:
        """T with w = T f: the weights of the function that is nearest at the places."""
        F = self._atoms
        gram = F.T @ F
        return np.asarray(
            np.linalg.solve(gram + RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram)), F.T)
        )

    def records(
        self,
        target: int,
        stages: Sequence[StageRelease],
        belief: PlaceBelief,
        noise: float,
        doubt: float,
    ) -> list[Record]:
        """Return all stages as one measurement, with the error of B that they share."""
        T, chosen = self._nearest, self.corrections[target]
        moments = Moments(T @ belief.mean, T @ belief.covariance() @ T.T, noise)
        found = combine_corrected(stages, chosen.slopes, chosen.distortions, self._gram, moments)
        B, of_density = self._gram.B, self._density.B
        seen = self._atoms.T * self.weights
        ridge = RIDGE * np.trace(of_density) / len(B) * np.eye(len(B))
        # Σφf = (B B_p⁻¹) Σ_g p_g φ_g f_g, where B is not quite that of the density
        H = seen + (B - of_density) @ np.linalg.solve(of_density + ridge, seen)
        sampling = self.rows_per_unit * noise**2 + found.distortion
        none = np.zeros(len(self.places))
        return [Record(found.U.T @ H, found.U.T @ found.a, 1.0 + sampling * found.Lambda, none)]


@dataclass(frozen=True)
class RecordedSums:
    """One target's part of a stage: its sums, what clipping left of them, and f₀ at the places."""

    A: Array
    slope: float
    square: float  # mean of (clip(r)/R)², as it was believed
    centre: Array


@dataclass(frozen=True)
class RecordedStage:
    """Features of a stage, its noisy Gram matrix of the leading ones, and sums a target.

    ``weight`` is its part of all stages that asked the same rows, a ``fraction`` of them all. A
    target whose residuals were nearly all clipped has no sums.
    """

    features: UnitFeatures
    B: Array
    weight: float
    fraction: float
    targets: tuple[RecordedSums | None, ...]


@dataclass(frozen=True)
class MetricRecords(Recorded):
    """Stages with features of their own; ``places`` are synthetic rows, all alike."""

    n: float
    stages: tuple[RecordedStage, ...]

    @property
    def weights(self) -> Array:
        """As many rows for each."""
        return np.full(len(self.places), self.n / len(self.places))

    def at(self, chosen: NDArray[np.int64]) -> MetricRecords:
        """Return the same measurements over other places: these of them, some several times."""
        stages = [
            replace(
                stage,
                targets=tuple(
                    None if told is None else replace(told, centre=told.centre[chosen])
                    for told in stage.targets
                ),
            )
            for stage in self.stages
        ]
        guards = [
            None if guard is None else replace(guard, centre=guard.centre[chosen])
            for guard in self.guards
        ]
        return replace(
            self,
            places=self.places[chosen],
            guards=tuple(guards),
            follows=tuple(None if each is None else each[chosen] for each in self.follows),
            stages=tuple(stages),
        )

    @cached_property
    def _operators(self) -> dict[int, StageOperator]:
        return {}

    def _operator(self, number: int, sigma_b: float) -> StageOperator:
        """Return what a stage saw of f; computed once."""
        if number not in self._operators:
            stage = self.stages[number]
            phi = stage.features.evaluate(self.places).T
            self._operators[number] = stage_operator(phi, stage.B, sigma_b, self.n)
        return self._operators[number]

    def records(
        self,
        target: int,
        stages: Sequence[StageRelease],
        belief: PlaceBelief,
        noise: float,
        doubt: float,
    ) -> list[Record]:
        """Return one measurement a stage, moved to the believed f at the price of ``doubt``."""
        found = []
        for number, (stage, release) in enumerate(zip(self.stages, stages, strict=True)):
            told = stage.targets[target]
            if told is None:
                continue
            operator, Q, squares = self._operator(number, release.sigma_b)
            size = (release.clip / told.slope) ** 2
            rows = self.n * stage.fraction * stage.weight
            sampling = told.square * squares / rows * size * stage.fraction**-2.0
            variance = (release.sigma_a / (self.n * told.slope)) ** 2 + sampling
            move = operator @ (belief.mean - told.centre)
            variance = variance + doubt**2 * float(np.mean(move**2))
            a = Q.T @ told.A / (self.n * told.slope)
            found.append(Record(operator, a, variance, told.centre))
        return found


def guard_record(guard: RecordedGuard, places: Array, weights: Array, noise: float) -> Record:
    """Return what a guard measured of f itself: no stage's clip is in it."""
    n = float(weights.sum())
    phi = LinearFeatures(places.shape[1], CONSTANT_SHARE).evaluate(places)
    H = phi * (weights / n)
    B = H @ phi.T
    cut = B[:, 0] * guard.beyond / math.sqrt(CONSTANT_SHARE)
    # S/n = H(f − f₀ − m) + N(0, σ²B/n + σ_a²/n² I) + what its own clip hides
    S = noise**2 / n * B + (guard.sigma_a / n) ** 2 * np.eye(len(B)) + np.outer(cut, cut)
    L = np.linalg.cholesky(S + RIDGE * np.trace(S) / len(S) * np.eye(len(S)))
    operator, a = (solve_triangular(L, each, lower=True) for each in (H, guard.A / n))
    return Record(operator, a, np.ones(len(B)), guard.centre + guard.middle)
