r"""Features of the next stage: eigenfunctions of what is still unknown, weighted by water-filling.

Under the synthetic inputs f has posterior variance :math:`e_j` along its j-th eigenfunction, and a
release of squared weight p measures it with noise variance c/p. Squared weights
:math:`\max(0, \theta - c/e_j)` that add up to one learn most: the norm is spent where something can
still be learned (Cover & Thomas 2006, 9.4).
"""

from __future__ import annotations

import numpy as np

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
