r"""What a fit of many inputs is expected to reach, before any of the data is seen.

Such a fit learns the metric in which f is smooth, and spends every stage where most is unknown. So
it is forecast along the eigenfunctions of f's own prior: with unknown variances :math:`e_j` and
squared weights :math:`p_j` by water-filling, a stage leaves

.. math:: 1/e_j' = 1/e_j + \frac{p_j}{c + p_jm_2R^2/(ng^2\omega)}, \quad c = (\sigma R/(ng))^2/h

with the noise σ of its sums, the clip R and its slope g, its part ω of all stages, and the share h
of the information that survives while the metric is still unknown. docs/choosing-epsilon.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpgp.arithmetic import TINY
from dpgp.features.base import WhitenedMap
from dpgp.inference.clipping import second_moment, slope
from dpgp.inference.many.directions import squared_weights
from dpgp.inference.many.families import KernelFamily
from dpgp.inference.many.metric import REFERENCE, first_metric, parts
from dpgp.inference.many.plan import MOST_FEATURES, clip_kappa
from dpgp.inference.many.target import FIRST_CLIP
from dpgp.kernels.formula import batch_gram
from dpgp.options import Options
from dpgp.planning.design import asked_features
from dpgp.planning.forecast import Errors
from dpgp.planning.setting import Assumption, Setting
from dpgp.point_sets import low_discrepancy_points, normal_points
from dpgp.privacy.mechanism import gram_noise
from dpgp.types import Array

POINTS = 512
"""Points of the cube that stand for the inputs; by hand: accuracy against time."""

FUNCTIONS = 32
"""Equally plausible kinds of functions; by hand: three lie beyond either end of a forecast."""

SCALE, LOG_SD_OF_SCALE = 0.25, 0.4
"""Standard deviation of a target, in half-widths of its bounds: median, and spread of its log.
By hand; `benchmarks/forecast.py` has the same median."""

LOG_SD_OF_RELEVANCE, LOG_SD_OF_LENGTH, LOG_SD_OF_WEIGHT = 1.0, 0.5, 0.7
"""How unequal inputs are in their relevance, and how unsure the length and the parts' sds are.
By hand; the last two are those of a fit."""

OTHER_DRAWS = 5
"""Of the parts' sds and the length; relevances of inputs come after them."""

EFFICIENCY = 0.5
"""Share of the information of a stage that survives: features are chosen before the metric is
known. By hand; `benchmarks/forecast.py` compares forecasts with fits."""


@dataclass(frozen=True)
class ManyFunctions:
    """Plausible functions of many inputs, one row a kind: draws of weights, lengths and relevances.

    Variances of f over the cube and of the noise are in squared half-widths of the target.
    ``kernel`` is one that was asked for, ``features`` the only ones that a fit will have.
    """

    draws: Array
    spreads: Array
    noise_variances: Array
    columns: int
    kernel: Any = None
    features: WhitenedMap | None = None

    @cached_property
    def _shapes(self) -> Array:
        """What features can show of every kind of function: variances along eigenfunctions."""
        U = low_discrepancy_points([-1.0] * self.columns, [1.0] * self.columns, POINTS)
        basis = None if self.features is None else np.linalg.qr(self.features.evaluate(U).T)[0]
        own = self.kernel is not None
        grams = _own_grams(self.kernel, U, self.draws) if own else _grams(U, self.draws)
        return np.array([_spectrum(K, basis) for K in grams])

    @cached_property
    def spectra(self) -> Array:
        """Variances of eigenfunctions of f under its own prior, for every kind of function."""
        return np.asarray(self._shapes * self.spreads[:, None])

    @cached_property
    def missing(self) -> Array:
        """Variance of f that the features miss."""
        return np.asarray(np.maximum(self.spreads * (1.0 - self._shapes.sum(axis=1)), 0.0))

    def part(self, first: int, step: int) -> ManyFunctions:
        """Return every ``step``-th kind of function."""
        kept = slice(first, None, step)
        return replace(
            self,
            draws=self.draws[kept],
            spreads=self.spreads[kept],
            noise_variances=self.noise_variances[kept],
        )


@lru_cache(maxsize=16)
def plausible_many(columns: int, assumption: Assumption | None = None) -> ManyFunctions:
    """Return equally plausible kinds of functions."""
    told = assumption or Assumption(1.0)
    normal = normal_points(2 + OTHER_DRAWS + columns, FUNCTIONS)
    variances = (SCALE * np.exp(LOG_SD_OF_SCALE * normal[:, 0])) ** 2
    if told.variance is not None:
        variances = np.full(FUNCTIONS, told.variance)
    low, high = told.outcome.explainable
    explained = low + (high - low) * (np.argsort(np.argsort(normal[:, 1])) + 0.5) / FUNCTIONS
    spreads = explained * variances
    noises = told.noise_variances(lambda: spreads, variances - spreads)
    return ManyFunctions(normal[:, 2:], spreads, noises, columns)


def asked_many(options: Options, assumption: Assumption) -> ManyFunctions:
    """Return functions as a user's kernel has them, seen through a user's features."""
    usual = plausible_many(options.columns, assumption)
    kernel, features = options.own_kernel, asked_features(options)
    if kernel is None and features is None:
        return usual  # its spectra are kept
    return replace(usual, kernel=kernel, features=features)


def _grams(U: Array, draws: Array) -> Iterator[Array]:
    """Yield covariances of every kind of function: weights of the parts, lengths, relevances."""
    broad = first_metric(U)
    for draw in draws:
        sds = REFERENCE[1:] * np.exp(LOG_SD_OF_WEIGHT * draw[:4])
        relevance = np.exp(LOG_SD_OF_RELEVANCE * draw[5:])
        relevance *= np.sqrt(U.shape[1] / np.sum(relevance**2))
        root = broad * relevance * np.exp(-LOG_SD_OF_LENGTH * draw[4])
        kernels = zip(sds, parts(root, broad)[1:], strict=True)
        yield np.asarray(sum(sd**2 * kernel(U) for sd, kernel in kernels))


def _own_grams(kernel: Any, U: Array, draws: Array) -> Iterator[Array]:
    """Yield covariances of a user's kernel, with hyperparameters from its weak prior."""
    prior = KernelFamily.of([kernel], U.shape[1]).prior
    many = np.resize(draws.T, (len(prior.mean), len(draws))).T
    for theta in prior.mean + prior.sd * many:
        yield np.broadcast_to(batch_gram(kernel, theta[None], U, U)[0], (len(U), len(U)))


def _spectrum(K: Array, basis: Array | None) -> Array:
    """Return shares of the variance of f along its eigenfunctions within a basis, descending."""
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    within = centred if basis is None else basis.T @ centred @ basis
    spectrum = np.maximum(np.linalg.eigvalsh(within)[::-1], 0.0)
    whole = spectrum.sum() if basis is None else np.trace(centred)
    return np.asarray(spectrum / max(float(whole), TINY))


@dataclass(frozen=True)
class ManyOutlook:
    """What is expected to be unknown between the steps of a fit of many inputs, for every kind."""

    setting: Setting
    functions: ManyFunctions
    stage_share: float  # of all stages together
    unknown: Array
    clips: Array | None = None

    @classmethod
    def before(cls, setting: Setting, functions: ManyFunctions, stage_share: float) -> ManyOutlook:
        """Return the outlook before the first step: the prior."""
        return cls(setting, functions, stage_share, functions.spectra)

    def after_stage(self, share: float, fraction: float = 1.0) -> ManyOutlook:
        """Return the outlook after a stage of a fraction of the rows with a share of μ²."""
        setting, n = self.setting, fraction * self.setting.n
        noise = gram_noise(
            setting.mu * math.sqrt(share),
            1.0 / math.sqrt(setting.targets),
            setting.targets,
            setting.neighbours,
            setting.rows_per_unit,
        ).cross_std
        taus, clips = self._clips()
        gains = slope(clips, taus) / clips
        costs = (noise / (n * gains)) ** 2 / EFFICIENCY
        sampling = second_moment(clips, taus) / (gains * clips) ** 2
        sampling = sampling * self.stage_share / (n * share)
        left = [_left(*each) for each in zip(self.unknown, costs, sampling, strict=True)]
        return replace(self, unknown=np.array(left), clips=clips)

    def _clips(self) -> tuple[Array, Array]:
        """Return the residuals' sds, and where the next stage clips them."""
        # what the features miss acts as noise
        noise = self.functions.noise_variances + self.functions.missing
        taus = np.sqrt(noise + self.unknown.sum(axis=1))
        if not self.setting.outcome.is_clipped:
            return taus, np.full_like(taus, self.setting.outcome.largest_residual)
        if self.clips is None:
            return taus, FIRST_CLIP * taus
        setting = self.setting
        kappa = clip_kappa(setting.signal)
        return taus, np.minimum(self.clips, min(kappa, 6.0) * taus)

    def errors(self) -> Errors:
        """Return the root mean square error of f that is left, for every kind of function."""
        functions = self.functions
        return Errors(
            np.sqrt(self.unknown.sum(axis=1) + functions.missing),
            np.sqrt(functions.spreads),
            np.sqrt(functions.noise_variances),
            np.sqrt(functions.missing),
        )


def _left(unknown: Array, cost: float, sampling: float) -> Array:
    """Return the variances that a stage leaves of descending ones."""
    seen = unknown[:MOST_FEATURES]
    powers = squared_weights(max(cost, 1e-12) / np.maximum(seen, 1e-12))
    precision = powers / (cost + sampling * powers + 1e-12)
    left = unknown.copy()
    known = left[: len(powers)]
    left[: len(powers)] = known / (1.0 + known * precision)
    return np.sort(left)[::-1]
