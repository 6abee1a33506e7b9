"""Gaussian mechanisms on exact integer sums: how much noise goes where, and its price."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpgp.privacy.books import Bookkeeper, Bound, GaussianRelease
from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.exact_sums import UNIT
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import NoiseSource
from dpgp.privacy.parts import RowPart
from dpgp.privacy.rounding import float_up, sqrt_up
from dpgp.privacy.sensitivity import (
    count_sensitivity,
    gram_sensitivity,
    moments_sensitivity,
    moments_sensitivity_as_printed,
)
from dpgp.types import Array, Integers


@dataclass(frozen=True)
class GramNoise:
    """Standard deviations of the noise on the blocks of Σψψᵀ, ψ = (features, targets).

    Features have norm at most one and targets are at most one in size. ``sensitivity`` is measured
    in the units in which all noise has standard deviation ``sigma``; diagonal entries of a
    symmetric block carry the standard deviation named here, the others that over √2. The block of
    the targets is withheld where ``target_std`` is None.
    """

    sensitivity: float
    sigma: float
    feature_std: float
    cross_std: float
    target_std: float | None
    bound: Bound | None = None

    def matrix(self, n_features: int, n_targets: int, leading: int | None = None) -> Array:
        """Return the standard deviation of every entry; NaN where an entry is withheld.

        Of products of features only those of the ``leading`` ones are released, where it is said.
        """
        target_std = math.nan if self.target_std is None else self.target_std
        size, first = n_features + n_targets, slice(leading)
        stds = np.full((size, size), self.cross_std)
        features = np.full((n_features, n_features), math.nan)
        of_first = features[first, first]
        of_first[:] = _symmetric_noise(len(of_first), self.feature_std)
        stds[:n_features, :n_features] = features
        stds[n_features:, n_features:] = _symmetric_noise(n_targets, target_std)
        return stds


@dataclass(frozen=True)
class GramRelease:
    r"""A noisy :math:`\sum_i \psi_i\psi_i^\top`, :math:`\psi = (\phi(x), t)`, in blocks.

    Products of features may be those of the first k of them alone.

    Noise has standard deviation ``feature_std`` on the diagonal of ``feature_gram`` and that over
    √2 off it, ``cross_std`` on ``cross``, and ``target_std`` on the diagonal of ``target_gram``,
    which is withheld (None) where the mechanism does not include it. ``fraction`` is the share of
    the rows that were asked, where sums of a part stand for all.
    """

    feature_gram: Array  # Σ φφᵀ  (k, k), k ≤ d
    cross: Array  # Σ φ tᵀ  (d, K)
    target_gram: Array | None  # Σ t tᵀ  (K, K)
    feature_std: float
    cross_std: float
    target_std: float | None
    fraction: float = 1.0

    def adding_up(self) -> GramRelease:
        """Return sums whose targets add up to nothing in every row: what noise adds to that goes.

        Of K targets √(1 − 1/K) of the noise on sums with features is left.
        """
        K = self.cross.shape[1]
        centred = self.cross - self.cross.mean(axis=1, keepdims=True)
        return replace(self, cross=centred, cross_std=self.cross_std * math.sqrt(1.0 - 1.0 / K))

    def for_all(self, part: RowPart | None) -> GramRelease:
        """Return sums that stand for all rows where those of a part were asked."""
        return self if part is None else replace(self.times(part.of), fraction=part.fraction)

    def times(self, factor: float) -> GramRelease:
        """Return all sums, and so their noise, multiplied by a number."""
        return GramRelease(
            factor * self.feature_gram,
            factor * self.cross,
            None if self.target_gram is None else factor * self.target_gram,
            factor * self.feature_std,
            factor * self.cross_std,
            None if self.target_std is None else factor * self.target_std,
            self.fraction,
        )


LEVELS_WEIGHT = 0.25
"""Sum of the squared weights of counts of readable cells, where that of usable rows has weight one:
these then have 12 % more noise than alone, and all fits need them; k columns have √(5k) of it, and
are looked at where the rows are gone. By hand."""


@dataclass(frozen=True)
class CountNoise:
    """Standard deviations of the noise on a count of rows, and of cells that are levels.

    ``sensitivity`` is measured in the units in which all noise has standard deviation ``sigma``.
    """

    sensitivity: float
    sigma: float
    levels_std: float
    columns: int
    bound: Bound

    @property
    def stds(self) -> tuple[float, ...]:
        """The standard deviation of every count, that of the rows first."""
        return (self.sigma, *[self.levels_std] * self.columns)


@dataclass(frozen=True)
class HistogramRelease:
    """Noisy counts, one histogram a row, and the standard deviation of their noise."""

    counts: Array
    noise_std: float

    def times(self, factor: float) -> HistogramRelease:
        """Return all counts, and so their noise, multiplied by a number."""
        return HistogramRelease(factor * self.counts, factor * self.noise_std)


def _symmetric_noise(size: int, std: float) -> Array:
    stds = np.full((size, size), _over_root_two(std))
    np.fill_diagonal(stds, std)
    return stds


def _over_root_two(std: float) -> float:
    return std if math.isnan(std) else sqrt_up(Fraction(std) ** 2 / 2)


def _over(std: float, weight: float, power: int = 1) -> float:
    """Return σ/s^p, rounded up: times s^p it is never below σ."""
    return float_up(Fraction(std) / Fraction(weight) ** power)


@lru_cache(maxsize=1024, typed=True)
def moments_noise(
    mu: float, ratio: float, neighbours: Neighbours, *, as_printed: bool = False
) -> GramNoise:
    """Noise for A and B alone, σ_a/σ_b = ``ratio``: no target block.

    ``as_printed`` takes the sensitivity of HM21 eq. 6, which is never smaller than the clamped one.
    """
    sensitivity = (
        moments_sensitivity_as_printed(1.0, 1.0, ratio)
        if as_printed
        else moments_sensitivity(1.0, 1.0, ratio, neighbours)
    )
    sigma_a = gaussian_sigma(sensitivity, mu)
    bound = Bound("moments", ratio)
    return GramNoise(sensitivity, sigma_a, _over(sigma_a, ratio), sigma_a, None, bound)


def gram_noise(
    mu: float,
    target_weight: float,
    n_targets: int,
    neighbours: Neighbours,
    rows_per_unit: int = 1,
) -> GramNoise:
    r"""Noise for all of Σψψᵀ with targets weighted by s, :math:`\|\psi\|^2 \le 1 + K s^2`."""
    s = target_weight
    norm_bound = sqrt_up(1 + n_targets * Fraction(s) ** 2)
    sensitivity = gram_sensitivity(norm_bound, neighbours, rows_per_unit)
    sigma = gaussian_sigma(sensitivity, mu)
    cross_std, target_std = _over(_over_root_two(sigma), s), _over(sigma, s, 2)
    bound = Bound("gram", float_up(Fraction(norm_bound) ** 2))
    return GramNoise(sensitivity, sigma, sigma, cross_std, target_std, bound)


def noise_of_counts(mu: float, columns: int, rows_per_unit: int = 1) -> CountNoise:
    r"""Noise for a count of rows and of the levels of k columns, each of these times √(w/k)."""
    size = 1.0 + LEVELS_WEIGHT if columns else 1.0
    sensitivity = count_sensitivity(size, rows_per_unit)
    sigma = gaussian_sigma(sensitivity, mu)
    levels_std = sqrt_up(Fraction(sigma) ** 2 * columns / Fraction(LEVELS_WEIGHT))
    return CountNoise(sensitivity, sigma, levels_std, columns, Bound("count", size))


def publish_gram(
    totals: Integers,
    stds: Array,
    noise: GramNoise,
    label: str,
    books: Bookkeeper,
    source: NoiseSource,
) -> Array:
    """Book the release of a symmetric matrix of exact sums, draw its noise, and return the result.

    Entries whose standard deviation is NaN are withheld: they come back as NaN.
    """
    rows, columns = np.triu_indices(len(totals))
    upper = ~np.isnan(stds[rows, columns])
    rows, columns = rows[upper], columns[upper]
    entries = totals[rows, columns], stds[rows, columns]
    values = publish(
        *entries, noise.sensitivity, noise.sigma, label, books, source, bound=noise.bound
    )
    result = np.full(totals.shape, math.nan)
    result[rows, columns] = values
    result[columns, rows] = values
    return result


def publish(
    totals: Integers,
    stds: Array,
    sensitivity: float,
    sigma: float,
    label: str,
    books: Bookkeeper,
    source: NoiseSource,
    *,
    bound: Bound | None = None,
) -> Array:
    """Reserve in the books, draw, return: every release of the project ends here.

    What could not be drawn is refused before it is booked.

    ``totals`` are exact sums of products of fixed-point numbers, in units of 2^{-2b}; the result is
    in units of one.
    """
    unit = int(UNIT) ** 2
    scales = stds * float(unit)
    distinct = set(scales.tolist())
    for scale in distinct - {0.0}:
        source.check(scale)
    books.reserve(GaussianRelease(label, sensitivity, sigma, len(totals), min(distinct), bound))
    noisy = source.add_to(totals, scales)
    return np.array([total / unit for total in noisy], dtype=np.float64)
