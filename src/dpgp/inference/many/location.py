"""Centre and scale of a target from one noisy histogram over its public bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]

SPIKE_BINS = 2
"""Clear bins that may be a spike, beside which the other values are too few in each bin to see."""

CLEAR = 2.5
"""Bins count whose number stands that many noise sds above zero."""

ENOUGH = 0.8
"""Share of the rows in such bins from which on they alone are trusted."""


class Location(NamedTuple):
    """Where a target scaled to [−1, 1] lies, and how far it spreads."""

    centre: float
    scale: float
    is_yes_no: bool = False


YES_NO = Location(0.0, 1.0, True)
"""Where a target lies that is 1 or −1, whatever the data."""


def locate(counts: Array, noise_std: float, n: float) -> Location:
    """Return mean and sd of the clear bins, or of Gaussian profiles where noise hides most bins.

    No scale is believed to be below half a bin.
    """
    is_clear = counts > CLEAR * noise_std
    clear = np.where(is_clear, counts, 0.0)
    if clear.sum() <= ENOUGH * n:
        centre, scale = _profile(counts, noise_std, n)
    elif np.count_nonzero(is_clear) <= SPIKE_BINS:
        centre, scale = _spiked(clear, noise_std, n)
    else:
        centre, scale = _moments(clear)
    return Location(centre, max(scale, 1.0 / len(counts)))


def _spiked(clear: Array, noise_std: float, n: float) -> tuple[float, float]:
    """Spread over the bounds what is not in the few clear bins, and may be: rare events, costs."""
    error = noise_std * np.sqrt(np.count_nonzero(clear)) / n
    rest = float(np.clip(1.0 - clear.sum() / n + error, 0.0, 1.0))
    masses = (1.0 - rest) * clear / clear.sum() + rest / len(clear)
    return _moments(masses)


def _moments(counts: Array) -> tuple[float, float]:
    edges = np.linspace(-1.0, 1.0, len(counts) + 1)
    middles, masses = (edges[1:] + edges[:-1]) / 2, counts / counts.sum()
    mean = float(masses @ middles)
    return mean, float(np.sqrt(masses @ (middles - mean) ** 2))


def _profile(counts: Array, noise_std: float, n: float) -> tuple[float, float]:
    """Average over Gaussians of mean N(0, 0.4²) and log-normal sd around a quarter."""
    edges = np.linspace(-1.0, 1.0, len(counts) + 1)
    grids = np.meshgrid(np.linspace(-0.9, 0.9, 73), np.geomspace(0.03, 0.6, 20))
    means, sds = (grid.ravel() for grid in grids)
    expected = n * np.diff(ndtr((edges - means[:, None]) / sds[:, None]), axis=1)
    fit = ((counts - expected) ** 2).sum(axis=1) / noise_std**2
    log_p = -0.5 * (fit + (means / 0.4) ** 2 + (np.log(sds / 0.25) / 0.6) ** 2)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    mean = float(p @ means)
    return mean, float(np.sqrt(p @ sds**2 + 0.5 * p @ (means - mean) ** 2))
