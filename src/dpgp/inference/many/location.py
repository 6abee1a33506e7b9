"""Centre and scale of a target from one noisy histogram over its public bounds.

Few counts stand out of much noise, and moments of those that do have lost their tails. So masses
are averaged over plausible laws, weighted by the counts; what none of them explains is added where
it stands out of the noise.
"""

from __future__ import annotations

import numpy as np

from dpgp.inference.many.plausible_targets import plausible_targets
from dpgp.outcomes import Location
from dpgp.types import Array

CLEARLY, SURELY = 0.5, 1.5
"""Noise sds beyond the largest of as many noises as bins from which on a count is no noise, and
from which on it is a third value. By hand: a third value undoes a finding, so it shall be sure."""

SURE = 0.9
"""Probability from which on a target is taken to have two values; by hand."""


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
    scale = float(np.sqrt(masses @ (middles - centre) ** 2 / masses.sum()))
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
