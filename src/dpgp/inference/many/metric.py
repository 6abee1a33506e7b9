r"""The metric in which f is smooth: its average gradient outer product.

.. math:: M = E[\nabla f\nabla f^\top]/\mathrm{Var} f

under the posterior of f, mean and covariance, and over synthetic inputs. Radhakrishnan et al.
(2024), "Mechanism for feature learning in neural networks and backpropagation-free machine learning
models".
"""

from __future__ import annotations

import numpy as np

from dpgp.inference.many.belief import WeightBelief
from dpgp.inference.many.dictionary import Dictionary
from dpgp.types import Array

POINTS = 500  # synthetic rows that gradients are averaged over; by hand: accuracy against time
MOST_MOVED = 1024
"""Points that are moved along every input at once: gradients at all of them take gigabytes where
inputs are many."""
STEP = 0.01  # of a difference, in half-widths: far below any length, far above rounding
FLOOR = 1e-3
"""Smallest eigenvalue of a metric, relative to its largest. By hand: no input is given up for
good."""


def first_metric(synthetic: Array) -> Array:
    """Return the root of the metric before anything is known: the same in all directions."""
    D = synthetic.shape[1]
    sd = max(float(np.mean(synthetic.std(axis=0))), 0.05)
    return np.asarray(np.eye(D) / (0.7 * np.sqrt(D) * sd))


def gradient_metric(dictionary: Dictionary, belief: WeightBelief) -> Array:
    """Return M under a belief about f."""
    X = dictionary.synthetic[:POINTS]
    D = X.shape[1]
    few = max(1, MOST_MOVED // D)
    outer = sum(_outer(dictionary, belief, X[k : k + few]) for k in range(0, len(X), few))
    C = dictionary.second_moments
    values = dictionary.values @ belief.mean
    variance = float(np.var(values)) + float(np.sum((belief.root @ C) * belief.root))
    return np.asarray(outer / len(X) / max(variance, 1e-12))


def _outer(dictionary: Dictionary, belief: WeightBelief, X: Array) -> Array:
    """Return the sum of E[∇f ∇fᵀ] over some points."""
    gradients = _gradients(dictionary, X)
    points, D, d = gradients.shape
    mean = gradients @ belief.mean
    spread = (gradients.reshape(-1, d) @ belief.root.T).reshape(points, D, -1)
    outer = mean.T @ mean + np.einsum("pik,pjk->ij", spread, spread, optimize=True)
    return np.asarray(outer)


def metric_root(metric: Array) -> Array:
    """Return L with LLᵀ = M, small eigenvalues raised to the floor."""
    eigenvalues, Q = np.linalg.eigh(metric)
    return np.asarray(Q * np.sqrt(np.maximum(eigenvalues, FLOOR * eigenvalues[-1])))


def _gradients(dictionary: Dictionary, X: Array) -> Array:
    """Return ∂φ/∂x at points by central differences, (points, D, d)."""
    D, evaluate = X.shape[1], dictionary.features.evaluate
    steps = STEP * np.eye(D)
    ahead, behind = (evaluate((X[:, None] + s).reshape(-1, D)) for s in (steps, -steps))
    return np.asarray((ahead - behind).T.reshape(len(X), D, -1) / (2 * STEP))
