r"""Synthetic rows of numbers and categories: one Gaussian copula, and a race between levels.

Every level has a coordinate of the copula, uniform :math:`U_k`, and the level of a row is
:math:`\arg\max_k \log p_k - \log(-\log U_k)`, which is k with probability :math:`p_k` exactly
(Gumbel 1954). Of two levels the second is taken where :math:`U > 1 - p`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpgp.features.inputs import Coordinates
from dpgp.inference.many.marginals import Marginals
from dpgp.inference.many.synthetic import (
    LEVELS,
    ROWS,
    InputMoments,
    broad_moments,
    copula_levels,
    correlations,
    warped_moments,
)
from dpgp.inference.noisy_law import believe, even_candidates
from dpgp.types import Array

AMPLITUDES = np.array([0.0, 0.125, 0.25, 0.5, 1.0])
"""Prior sds of masses about even ones, relative to all mass in one level; all equally likely before
the counts are seen. docs/results/laws.md."""

EVEN = 0.01
"""Mass that all public levels share evenly: a level that nobody has may be asked for. By hand."""

LARGEST_MEAN, SMALLEST_SD = 0.9, 0.05
"""Where noisy moments of inputs on [−1, 1] are cut, so that they leave room for a variance. By
hand."""


def level_masses(counts: Array, noise_std: float, n: float) -> Array:
    """Return the masses of levels from noisy counts, shrunk towards even ones by their noise."""
    K = len(counts)
    # √(K − 1) is the sd where all mass is in one level
    family = even_candidates(np.sqrt(K - 1.0) * AMPLITUDES, [np.eye(K)])
    masses = believe(counts, noise_std, n, family).mean_masses
    return np.asarray((1.0 - EVEN) * masses + EVEN / K)


def mixed_pool(
    coordinates: Coordinates,
    marginals: Marginals | None,
    levels: Sequence[Array],
    moments: InputMoments,
    n: float,
) -> Array:
    """Return synthetic rows, of which every category is one valid level.

    ``marginals`` are those of the columns of numbers, ``levels`` the masses of every category;
    without them the noisy means serve.
    """
    blocks, numeric = coordinates.blocks(), np.flatnonzero(~coordinates.is_indicator)
    masses = levels or [_masses_of_means(moments, block, n) for block in blocks]
    means, sds = broad_moments(moments)
    if marginals is not None and len(numeric):
        sds[numeric] = np.maximum(warped_moments(marginals, marginals.warp())[1], SMALLEST_SD)
    centre = np.clip(moments.mean, -LARGEST_MEAN, LARGEST_MEAN)
    for block, p in zip(blocks, masses, strict=True):
        centre[block], sds[block] = 2.0 * p[-len(block) :] - 1.0, _latent_sds(p)
    copula = copula_levels(_correlations(moments, centre, sds, blocks), 2 * ROWS)
    pool = np.clip(means + sds * ndtri(copula), -1.0, 1.0)
    if marginals is not None and len(numeric):
        pool[:, numeric] = marginals.warp().apply(marginals.quantiles(copula[:, numeric]))
    for block, p in zip(blocks, masses, strict=True):
        pool[:, block] = _indicators(copula[:, block], p)
    return np.asarray(pool)


def _masses_of_means(moments: InputMoments, block: NDArray[np.intp], n: float) -> Array:
    """Return masses of levels from noisy means of their indicators ±1."""
    shares = (1.0 + moments.mean[block]) / 2
    counts = n * (shares if len(block) > 1 else np.append(1.0 - shares, shares))
    return level_masses(counts, n * moments.mean_noise / 2, n)


def _latent_sds(masses: Array) -> Array:
    r"""Return by what a covariance with an indicator is divided, to be one with its coordinate.

    For a standard normal x of correlation r with the coordinate of a level, and none with those of
    others, :math:`E[x 1_k] = r\,m_k/(1 - p_k)`, :math:`m_k = E[\Phi^{-1}(U_k)1_k]
    = p_k\int_0^1\Phi^{-1}(s^{p_k})\,ds`, up to a part that all levels share in proportion to p.
    """
    if len(masses) == 2:
        t = ndtri(masses[1])
        return np.array([2.0 * np.exp(-0.5 * t**2) / np.sqrt(2.0 * np.pi)])
    s = (np.arange(LEVELS) + 0.5) / LEVELS
    m = np.array([p * ndtri(s**p).mean() for p in masses])
    return np.asarray(2.0 * m / (1.0 - masses))


def _correlations(
    moments: InputMoments, centre: Array, sds: Array, blocks: Sequence[NDArray[np.intp]]
) -> Array:
    """Return correlations of the copula; coordinates of one category race independently."""
    covariance = moments.second - np.outer(centre, centre)
    for block in blocks:
        covariance[np.ix_(block, block)] = 0.0
    none = np.zeros_like(moments.mean)
    centred = InputMoments(none, covariance, moments.mean_noise, moments.second_noise)
    return correlations(centred, sds)


def _indicators(copula: Array, masses: Array) -> Array:
    """Return indicators ±1 of the level that wins in every row."""
    if len(masses) == 2:
        return np.where(copula > 1.0 - masses[1], 1.0, -1.0)
    winners = np.argmax(np.log(masses) - np.log(-np.log(copula)), axis=1)
    return np.where(np.arange(len(masses)) == winners[:, None], 1.0, -1.0)
