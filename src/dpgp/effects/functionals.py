r"""Weighted sums of values of f, averaged over rows: exact, as they are linear in f.

For weights c of all points, :math:`f = \phi^\top w + r` and :math:`\psi = \sum_j c_j\phi(x_j)`, the
mean is :math:`\psi^\top\bar w`, the variance :math:`\psi^\top V\psi + c^\top R c`, R the covariance
that the features miss. That the rows of an average are a sample adds the variance of a sample mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpgp.arithmetic import NUMPY
from dpgp.effects.input_model import sample_size
from dpgp.inference.posterior import Posterior, mixture_half_width
from dpgp.kernels.formula import mean_gram, specify
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


POINTS_AT_ONCE = 4096
"""Points whose features are in memory at the same time, about."""

MISSING_POINTS = 128
"""Points among which covariances are computed at the same time, at least one sum's."""


class Averages(NamedTuple):
    """Averages over rows of Σ_j c_j f(x_j), at raw inputs (averages, rows, terms, D)."""

    points: Array
    weights: Array

    @property
    def flat_points(self) -> Array:
        """All points of every average, (averages, rows · terms, D)."""
        return self.points.reshape(len(self.points), -1, self.points.shape[-1])

    @property
    def flat_weights(self) -> Array:
        """Their weights."""
        rows = self.points.shape[1]
        return np.asarray(np.tile(self.weights, rows) / rows)


class Estimates(NamedTuple):
    """Mean, standard deviation and ends of an interval, in units of the target."""

    mean: Array
    std: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class MissedCovariance:
    """The covariance R of what the features of a posterior miss, averaged over θ."""

    posterior: Posterior

    @cached_property
    def _tree(self) -> dict[str, Any]:
        return specify(self.posterior.kernel, self.posterior.thetas[:, :-1])

    @cached_property
    def _K_zz(self) -> Array:
        return self._gram(self.posterior.features.anchors, self.posterior.features.anchors)

    def variances(self, U: Array, weights: Array) -> Array:
        """Return cᵀRc of sums over unit inputs, (sums, points, D)."""
        size = max(1, MISSING_POINTS // U.shape[1])
        return np.concatenate([self._variances(part, weights) for part in _parts(U, size)])

    def covariance(self, U: Array) -> Array:
        """Return R between the rows of ``U``."""
        features = self.posterior.features
        a = features.evaluate(U).T @ features.projection
        cross = self._gram(U, features.anchors) @ a.T
        return np.asarray(self._gram(U, U) - cross - cross.T + a @ self._K_zz @ a.T)

    def _variances(self, U: Array, weights: Array) -> Array:
        features, flat = self.posterior.features, U.reshape(-1, U.shape[-1])
        a = summed(features.evaluate(flat), weights).T @ features.projection
        k_z = summed(self._gram(features.anchors, flat), weights).T
        K = summed(summed(self._gram(flat, flat), weights).T, weights)
        # cᵀKc − 2cᵀK_xz a + aᵀK_zz a
        missing = np.diag(K) - np.einsum("qz,qz->q", 2.0 * k_z - a @ self._K_zz, a)
        return np.asarray(np.maximum(missing, 0.0))

    def _gram(self, X: Array, Y: Array) -> Array:
        return np.asarray(mean_gram(self._tree, X, Y, NUMPY))


def estimate(
    model: FittedModel, target: int, asked: Averages, thinned: Averages, coverage: float
) -> Estimates:
    """Return mean, sd and interval of averages; what features miss is taken from thinned ones."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"`coverage` must lie strictly between 0 and 1, got {coverage}.")
    box, posterior = model.options.target_box, model.posteriors[target]
    psi, sampling = _features_and_sampling(model, posterior, asked)
    known = np.maximum(np.einsum("dq,dq->q", posterior.moments.V @ psi, psi), 0.0)
    U = _unit(model, thinned.flat_points)
    missing = MissedCovariance(posterior).variances(U, thinned.flat_weights)
    scale = float(box.half_width[target])
    std = scale * np.sqrt(known + missing + sampling)
    mean = box.centre[target] * asked.weights.sum() + scale * (posterior.moments.w @ psi)
    half_width = _factor(posterior, coverage) * std
    return Estimates(mean, std, mean - half_width, mean + half_width)


def _factor(posterior: Posterior, coverage: float) -> float:
    """Return how many sds an interval reaches to each side, over draws of θ."""
    scales = np.sqrt(posterior.spreads / posterior.spreads.mean())
    return float(mixture_half_width(scales[None], coverage)[0])


def _features_and_sampling(
    model: FittedModel, posterior: Posterior, asked: Averages
) -> tuple[Array, Array]:
    """Return ψ of every average as columns, and the variance that a sample of rows gives it."""
    points, weights = asked.flat_points, asked.flat_weights
    psi, sampling = [], []
    for part in _parts(points, max(1, POINTS_AT_ONCE // points.shape[1])):
        U = _unit(model, part)
        phi = posterior.features.evaluate(U.reshape(-1, U.shape[-1]))
        psi.append(summed(phi, weights))
        rows = (posterior.moments.w @ phi).reshape(len(part), asked.points.shape[1], -1)
        sampling.append((rows @ asked.weights).var(axis=1))
    return np.concatenate(psi, axis=1), np.concatenate(sampling) / sample_size(model)


def summed(values: Array, weights: Array) -> Array:
    """Return weighted sums of columns, as many at a time as there are weights."""
    return np.asarray(values.reshape(len(values), -1, len(weights)) @ weights)


def _unit(model: FittedModel, points: Array) -> Array:
    """Return raw inputs of any shape (…, D) clipped, scaled, warped and as indicators."""
    U = model.inputs(points.reshape(-1, points.shape[-1]))
    return np.asarray(U.reshape(*points.shape[:-1], U.shape[1]))


def _parts(array: Array, size: int) -> Iterator[Array]:
    return (array[start : start + size] for start in range(0, len(array), size))
