r"""The metric in which f is smooth: its average gradient outer product.

.. math:: M = E[\nabla f\nabla f^\top]/\mathrm{Var} f

under the posterior of f, mean and covariance, and over synthetic inputs. Radhakrishnan et al.
(2024), "Mechanism for feature learning in neural networks and backpropagation-free machine learning
models".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgp.inference.many.belief import WeightBelief
from dpgp.inference.many.dictionary import Dictionary

Array = NDArray[np.float64]

POINTS = 500
STEP = 0.01
FLOOR = 1e-3
"""Smallest eigenvalue of a metric, relative to its largest."""


def first_metric(synthetic: Array) -> Array:
    """Return the root of the metric before anything is known: the same in all directions."""
    D = synthetic.shape[1]
    sd = max(float(np.mean(synthetic.std(axis=0))), 0.05)
    return np.asarray(np.eye(D) / (0.7 * np.sqrt(D) * sd))


def gradient_metric(dictionary: Dictionary, belief: WeightBelief) -> Array:
    """Return M under a belief about f."""
    gradients = _gradients(dictionary)
    points, D, d = gradients.shape
    mean = gradients @ belief.mean
    spread = (gradients.reshape(-1, d) @ belief.root.T).reshape(points, D, -1)
    outer = mean.T @ mean + np.einsum("pik,pjk->ij", spread, spread, optimize=True)
    C = dictionary.second_moments
    values = dictionary.values @ belief.mean
    variance = float(np.var(values)) + float(np.sum((belief.root @ C) * belief.root))
    return np.asarray(outer / points / max(variance, 1e-12))


def metric_root(metric: Array) -> Array:
    """Return L with LLᵀ = M, small eigenvalues raised to the floor."""
    eigenvalues, Q = np.linalg.eigh(metric)
    return np.asarray(Q * np.sqrt(np.maximum(eigenvalues, FLOOR * eigenvalues[-1])))


def _gradients(dictionary: Dictionary) -> Array:
    """Return ∂φ/∂x at synthetic rows by central differences, (points, D, d)."""
    X, evaluate = dictionary.synthetic[:POINTS], dictionary.features.evaluate
    steps = STEP * np.eye(X.shape[1])
    return np.stack([(evaluate(X + e) - evaluate(X - e)).T / (2 * STEP) for e in steps], axis=1)
