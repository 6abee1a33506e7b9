"""Integration over hyperparameters: adaptive importance sampling on low-discrepancy points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtri

from dpgp.point_sets import halton
from dpgp.types import Array

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
