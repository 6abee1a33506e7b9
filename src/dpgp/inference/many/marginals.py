"""Where every input lies on its own, from noisy histograms: densities, atoms and a warp."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpgp.domain import Box
from dpgp.inference.noisy_law import Candidates, Law, believe, bent_candidates, mass_candidates
from dpgp.inference.warp import Warp, smooth_candidates
from dpgp.types import Array

ATOM_MASS = 0.04
"""Smallest mass of a bin that may be an atom; by hand."""

ATOM_CONTRAST = 0.15
"""How much of an atom's mass its heavier neighbour may hold: a density is smoother than that. By
hand."""

LATTICE_MASS = 0.9
"""Mass near whole numbers from which on an input is taken to hold nothing else; by hand."""

CENTRAL = 0.02
"""Mass beyond either end of the central interval, which the affine half of the warp stretches. By
hand: what lies beyond is few rows, or noise."""

FALLS, HEAVINESS = (0.01, 0.03, 0.1, 0.3), (0.0, 0.25, 0.5)
"""Scales, in widths of the box, and shapes of laws that fall from a bound, as counts, incomes and
blood tests do; a shape of 0 is exponential. By hand: bends fill what lies between."""

SHARES_OF_ONES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
"""Shares of the rarer of two values at the bounds, as 0 and 1 in numbers. By hand, as above."""

PRIOR_OF_FALLS = 0.01
"""Prior probability of such laws and of two values. By hand: counts that say anything at all speak
loudly for or against them, and noise alone shall be taken for an even spread."""

FLOOR = 0.01
"""Mass spread evenly, so that the warp increases everywhere; by hand."""


@dataclass(frozen=True)
class Marginals:
    """Masses of equal bins of [−1, 1] for every input; ``atoms`` says where in a bin all of it is.

    NaN in ``atoms`` stands for a mass that is spread over its bin.
    """

    masses: Array  # (D, bins)
    atoms: Array  # (D, bins)

    @cached_property
    def edges(self) -> Array:
        """The edges of the bins."""
        return np.linspace(-1.0, 1.0, self.masses.shape[1] + 1)

    def quantiles(self, levels: Array) -> Array:
        """Return the scaled inputs at ``levels`` in (0, 1), one column an input."""
        columns = zip(levels.T, self.masses, self.atoms, strict=True)
        return np.column_stack([self._quantile(*column) for column in columns])

    def warp(self) -> Warp:
        """Return the half-way mix of the private CDF and an affine map of the central interval.

        Beyond that interval the affine half is flat. An atom needs no room of its own: its mass is
        spread evenly.
        """
        even = 1.0 / self.masses.shape[1]
        spread = np.where(np.isnan(self.atoms), self.masses, 0.0)
        spread = spread + even * (1.0 + FLOOR - spread.sum(axis=1, keepdims=True))
        return Warp(self.edges, np.array([self._warped_edges(s / s.sum()) for s in spread]))

    def warp_among(self, numeric: NDArray[np.bool_]) -> Warp:
        """Return the same warp for columns of which these are the inputs; it leaves others."""
        values = np.tile(self.edges, (len(numeric), 1))
        if numeric.any():
            values[numeric] = self.warp().values
        return Warp(self.edges, values)

    def _quantile(self, levels: Array, masses: Array, atoms: Array) -> Array:
        cdf = np.append(0.0, np.cumsum(masses))
        bins = np.clip(np.searchsorted(cdf, levels * cdf[-1], side="right") - 1, 0, len(masses) - 1)
        within = (levels * cdf[-1] - cdf[bins]) / np.maximum(masses[bins], 1e-12)
        width = self.edges[1] - self.edges[0]
        spread = self.edges[bins] + width * np.clip(within, 0.0, 1.0)
        return np.asarray(np.where(np.isnan(atoms[bins]), spread, atoms[bins]))

    def _warped_edges(self, spread: Array) -> Array:
        cdf = 2.0 * np.append(0.0, np.cumsum(spread)) - 1.0
        low, high = np.interp([2 * CENTRAL - 1, 1 - 2 * CENTRAL], cdf, self.edges)
        width = max(high - low, self.edges[1] - self.edges[0])
        affine = 2.0 * (np.clip(self.edges, low, low + width) - low) / width - 1.0
        values = 0.5 * cdf + 0.5 * affine
        values[0], values[-1] = -1.0, 1.0
        return np.asarray(values)


def estimate_marginals(counts: Array, noise_std: float, n: Array | float, box: Box) -> Marginals:
    """Return smoothed masses of noisy counts of so many rows each, and which bins hold an atom."""
    bins = counts.shape[1]
    if not len(counts):
        return Marginals(np.empty((0, bins)), np.empty((0, bins)))
    family = plausible_inputs(bins)
    each = zip(counts, np.broadcast_to(n, len(counts)), strict=True)
    masses = np.array([believe(row, noise_std, m, family).mean_masses for row, m in each])
    lattices = [_lattice(low, high, bins) for low, high in zip(box.low, box.high, strict=True)]
    atoms = np.array([_atoms(m, places) for m, places in zip(masses, lattices, strict=True)])
    return Marginals(masses, atoms)


@lru_cache(maxsize=4)
def plausible_inputs(bins: int) -> Candidates:
    """Return masses about even ones, and about such as fall from a bound or lie at the two of them.

    About even masses, whatever stands out of the noise in a long tail is taken for rows; about
    falling ones, a few rows at the other bound are taken for noise.
    """
    smooth, below = smooth_candidates(bins), np.linspace(0.0, 1.0, bins + 1)[:-1]
    laws = [(_fall(*choice), 0.0) for choice in product(FALLS, HEAVINESS)]
    laws += [(_two_values(share), 0.0) for share in SHARES_OF_ONES]
    edges = np.append(below, np.inf)  # what lies beyond a bound is at it
    down = bent_candidates(laws, edges, edges)
    masses = [smooth.bins, down.bins, down.bins[:, ::-1]]
    spreads = [smooth.spreads, down.spreads, down.spreads[:, ::-1, ::-1]]
    counts = np.array([len(smooth.bins), 2 * len(down.bins)])
    log_prior = np.repeat(np.log([1.0 - PRIOR_OF_FALLS, PRIOR_OF_FALLS] / counts), counts)
    every = mass_candidates(np.concatenate(masses), np.concatenate(spreads))
    return every._replace(log_prior=log_prior)


def _fall(scale: float, heaviness: float) -> Law:
    """Return the CDF 1 − (1 + ξx/s)^(−1/ξ) of a generalised Pareto law, 1 − exp(−x/s) at ξ = 0."""

    def below(x: Array) -> Array:
        z = x / scale
        return np.asarray(-np.expm1(-(np.log1p(heaviness * z) / heaviness if heaviness else z)))

    return below


def _two_values(share: float) -> Law:
    """Return the CDF of values at the two bounds, the upper one with this share."""
    return lambda x: np.select([x <= 0.0, np.isfinite(x)], [0.0, 1.0 - share], 1.0)


def _atoms(masses: Array, lattice: Array) -> Array:
    """Return where the mass of every bin is if it is an atom, NaN elsewhere."""
    if masses[~np.isnan(lattice)].sum() > LATTICE_MASS and np.isnan(lattice).any():
        return lattice
    padded = np.pad(masses, 1)
    neighbours = np.maximum(padded[:-2], padded[2:])
    is_atom = (masses > max(ATOM_MASS, 2.0 / len(masses))) & (neighbours < ATOM_CONTRAST * masses)
    return np.where(is_atom, _likely_places(lattice), np.nan)


def _likely_places(lattice: Array) -> Array:
    """Return the whole number in a bin, else a bound of the box, else the middle."""
    edges = np.linspace(-1.0, 1.0, len(lattice) + 1)
    places = (edges[:-1] + edges[1:]) / 2
    places[0], places[-1] = -1.0, 1.0
    return np.where(np.isnan(lattice), places, lattice)


def _lattice(low: float, high: float, bins: int) -> Array:
    """Return the whole numbers of a public interval on [−1, 1] by bin; NaN where there is none.

    All NaN where a bin would hold more than one: they are then as good as a density.
    """
    places = np.full(bins, np.nan)
    whole = np.arange(np.ceil(low), np.floor(high) + 1) if high - low < bins else np.empty(0)
    scaled = 2.0 * (whole - low) / (high - low) - 1.0
    index = np.minimum(((scaled + 1.0) * bins / 2).astype(np.int64), bins - 1)
    if len(np.unique(index)) == len(index):
        places[index] = scaled
    return places
