"""One target's part of a fit of many inputs: its records, its centre, its clip and its safeguards.

All numbers are in units of the target's scale about its centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpgp.inference.clipping import second_moment, slope
from dpgp.inference.many.belief import Evidence, WeightBelief, climb, condition
from dpgp.inference.many.dictionary import REFERENCE, Dictionary
from dpgp.inference.many.location import Location
from dpgp.inference.many.records import NormalEquations, Record, read_records
from dpgp.inference.many.residuals import residual_sd
from dpgp.inference.stage import LARGEST_RESIDUAL

Array = NDArray[np.float64]

FIRST_CLIP = 1.5
DOUBT = 0.2
"""Relative error of the synthetic B in moving a record to another centre."""

EXPLAINED = 0.8
"""Share of a move of the centre that is taken to explain residuals."""

NEARLY_ALL = 0.75
"""Mean clipped square from which on nearly all residuals were clipped."""


@dataclass(frozen=True)
class Centre:
    """The function that residuals are taken from: its weights, its values at the synthetic rows.

    Weights are about the dictionary's nearest function to the location, values about it itself.
    """

    weights: Array
    values: Array


@dataclass(frozen=True)
class Measured:
    """One target's part of a stage's release, divided by the number of rows."""

    cross: Array  # Σφ clip(r)/R / n
    square: float  # Σ(clip(r)/R)² / n
    noise: float  # sd of the noise on ``cross``
    square_noise: float
    share: float  # of all stages


@dataclass
class Target:
    """Beliefs about one target between stages."""

    location: Location
    n: float
    kappa: float
    centre: Centre
    belief: WeightBelief
    sds: Array = field(default_factory=REFERENCE.copy)
    records: list[Record] = field(default_factory=list)
    tau: float = 1.0
    forecast: float = 1.0
    doubt: float = DOUBT
    damping: float = 1.0
    has_failed: bool = False
    was_useless: bool = False
    best: tuple[float, Array, float] | None = None
    clip: float = 0.0

    def __post_init__(self) -> None:
        self.clip = first_clip(self.location, self.kappa)

    @property
    def widest(self) -> float:
        """Largest residual that the public bounds allow about the centre of the target."""
        return widest_residual(self.location)

    @property
    def gain(self) -> float:
        """Signal per unit of the released residual, g/R."""
        return float(slope(self.clip, max(self.tau, 0.3 * self.clip))) / self.clip

    @property
    def _slope(self) -> float:
        """Share of the signal that survives clipping."""
        return 1.0 if self.location.is_yes_no else float(slope(self.clip, self.tau))

    @property
    def _largest_residual(self) -> float:
        """Largest distance of 1 or −1 from the centre at the synthetic rows."""
        return min(LARGEST_RESIDUAL, 1.0 + float(np.abs(self.centre.values).max()))

    def take(self, measured: Measured, operator: Array, squares: Array) -> None:
        """Take a stage's release; ``squares`` are mean squares of its features."""
        self.tau = residual_sd(
            measured.square, measured.square_noise, self.clip, self.forecast, self.n
        )
        filled = measured.square > NEARLY_ALL and measured.square_noise < 0.15
        self.was_useless = filled and self.clip < self.widest
        if self.was_useless:
            self.clip = self.tau = self.forecast = min(2.0 * self.clip, self.widest)
            return
        scale = self.clip / self._slope
        sampling = np.clip(measured.square, 0.02, 1.0) * squares / (self.n * measured.share)
        variance = (measured.noise**2 + sampling) * scale**2
        record = Record(operator, measured.cross * scale, variance, self.centre.values)
        self.records.append(record)
        self._judge(measured)

    def _judge(self, measured: Measured) -> None:
        """Find out whether the last move of the centre made residuals larger."""
        if self.best is None:
            self.has_failed = False
        else:
            least = self.best[0]
            surprise = measured.square - second_moment(self.clip, 1.05 * least) / self.clip**2
            self.has_failed = self.tau > 1.1 * least and surprise > 1.5 * measured.square_noise
        if self.has_failed:
            self.doubt, self.damping = min(1.5 * self.doubt, 1.0), max(0.1, 0.5 * self.damping)
        else:
            self.best = (self.tau, self.centre.values, self.clip)

    def learn(self, dictionary: Dictionary) -> float:
        """Update weights and prior sds from all records; return the evidence."""
        if not self.records:
            return 0.0
        equations = self.read(dictionary, self.centre.values)
        self.sds, value = climb(Evidence(equations, dictionary), self.sds)
        self.belief = condition(equations, dictionary.prior(self.sds))
        return value

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
            self.clip = min(self.clip, self.kappa * float(np.sqrt(left)))
        self.forecast = float(np.sqrt(left))
        self.centre = self._between(dictionary, start, proposed, step)
        if self.location.is_yes_no:
            self.clip = self._largest_residual

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

    def base(self, dictionary: Dictionary) -> Array:
        """Return how far the dictionary's nearest function to the location is from it."""
        return np.asarray(self.location.centre / self.location.scale * dictionary.one_gap)

    def read(self, dictionary: Dictionary, centre: Array) -> NormalEquations:
        """Read all records in a dictionary, from a centre at the synthetic rows."""
        base = self.base(dictionary)
        return read_records(self.records, dictionary, base, centre, self.doubt)

    def copy(self) -> Target:
        """Return the same target, to learn in another dictionary."""
        return replace(self, records=list(self.records))


def widest_residual(location: Location) -> float:
    """Return the largest residual about the centre that the bounds allow, in scales."""
    return (1.0 + abs(location.centre)) / location.scale


def first_clip(location: Location, kappa: float) -> float:
    """Return where the first stage clips, in scales."""
    wanted = FIRST_CLIP if math.isfinite(kappa) else math.inf
    return min(wanted, widest_residual(location))
