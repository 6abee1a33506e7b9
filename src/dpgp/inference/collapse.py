"""From beliefs given each θ to one posterior over all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import TINY
from dpgp.inference.evidence import Conditional, Measurement
from dpgp.inference.marginal import WeightedPoints
from dpgp.inference.moments import Moments
from dpgp.inference.posterior import DIGITS
from dpgp.inference.pull_back import positive_part

Array = NDArray[np.float64]


def collapse(points: WeightedPoints, conditional: Conditional, measurement: Measurement) -> Moments:
    """Return mean and covariance of w over θ, w̄ = Σω w_θ, V̄ = Σω(V_θ + (w_θ − w̄)(w_θ − w̄)ᵀ)."""
    omega, U = points.weights, measurement.U
    mean = omega @ conditional.mean
    centred = conditional.mean - mean
    V = np.tensordot(omega, conditional.covariance, axes=1) + (omega * centred.T) @ centred
    noise = np.sqrt(omega @ np.exp(2 * points.thetas[:, -1]))
    # w = Uw'
    # V_θ is a difference: with little noise its last digits may make it negative
    return Moments(np.asarray(U @ mean), positive_part(U @ V @ U.T), float(noise))


def relative_spread(
    points: WeightedPoints, conditional: Conditional, measurement: Measurement
) -> Array:
    """Return how much of f is unknown under each θ, tr(B(V_t + (w_t − w̄)(w_t − w̄)ᵀ)), of mean 1."""
    # UᵀBU = Λ: tr(Λ(V'_t + (w'_t − w̄')(w'_t − w̄')ᵀ))
    centred = conditional.mean - points.weights @ conditional.mean
    variances = np.diagonal(conditional.covariance, axis1=1, axis2=2)
    spread = np.maximum((centred**2 + variances) @ measurement.Lambda, TINY)
    return np.asarray(spread / (points.weights @ spread))


def thin(points: WeightedPoints, count: int) -> NDArray[np.intp]:
    """Return indices of ``count`` equally likely θ, by systematic resampling along the noise."""
    order = np.argsort(points.thetas[:, -1], kind="stable")
    positions = (np.arange(count) + 0.5) / count
    # equal weights have steps where positions are: rounded, both meet exactly on every processor
    steps = np.round(np.cumsum(points.weights[order]), DIGITS)
    index = np.searchsorted(steps, np.round(positions, DIGITS))
    return np.asarray(order[np.minimum(index, len(order) - 1)])
