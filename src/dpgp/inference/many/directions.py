r"""Features of the next stage: eigenfunctions of what is still unknown, weighted by water-filling.

Under the synthetic inputs f has posterior variance :math:`e_j` along its j-th eigenfunction, and a
release of squared weight p measures it with noise variance c/p. Squared weights
:math:`\max(0, \theta - c/e_j)` that add up to one learn most: the norm is spent where something can
still be learned (Cover & Thomas 2006, 9.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.records import WeightBelief
from dpgp.types import Array


def water_filled(root: Array, second_moments: Array, noise_variance: float, most: int) -> Array:
    """Return coefficients on the features of a dictionary, one column a feature of the stage.

    ``root`` is a root of the covariance of the weights, V = rootᵀ root; at most ``most`` columns.
    """
    d = len(second_moments)
    C = second_moments + 1e-6 * np.trace(second_moments) / d * np.eye(d)
    eigenvalues, Q = np.linalg.eigh(root @ C @ root.T)
    e, Q = np.maximum(eigenvalues[::-1], 1e-12)[:most], Q[:, ::-1][:, :most]
    powers = squared_weights(noise_variance / e)
    N = len(powers)
    return np.asarray((root.T @ Q[:, :N]) * np.sqrt(powers / e[:N]))


def squared_weights(costs: Array) -> Array:
    """Return max(0, θ − c_j) of sum one for ascending costs c_j, where it is positive."""
    levels = (1.0 + np.cumsum(costs)) / np.arange(1, len(costs) + 1)
    N = max(1, int(np.count_nonzero(costs < levels)))
    return np.asarray(np.maximum(levels[N - 1] - costs[:N], 1e-9))


POINTS = 500
"""Synthetic rows at which gradients are taken: an average of so many is known to a twentieth."""

MOST_MOVED = 1024
"""Points that are moved along every input at once: gradients at all of them take gigabytes where
inputs are many."""

STEP = 0.01
"""Half of the distance of two points whose difference is a gradient: far below any length."""


def gradient_metric(dictionary: Dictionary, belief: WeightBelief, rough: Any = None) -> Array:
    r"""Return the metric in which f is smooth: its average gradient outer product.

    .. math:: M = E[\nabla f\nabla f^\top]/\mathrm{Var} f

    under a belief about f, or about f without a ``rough`` part of its kernel, mean and covariance,
    and over synthetic inputs. Radhakrishnan et al. (2024), "Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models".
    """
    X = dictionary.synthetic[:POINTS]
    D = X.shape[1]
    few = max(1, MOST_MOVED // D)
    outer = sum(_outer(dictionary, belief, X[k : k + few], rough) for k in range(0, len(X), few))
    C = dictionary.second_moments
    values = dictionary.values @ belief.mean
    variance = float(np.var(values)) + float(np.sum((belief.root @ C) * belief.root))
    return np.asarray(outer / len(X) / max(variance, 1e-12))


def _outer(dictionary: Dictionary, belief: WeightBelief, X: Array, rough: Any) -> Array:
    """Return the sum of E[∇f ∇fᵀ] over some points."""
    gradients = _gradients(dictionary, X, rough)
    points, D, d = gradients.shape
    mean = gradients @ belief.mean
    spread = (gradients.reshape(-1, d) @ belief.root.T).reshape(points, D, -1)
    outer = mean.T @ mean + np.einsum("pik,pjk->ij", spread, spread, optimize=True)
    return np.asarray(outer)


def _gradients(dictionary: Dictionary, X: Array, rough: Any) -> Array:
    """Return ∂φ/∂x at points by central differences, (points, D, d)."""
    D, steps = X.shape[1], STEP * np.eye(X.shape[1])
    moved = ((X[:, None] + s).reshape(-1, D) for s in (steps, -steps))
    ahead, behind = (dictionary.without(rough, U) for U in moved)
    return np.asarray((ahead - behind).T.reshape(len(X), D, -1) / (2 * STEP))
