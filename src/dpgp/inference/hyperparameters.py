"""Default kernel, and the prior of hyperparameters and noise, in units of the public bounds.

Priors of kernels' parameters are theirs, :mod:`dpgp.kernels.parameters`, and that of the noise is
the outcome's, :mod:`dpgp.outcomes`.

Integration over hyperparameters: adaptive importance sampling on low-discrepancy points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri

from dpgp.inference.posterior import DIGITS
from dpgp.kernels.known import as_kernel
from dpgp.kernels.linear import constant, straight
from dpgp.kernels.parameters import MEDIAN_DEVIATION, MEDIAN_LENGTH
from dpgp.kernels.stationary import RBF
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.point_sets import halton
from dpgp.types import Array

LEVEL_SD = 0.5
"""Sd of the constant, in half-widths: within bounds at two of them. Not learned, from one value."""


def default_kernel(columns: int) -> Any:
    """A smooth function around a line around a constant: v·RBF + 0.5² + v'·⟨x, x'⟩."""
    smooth = constant(MEDIAN_DEVIATION**2) * RBF(np.full(columns, MEDIAN_LENGTH))
    line = constant(MEDIAN_DEVIATION**2) * straight()
    return smooth + constant(LEVEL_SD**2, fixed=True) + line


@dataclass(frozen=True)
class HyperPrior:
    """Independent Gaussians on θ = (kernel.theta, log σ)."""

    mean: Array
    sd: Array

    def log_density(self, thetas: Array) -> Array:
        """Return the log density of every row of ``thetas``."""
        z = (thetas - self.mean) / self.sd
        normaliser = 0.5 * len(self.sd) * math.log(2 * math.pi) + np.sum(np.log(self.sd))
        return np.asarray(-0.5 * np.sum(z * z, axis=1) - normaliser)


def hyper_prior(kernel: Any, columns: int, outcome: OutcomeKind = NUMBER) -> HyperPrior:
    """Return the weak prior of a kernel's hyperparameters and of the noise."""
    priors = [*as_kernel(kernel).log_priors(columns), outcome.log_noise]
    means, sds = zip(*priors, strict=True)
    return HyperPrior(np.array(means), np.array(sds))


# How a proposal is fitted, set by hand: a wider one wastes points, a narrower one misses mass.
INFLATION = 1.5  # of the covariance: importance sampling needs tails wider than the target's
POINTS_A_PARAMETER = 4.0  # effective points that a covariance wants, for every parameter
TEMPERING, MOST_TEMPERINGS = 0.7, 30  # 0.7³⁰ = 2·10⁻⁵: any weights are nearly equal then
FLOOR = 1e-4  # of the widest covariance: a proposal of one point is still a distribution


@dataclass(frozen=True)
class Proposal:
    """A Gaussian over θ."""

    mean: Array
    covariance: Array

    def points(self, count: int, skip: int) -> Array:
        """Return low-discrepancy points, the same at every call."""
        # θ = mean + Lz, LLᵀ = covariance
        normal = ndtri(halton(len(self.mean), count, 1 + skip))
        return np.asarray(self.mean + normal @ np.linalg.cholesky(self.covariance).T)

    def log_density(self, thetas: Array) -> Array:
        """Return the log density of every row of ``thetas``."""
        L = np.linalg.cholesky(self.covariance)
        z = np.linalg.solve(L, (thetas - self.mean).T)
        normaliser = np.log(np.diag(L)).sum() + 0.5 * len(L) * np.log(2 * np.pi)
        return np.asarray(-0.5 * np.sum(z * z, axis=0) - normaliser)


@dataclass(frozen=True)
class WeightedPoints:
    """Points θ_t with normalised weights, and the log of the integral they estimate."""

    thetas: Array
    weights: Array
    log_integral: float


def integrate(
    log_density: Callable[[Array], Array], proposals: Sequence[Proposal], count: int, rounds: int
) -> tuple[WeightedPoints, Proposal]:
    """Weigh points of all proposals against their mixture; a round adds a proposal fitted so far.

    Points of the widest proposal stay in, so that a narrow fit cannot lose a mode that was seen.
    """
    used = list(proposals)
    thetas = [proposal.points(count, r * count) for r, proposal in enumerate(used)]
    values = [log_density(points) for points in thetas]
    for _ in range(rounds):
        fitted = _fit(_weigh(thetas, values, used), used[0])
        thetas.append(fitted.points(count, len(used) * count))
        values.append(log_density(thetas[-1]))
        used.append(fitted)
    points = _weigh(thetas, values, used)
    return points, _fit(points, used[0])


def _weigh(
    thetas: Sequence[Array], values: Sequence[Array], proposals: Sequence[Proposal]
) -> WeightedPoints:
    """w_t ∝ p(θ_t) / mean_r q_r(θ_t)."""
    T = np.concatenate(thetas)
    mixture = logsumexp([q.log_density(T) for q in proposals], axis=0) - np.log(len(proposals))
    # log ∫p ≈ log mean_t p(θ_t)/q(θ_t)
    log_weights = np.nan_to_num(np.concatenate(values), nan=-np.inf) - mixture
    total = float(logsumexp(log_weights))
    return WeightedPoints(T, np.exp(log_weights - total), total - float(np.log(len(T))))


def _fit(points: WeightedPoints, widest: Proposal) -> Proposal:
    """Weighted mean and inflated covariance, weights tempered until they count enough points."""
    weights = points.weights
    for _ in range(MOST_TEMPERINGS):
        # effective number of points 1/Σw²
        if 1 / np.sum(weights**2) >= POINTS_A_PARAMETER * points.thetas.shape[1]:
            break
        weights = weights**TEMPERING
        weights = weights / weights.sum()
    mean = weights @ points.thetas
    centred = points.thetas - mean
    covariance = INFLATION * (weights * centred.T) @ centred + FLOOR * widest.covariance
    return Proposal(mean, np.asarray(covariance))


def thin(points: WeightedPoints, count: int) -> NDArray[np.intp]:
    """Return indices of ``count`` equally likely θ, by systematic resampling along the noise."""
    order = np.argsort(points.thetas[:, -1], kind="stable")
    positions = (np.arange(count) + 0.5) / count
    # equal weights have steps where positions are: rounded, both meet exactly on every processor
    steps = np.round(np.cumsum(points.weights[order]), DIGITS)
    index = np.searchsorted(steps, np.round(positions, DIGITS))
    return np.asarray(order[np.minimum(index, len(order) - 1)])
