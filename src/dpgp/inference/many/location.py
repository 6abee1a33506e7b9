"""Centre and scale of a target from one noisy histogram over its public bounds.

Few counts stand out of much noise, and moments of those that do have lost their tails. So masses
are averaged over plausible laws, weighted by the counts; what none of them explains is added where
it stands out of the noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgp.inference.many.plausible_targets import plausible_targets

Array = NDArray[np.float64]

CLEARLY = 0.5
"""Noise sds beyond the largest of as many noises as bins from which on a count is no noise."""


class Location(NamedTuple):
    """Where a target scaled to [−1, 1] lies, and how far it spreads."""

    centre: float
    scale: float
    is_yes_no: bool = False


YES_NO = Location(0.0, 1.0, True)
"""Where a target lies that is 1 or −1, whatever the data."""


def locate(counts: Array, noise_std: float, n: float) -> Location:
    """Return mean and sd of the target; no scale is believed to be below half a bin."""
    bins = len(counts)
    masses = _masses(counts, noise_std, n)
    edges = np.linspace(-1.0, 1.0, bins + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    centre = float(masses @ middles)
    scale = float(np.sqrt(masses @ (middles - centre) ** 2))
    return Location(centre, max(scale, 1.0 / bins))


def _masses(counts: Array, noise_std: float, n: float) -> Array:
    """Average plausible masses, and add what stands out beside them: of size sqrt(2 log bins)."""
    expected = _expected(counts, noise_std, n)
    gaps = counts - expected
    noise_of_all = (np.sqrt(2.0 * np.log(len(counts))) + CLEARLY) * noise_std
    found = np.maximum(expected + np.where(np.abs(gaps) > noise_of_all, gaps, 0.0), 0.0)
    return np.asarray(found / found.sum())


def _expected(counts: Array, noise_std: float, n: float) -> Array:
    """Return the counts that plausible laws expect on average, given the noisy ones."""
    masses, log_prior = plausible_targets(len(counts))
    expected = n * masses
    variance = noise_std**2 + expected * (1.0 - masses) + 1.0
    misfit = (counts - expected) ** 2 / variance + np.log(variance)
    log_p = log_prior - 0.5 * misfit.sum(axis=1)
    p = np.exp(log_p - log_p.max())
    return np.asarray(p @ expected / p.sum())
