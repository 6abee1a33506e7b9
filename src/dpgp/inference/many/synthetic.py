r"""Synthetic inputs: marginals, a Gaussian copula, and counts of cells that reweight its draws.

Correlations come from the noisy Gram matrix of the warped inputs, shrunk by their noise and taken
to the normal scale by :math:`\rho_z = 2\sin(\pi\rho/6)`. The cells are Voronoi cells of synthetic
points, so they are public once the copula is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpgp.inference.many.marginals import Marginals
from dpgp.inference.many.plan import MOST_POINTS, points_that_cover
from dpgp.inference.noisy_law import believe, mass_candidates
from dpgp.inference.warp import Warp
from dpgp.types import Array

ROWS = 4096
"""Number of synthetic rows; a power of two suits the low-discrepancy points."""

CONSTANT_SHARE = 0.2
"""Share of the squared norm for the constant in the Gram matrix of the inputs. By hand: means
still have less noise than correlations."""

SMALLEST_SIZE = 0.25
"""Root mean square of a row's inputs from which on only their direction is released; by hand."""

BROAD_SD = 0.5
"""Prior sd of an input on [−1, 1] about which nothing was released: a little below 1/√3, that of
an even one."""

CORRELATION_SD = 0.3
"""Prior sd of a correlation: where noise is larger, correlations are taken for noise. By
hand."""

UNKNOWN = 1e3
"""Noise of moments that tell nothing, of inputs on [−1, 1]."""

VARIANCE_SD = 0.1
"""Prior sd of a variance of inputs; by hand."""

LARGEST_CORRELATION, SMALLEST_EIGENVALUE = 0.97, 0.02  # by hand: a copula keeps some spread
LEVELS = 2000  # points of an integral over a CDF; by hand

# What counts of cells may change, by hand: noise in the counts against errors of the copula
EMPTY_CELL = 0.2  # sd of the mass of a cell where the copula expects none, in even masses
LEAST_OF_EXPECTED = 0.05  # least mass of a cell, of what the copula expects


@dataclass(frozen=True)
class InputMoments:
    """Noisy means and second moments of the warped inputs, and the sds of their noise."""

    mean: Array
    second: Array
    mean_noise: float
    second_noise: float

    @classmethod
    def unknown(cls, columns: int) -> InputMoments:
        """Return moments that tell nothing."""
        return cls(np.zeros(columns), np.zeros((columns, columns)), UNKNOWN, UNKNOWN)

    def where_known(self, shares: Array) -> InputMoments:
        """Return the moments of inputs that so many rows have, others being at the mean.

        Gaps in two inputs are taken to be independent. The noise grows with the widest of them.
        """
        mean = np.outer(self.mean, self.mean)
        pairs = np.outer(shares, shares)
        np.fill_diagonal(pairs, shares)
        second = mean + (self.second - mean) / pairs
        return replace(self, second=second, second_noise=self.second_noise / float(pairs.min()))


def input_moments(gram: Array, feature_std: float, n: float) -> InputMoments:
    """Read the noisy Gram matrix of (√a, v√((1 − a)/D))."""
    columns, noise = len(gram) - 1, feature_std / np.sqrt(2.0) / n
    slope = (1.0 - CONSTANT_SHARE) / columns
    first = np.sqrt(CONSTANT_SHARE * slope)
    return InputMoments(
        gram[0, 1:] / first / n, gram[1:, 1:] / slope / n, noise / first, noise / slope
    )


def direction_moments(gram: Array, feature_std: float, n: float) -> InputMoments:
    r"""Read the noisy Gram matrix of (√a, u√(1 − a)), :math:`u = v/\max(\|v\|, b\sqrt D)`.

    The direction u of a row is taken for v over the root mean square of all rows' norms.
    """
    columns, noise = len(gram) - 1, feature_std / np.sqrt(2.0) / n
    slope = 1.0 - CONSTANT_SHARE
    first = np.sqrt(CONSTANT_SHARE * slope)
    square = float(np.trace(gram[1:, 1:])) / slope / n
    # the noise of a trace: √2 that of an entry off the diagonal, D times
    size = _size_of_inputs(square, np.sqrt(2.0 * columns) * noise / slope) * np.sqrt(columns)
    return InputMoments(
        size * gram[0, 1:] / first / n,
        size**2 * gram[1:, 1:] / slope / n,
        size * noise / first,
        size**2 * noise / slope,
    )


def _size_of_inputs(square: float, noise: float) -> float:
    """Return the root mean square of an input, given the noisy mean of ‖u‖²; at least b."""
    sizes = np.geomspace(0.05, 0.8, 40)
    misfit = (square - np.minimum((sizes / SMALLEST_SIZE) ** 2, 1.0)) / max(noise, 0.05)
    log_p = -0.5 * (misfit**2 + (np.log(sizes / BROAD_SD) / 0.6) ** 2)
    p = np.exp(log_p - log_p.max())
    return float(np.exp(p @ np.log(np.maximum(sizes, SMALLEST_SIZE)) / p.sum()))


def correlations(moments: InputMoments, sds: Array) -> Array:
    """Return correlations on the normal scale, each shrunk by its noise; positive definite."""
    mean = np.clip(moments.mean, -0.9, 0.9)
    scale = np.outer(sds, sds)
    rho = (moments.second - np.outer(mean, mean)) / scale
    noise = moments.second_noise / scale
    signal = np.minimum(rho**2, CORRELATION_SD**2)
    shrunk = rho * signal / np.maximum(signal + noise**2, 1e-12)
    shrunk = np.clip(shrunk, -LARGEST_CORRELATION, LARGEST_CORRELATION)
    normal = 2.0 * np.sin(np.pi * np.where(np.eye(len(sds)) > 0, 1.0, shrunk) / 6.0)
    eigenvalues, Q = np.linalg.eigh(normal)
    positive = (Q * np.maximum(eigenvalues, SMALLEST_EIGENVALUE)) @ Q.T
    roots = np.sqrt(np.diag(positive))
    return np.asarray(positive / np.outer(roots, roots))


def copula_levels(correlation: Array, count: int) -> Array:
    """Return low-discrepancy draws of the Gaussian copula, uniform in every column."""
    from scipy.stats import qmc  # slow to import, and a fitted model needs it no more

    normal = qmc.MultivariateNormalQMC(np.zeros(len(correlation)), correlation, seed=3)
    return np.asarray(np.clip(ndtr(normal.random(count)), 1e-6, 1 - 1e-6))


def warped_moments(marginals: Marginals, warp: Warp) -> tuple[Array, Array]:
    """Return mean and sd of every warped input under its own marginal."""
    levels = (np.arange(LEVELS) + 0.5) / LEVELS
    columns = warp.apply(marginals.quantiles(np.tile(levels[:, None], len(marginals.masses))))
    return columns.mean(axis=0), columns.std(axis=0)


def synthetic_pool(marginals: Marginals, warp: Warp, moments: InputMoments) -> Array:
    """Return warped inputs with these marginals and correlations, more than will be kept."""
    _, sds = warped_moments(marginals, warp)
    levels = copula_levels(correlations(moments, np.maximum(sds, 0.05)), 2 * ROWS)
    return warp.apply(marginals.quantiles(levels))


def broad_pool(moments: InputMoments) -> Array:
    """Return Gaussian inputs within the box, of noisy moments shrunk towards a broad guess."""
    mean, sds = broad_moments(moments)
    levels = copula_levels(correlations(moments, sds), 2 * ROWS)
    return np.asarray(np.clip(mean + sds * ndtri(levels), -1.0, 1.0))


def broad_moments(moments: InputMoments) -> tuple[Array, Array]:
    """Return means and sds of all inputs, shrunk towards a broad guess."""
    variance = BROAD_SD**2
    mean = moments.mean * variance / (variance + moments.mean_noise**2)
    found = np.diag(moments.second) - mean**2
    trust = VARIANCE_SD**2 / (VARIANCE_SD**2 + 2 * moments.second_noise**2)
    return mean, np.sqrt(np.clip(variance + trust * (found - variance), 0.01, 0.6))


@dataclass(frozen=True)
class VoronoiCells:
    """Voronoi cells of synthetic points, in inputs divided by ``scale``."""

    centres: Array
    scale: Array

    def of(self, V: Array) -> NDArray[np.int64]:
        """Return the cell of every row of warped inputs."""
        from scipy.spatial import cKDTree  # slow to import, and a fitted model needs it no more

        return np.asarray(cKDTree(self.centres).query(V / self.scale)[1], dtype=np.int64)


def spread_cells(pool: Array, count: int) -> VoronoiCells:
    """Choose centres far from each other, as k-means++ does (Arthur & Vassilvitskii 2007)."""
    scale, generator = np.maximum(pool.std(axis=0), 0.1), np.random.default_rng(5)
    points = pool / scale
    centres, distances = [points[0]], ((points - points[0]) ** 2).sum(axis=1)
    for _ in range(count - 1):
        if distances.sum() <= 0.0:  # fewer different rows than cells
            break
        centres.append(points[generator.choice(len(points), p=distances / distances.sum())])
        distances = np.minimum(distances, ((points - centres[-1]) ** 2).sum(axis=1))
    return VoronoiCells(np.array(centres), scale)


def anchors_among(synthetic: Array, count: int) -> Array:
    """Return so many of the rows; of few inputs, far from each other, since draws leave gaps."""
    if points_that_cover(synthetic.shape[1]) > MOST_POINTS:
        return synthetic[:count]
    cells = spread_cells(synthetic, count)
    rows = np.vstack([cells.centres * cells.scale, synthetic])  # fewer centres than asked for: any
    return np.asarray(rows[:count])


def reweighted(
    pool: Array, cells: VoronoiCells, counts: Array, noise_std: float, n: float
) -> Array:
    """Draw rows of the pool so that cells hold about as many as the noisy counts say.

    A count is shrunk towards what the copula expects, by its noise.
    """
    cell, K = cells.of(pool), len(cells.centres)
    expected = np.bincount(cell, minlength=K) / len(pool)
    spread = np.diag(expected**2 + (EMPTY_CELL / K) ** 2)
    masses = believe(counts, noise_std, n, mass_candidates(expected[None], spread[None])).masses[0]
    masses = np.maximum(masses, LEAST_OF_EXPECTED * expected)
    cumulative = np.cumsum((masses / np.maximum(expected, 1e-9))[cell])
    places = (np.arange(ROWS) + 0.5) / ROWS
    chosen = np.searchsorted(cumulative / cumulative[-1], places)
    return np.asarray(pool[np.random.default_rng(5).permutation(chosen)])
