"""One target's part of a fit of many inputs: its records, its centre, its clip and its safeguards.

All numbers are in units of the target's scale about its centre.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dpgp.inference.clip_choice import ClipInterval, best_kappa, guard_interval
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.families import Family
from dpgp.inference.many.measured import Corrected, MeasuredSums
from dpgp.inference.many.records import (
    Evidence,
    NormalEquations,
    Record,
    StageOperator,
    WeightBelief,
    climb,
    condition,
    read_records,
)
from dpgp.inference.residual_law import ResidualLaw, gaussian_law
from dpgp.inference.stage import LARGEST_RESIDUAL
from dpgp.outcomes import Location
from dpgp.types import Array

FIRST_CLIP = 1.5  # sds of the target, whose law is not known yet; by hand
DOUBT = 0.2
"""Relative error of the synthetic B in moving a record to another centre; by hand. In a
prototype other values gained nothing clear."""

EXPLAINED = 0.8
"""Share of a move of the centre that is taken to explain residuals: some is noise. By hand."""

LEAST_PART = 0.25
"""Part of what is not explained of the target's variance that residuals keep before their law is
measured. By hand."""


@dataclass(frozen=True)
class Centre:
    """The function that residuals are taken from: its weights, its values at the synthetic rows.

    Weights are about the dictionary's nearest function to the location, values about it itself.
    """

    weights: Array
    values: Array


@dataclass
class Target:
    """Beliefs about one target between stages."""

    location: Location
    n: float
    kappa: float
    centre: Centre
    belief: WeightBelief
    theta: Array
    records: list[Record] = field(default_factory=list)
    equations: NormalEquations | None = None
    tau: float = 1.0
    forecast: float = 1.0
    doubt: float = DOUBT
    damping: float = 1.0
    has_failed: bool = False
    was_useless: bool = False
    best: tuple[float, Array, float] | None = None
    clip: float = 0.0
    law: ResidualLaw = field(default_factory=gaussian_law)
    unknown: float = 1.0
    measured: tuple[float, Array] = (1.0, np.zeros(1))
    corrected: Corrected | None = None
    earlier: Callable[[Dictionary], NormalEquations] | None = None

    def __post_init__(self) -> None:
        self.clip = self.clip or first_clip(self.location, self.kappa)

    @property
    def widest(self) -> float:
        """Largest residual about the centre of the target, in scales."""
        return self.location.reach / self.location.scale

    @property
    def gain(self) -> float:
        """Signal per unit of the released residual, g/R."""
        return self._slope(max(self.tau, 0.3 * self.clip)) / self.clip

    def _slope(self, tau: float) -> float:
        """Share of the signal that survives clipping of residuals of this sd."""
        return float(self.law.slope(self.clip, tau)) if self.location.is_clipped else 1.0

    @property
    def _largest_residual(self) -> float:
        """Largest distance of 1 or −1 from the centre at the synthetic rows, in scales."""
        scale = self.location.scale
        centre = float(np.abs(self.centre_at_synthetic).max())
        return min(LARGEST_RESIDUAL, 1.0 + centre) / scale

    def take(self, measured: MeasuredSums, seen: StageOperator) -> None:
        """Take a stage's release, and what the stage sees of f."""
        is_clipped = self.location.is_clipped
        self.tau = measured.residual_sd(self.clip, self.forecast, self.law if is_clipped else None)
        self.was_useless = measured.nearly_all_clipped and is_clipped and self.clip < self.widest
        if self.was_useless:
            self.clip = self.tau = self.forecast = min(2.0 * self.clip, self.widest)
            self.corrected = None
            return
        self.corrected = measured.corrected(self.clip, self.tau, self._slope(self.tau))
        record = measured.record(self.corrected, self.clip, seen, self.centre.values)
        self.records.append(record)
        self._judge(measured)

    def relocate(self, place: Location) -> None:
        """Say what one record measured about another location, in sds of the target about it.

        A move by a constant costs no doubt: E[φ] is what the record's own features tell.
        """
        old, ones = self.location, np.ones(len(self.centre.values))
        ratio, gap = old.scale / place.scale, (old.centre - place.centre) / place.scale
        self.records = [
            Record(
                record.operator,
                ratio * record.a + record.operator @ (ratio * record.centre + gap * ones),
                ratio**2 * record.variance,
                0.0 * ones,
                ratio**2 * record.sampling,
                record.fraction,
            )
            for record in self.records
        ]
        self.location, sd = place, place.sd_of_two / place.scale
        self.centre = Centre(np.zeros(len(self.centre.weights)), 0.0 * ones)
        self.tau = self.forecast = sd
        self.clip = self._largest_residual
        self.measured, self.best = (sd, self.centre.values), (sd, self.centre.values, self.clip)

    def _judge(self, measured: MeasuredSums) -> None:
        """Find out whether the last move of the centre made residuals larger."""
        if self.best is None:
            self.has_failed = False
        else:
            least = self.best[0]
            surprise = measured.square - self._expected_square(1.05 * least)
            self.has_failed = self.tau > 1.1 * least and surprise > 1.5 * measured.square_noise
        if self.has_failed:
            self.doubt, self.damping = min(1.5 * self.doubt, 1.0), max(0.1, 0.5 * self.damping)
        else:
            self.best = (self.tau, self.centre.values, self.clip)

    def _expected_square(self, tau: float) -> float:
        return float(self.law.second_moment(self.clip, tau)) / self.clip**2

    def learn_law(self, law: ResidualLaw, mu: float) -> None:
        """Take the law of the residuals, and clip where it is best from now on.

        As if d directions were learned whose noise at a clip of one sd is what is still unknown of
        f, 2d/(gnμ) = sqrt(E[(f − m)²])/τ.
        """
        self.forecast *= math.exp(law.log_sd)
        self.measured, self.best, self.has_failed = (self.forecast, self.centre.values), None, False
        known_as_well = math.sqrt(self.unknown) / self.forecast
        directions = known_as_well * float(law.slope(1.0, 1.0)) * self.n * mu / 2
        self.law, self.kappa = law, best_kappa(law, self.n, mu, directions)
        if self.location.is_clipped:
            self.clip = min(self.kappa * self.forecast, self.widest)

    def guard_interval(self, mu: float) -> ClipInterval:
        """Return where a guard of the mean clips, in units of the bounds."""
        sd = self.location.scale * self.forecast
        return guard_interval(self.law, sd, self.n, mu, self.widest_interval)

    @property
    def widest_interval(self) -> ClipInterval:
        """1 + max f₀ and 1 − min f₀ at the synthetic rows, in units of the bounds."""
        values = self.centre_at_synthetic
        return ClipInterval(1.0 + float(values.max()), 1.0 - float(values.min()))

    def learn(self, dictionary: Dictionary) -> float:
        """Update weights and hyperparameters from all records; return the evidence."""
        value = self.weigh(dictionary)
        self.believe(dictionary)
        return value

    def start(self, dictionary: Dictionary, noise: float) -> None:
        """Take residuals from what earlier releases say, of observations with noise of this sd."""
        self.learn(dictionary)
        values = self.base(dictionary) + dictionary.at_synthetic(self.belief.mean)
        self.centre = Centre(self.belief.mean, values)
        self.unknown = self._spread(dictionary)
        self.tau = self.forecast = math.hypot(noise, math.sqrt(self.unknown))
        self.measured = (self.forecast, values)
        self.clip = (
            min(self.kappa * self.forecast, self.widest)
            if self.location.is_clipped
            else self._largest_residual
        )

    def weigh(self, dictionary: Dictionary) -> float:
        """Read all records, and choose hyperparameters by their evidence; return it."""
        if not self.records and self.earlier is None:
            return 0.0
        self.equations = self.read(dictionary, self.centre.values)
        evidence = Evidence(self.equations, dictionary, self.location.scale)
        for _ in range(dictionary.family.sweeps):
            self.theta, value = climb(evidence, dictionary.family, self.theta)
        return value

    def forget_if_moved(self, dictionary: Dictionary) -> None:
        """Drop what earlier releases say where the new records are likelier without it.

        p(new | earlier) = p(both)/p(earlier) against p(new), where nothing is known.
        """
        if self.earlier is None or not self.records:
            return
        told, new = self.earlier(dictionary), self._read_own(dictionary, self.centre.values)
        of_both, of_told, of_new = (
            Evidence(each, dictionary, self.location.scale)(self.theta)
            for each in (told.with_more(new), told, new)
        )
        if of_new > of_both - of_told:
            self.earlier = None

    def believe(self, dictionary: Dictionary) -> None:
        """Update the weights by the records as they were read last."""
        if self.equations is not None:
            prior = dictionary.priors.at(self.theta, self.location.scale)
            self.belief = condition(self.equations, prior)

    def move(self, dictionary: Dictionary) -> None:
        """Move the centre towards the posterior mean, as far as is safe, and choose the clip."""
        if self.was_useless:
            self.centre = self._between(dictionary, self.centre.values, self.centre.values, 0.0)
            return
        proposed = self.base(dictionary) + dictionary.at_synthetic(self.belief.mean)
        start = self.centre.values
        moved = float(np.mean((proposed - start) ** 2))
        if self.has_failed and self.best is not None:
            least, start, clip = self.best
            step, self.clip = self.damping, min(1.3 * clip, self.widest)
            left = least**2
        else:
            step = min(1.0, np.sqrt(EXPLAINED * self.tau**2 / max(moved, 1e-12)), self.damping)
            self.damping = min(1.0, 1.5 * self.damping)
            left = max(self.tau**2 - EXPLAINED * step**2 * moved, 0.25 * self.tau**2)
        self.centre = self._between(dictionary, start, proposed, step)
        self.forecast = max(math.sqrt(left), self.least_sd)
        if not self.location.is_clipped:
            self.clip = self._largest_residual
        elif not self.has_failed:
            self.clip = min(self.clip, self.kappa * self.forecast)
        self.unknown = self._spread(dictionary)

    def _spread(self, dictionary: Dictionary) -> float:
        """E[(f − m)²] over the synthetic rows."""
        root, C = self.belief.root, dictionary.second_moments
        return float(np.sum((root @ C) * root))

    @property
    def least_sd(self) -> float:
        """Sd that residuals of a law which is no bell still have, by what was explained since.

        Clipping makes far values look small, so only of a bell a smaller one is believed. At first
        all that is known is the sd of the target, one.
        """
        sd, values = self.measured
        explained = float(np.mean((self.centre.values - values) ** 2))
        part = LEAST_PART if math.isinf(self.law.log_sd_error) else self.law.suspicion
        return math.sqrt(part * max(sd**2 - explained, 0.0))

    def _between(self, dictionary: Dictionary, start: Array, end: Array, step: float) -> Centre:
        """Return the function part of the way, in the present dictionary."""
        if step >= 1.0:
            return Centre(self.belief.mean, end)
        base = self.base(dictionary)
        weights = dictionary.nearest(start + step * (end - start) - base)
        return Centre(weights, base + dictionary.at_synthetic(weights))

    def centre_in_bounds(self, dictionary: Dictionary) -> Array:
        """Return the weights of the centre in units of the public bounds."""
        place = self.location
        return np.asarray(place.centre * dictionary.one + place.scale * self.centre.weights)

    def shift_centre(self, weights: Array, dictionary: Dictionary) -> None:
        """Move the centre by a function, given in units of the public bounds."""
        shift, old = weights / self.location.scale, self.centre
        self.centre = Centre(old.weights + shift, old.values + dictionary.at_synthetic(shift))

    @property
    def centre_at_synthetic(self) -> Array:
        """The centre at the synthetic rows, in units of the public bounds."""
        return np.asarray(self.location.centre + self.location.scale * self.centre.values)

    def base(self, dictionary: Dictionary) -> Array:
        """Return how far the dictionary's nearest function to the location is from it."""
        return np.asarray(self.location.centre / self.location.scale * dictionary.one_gap)

    def read(self, dictionary: Dictionary, centre: Array) -> NormalEquations:
        """Read all records in a dictionary, from a centre at the synthetic rows."""
        if self.earlier is None:
            return self._read_own(dictionary, centre)
        told = self.earlier(dictionary)
        return told.with_more(self._read_own(dictionary, centre)) if self.records else told

    def _read_own(self, dictionary: Dictionary, centre: Array) -> NormalEquations:
        base = self.base(dictionary)
        return read_records(self.records, dictionary, base, centre, self.doubt)

    def starting_in(self, family: Family) -> Target:
        """Return the same target, to learn in another family."""
        return replace(self, records=list(self.records), theta=family.carried(self.theta))


def first_clip(location: Location, kappa: float) -> float:
    """Return where the first stage clips, in scales."""
    widest = location.reach / location.scale
    return min(FIRST_CLIP * kappa, widest) if location.is_clipped else widest
