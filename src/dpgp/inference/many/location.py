"""Centre and scale of a target from one noisy histogram over its public bounds.

Few counts stand out of much noise, and moments of those that do have lost their tails. So masses
are averaged over plausible laws, weighted by the counts: bells, skewed and even laws of any centre
and width; two values at the bounds; a spike anywhere with the rest spread over the bounds; a spike
at a bound with a tail, as costs have. What none of them explains is added where it stands out of
the noise. The estimator of other laws, :mod:`dpgp.inference.noisy_law`, which bends candidates and
weighs them exactly, is no better here and takes up to 200 times as long: docs/results/laws.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpgp.outcomes import Location
from dpgp.types import Array

CLEARLY, SURELY = 0.5, 1.5
"""Noise sds beyond the largest of as many noises as bins from which on a count is no noise, and
from which on it is a third value. By hand: a third value undoes a finding, so it shall be sure."""

SURE = 0.9
"""Probability from which on a target is taken to have two values; by hand."""

CENTRE_SD, SCALE, LOG_SD_OF_SCALE = 0.4, 0.25, 0.6
"""Prior of mean and sd of the laws that have any centre and width, in half-widths of the bounds:
bounds are some four sds away, to a factor of 1.8. By hand."""

# Grids of laws, equally likely; by hand: closer ones are the same to noisy counts
SHARES_OF_YES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)  # of the upper of two values
RESTS = (0.0, 0.02, 0.05, 0.1, 0.2)  # shares of the values beside a spike
SHARES_OF_COSTS = (0.2, 0.4, 0.6, 0.8)  # of those that are not 0
MEAN_COSTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)  # of these, in half-widths: bounds may be far
MEANS, SDS = np.linspace(-0.9875, 0.9875, 159), np.geomspace(0.01, 0.6, 25)
"""Of laws that have any centre and width: down to what half of the narrowest bin hides."""

# Prior probabilities of the kinds, by hand: even odds of a bell
PRIOR_OF_SHAPES = {"bell": 0.5, "up": 0.15, "down": 0.15, "even": 0.1}
PRIOR_OF_TWO_VALUES, PRIOR_OF_SPIKE, PRIOR_OF_COSTS = 0.05, 0.025, 0.025  # the rest


def locate(counts: Array, noise_std: float, n: float) -> Location:
    """Return mean and sd of the target; no scale is believed to be below half a bin."""
    bins, p = len(counts), _probabilities(counts, noise_std, n)
    expected = n * p @ plausible_targets(bins).masses
    gaps, largest_noise = counts - expected, np.sqrt(2.0 * np.log(bins))
    stands_out = np.abs(gaps) > (largest_noise + CLEARLY) * noise_std
    masses = np.maximum(expected + np.where(stands_out, gaps, 0.0), 0.0)
    edges = np.linspace(-1.0, 1.0, bins + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    centre = float(masses @ middles / masses.sum())
    variance = float(masses @ (middles - centre) ** 2 / masses.sum())
    centres = plausible_targets(bins).masses @ middles
    doubt = float(p @ (centres - p @ centres) ** 2)  # of the centre: it is no part of the sd
    scale = math.sqrt(max(variance - doubt, 0.0))
    has_third = bool(np.any(gaps[1:-1] > (largest_noise + SURELY) * noise_std))
    is_pair = p[plausible_targets(bins).has_two_values].sum() > SURE and not has_third
    return Location(centre, max(scale, 1.0 / bins), has_two_values=bool(is_pair))


def _probabilities(counts: Array, noise_std: float, n: float) -> Array:
    """Return the posterior probabilities of plausible laws."""
    laws = plausible_targets(len(counts))
    variance = noise_std**2 + n * laws.masses * (1.0 - laws.masses) + 1.0
    misfit = (counts - n * laws.masses) ** 2 / variance + np.log(variance)
    log_p = laws.log_priors - 0.5 * misfit.sum(axis=1)
    p = np.exp(log_p - log_p.max())
    return np.asarray(p / p.sum())


@dataclass(frozen=True)
class PlausibleTargets:
    """Masses of the bins, a row a law; log priors; and which laws have two values."""

    masses: Array
    log_priors: Array
    has_two_values: NDArray[np.bool_]


@lru_cache(maxsize=4)
def plausible_targets(bins: int) -> PlausibleTargets:
    """Return the laws for equal bins of [−1, 1]."""
    edges = np.linspace(-1.0, 1.0, bins + 1)
    kinds = [*_shapes(edges), *_spikes(edges), _two_values(bins)]
    masses = np.vstack([masses for masses, _ in kinds])
    return PlausibleTargets(
        masses=masses,
        log_priors=np.concatenate([log_prior for _, log_prior in kinds]),
        has_two_values=np.arange(len(masses)) >= len(masses) - len(SHARES_OF_YES),
    )


Kind = tuple[Array, Array]


def _shapes(edges: Array) -> Iterator[Kind]:
    """Laws of mean 0 and sd 1, moved and stretched; what would lie beyond the bounds is at them."""
    means, sds = (grid.ravel()[:, None] for grid in np.meshgrid(MEANS, SDS))
    log_prior = -0.5 * ((means / CENTRE_SD) ** 2 + (np.log(sds / SCALE) / LOG_SD_OF_SCALE) ** 2)
    log_prior = log_prior[:, 0] - np.log(np.exp(log_prior).sum())
    for name, probability in PRIOR_OF_SHAPES.items():
        below = SHAPES[name]((edges - means) / sds)
        below[:, 0], below[:, -1] = 0.0, 1.0
        yield np.diff(below, axis=1), log_prior + np.log(probability)


def _exponential(z: Array) -> Array:
    return np.asarray(-np.expm1(-np.maximum(z + 1.0, 0.0)))


SHAPES: dict[str, Callable[[Array], Array]] = {
    "bell": lambda z: np.asarray(ndtr(z)),
    "up": _exponential,
    "down": lambda z: 1.0 - _exponential(-z),
    "even": lambda z: np.clip(z / np.sqrt(12.0) + 0.5, 0.0, 1.0),
}
"""Distribution functions of mean 0 and sd 1."""


def _spikes(edges: Array) -> Iterator[Kind]:
    bins = len(edges) - 1
    anywhere = [(1 - rest) * spike + rest / bins for rest in RESTS for spike in np.eye(bins)]
    yield _equally_likely(anywhere, PRIOR_OF_SPIKE)
    tails = [_costs(edges, *choice) for choice in product(SHARES_OF_COSTS, MEAN_COSTS)]
    yield _equally_likely([*tails, *(tail[::-1] for tail in tails)], PRIOR_OF_COSTS)


def _costs(edges: Array, share: float, mean: float) -> Array:
    """Zeros at the lower bound, and exponential values cut at the upper one."""
    below = -np.expm1(-(edges + 1.0) / mean)
    below[-1] = 1.0
    masses = share * np.diff(below)
    masses[0] += 1.0 - share
    return masses


def _two_values(bins: int) -> Kind:
    first, last = np.eye(bins)[[0, -1]]
    return _equally_likely(
        [(1 - share) * first + share * last for share in SHARES_OF_YES], PRIOR_OF_TWO_VALUES
    )


def _equally_likely(laws: list[Array], probability: float) -> Kind:
    return np.array(laws), np.full(len(laws), np.log(probability / len(laws)))
