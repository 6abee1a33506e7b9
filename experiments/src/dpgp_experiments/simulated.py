"""Simulated data and seeded releases: repeatable, and never to be mistaken for private ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from dpgp.privacy.noise import SeededNoiseWarning
from dpgp.types import Array

SIMULATION_NOTE = "simulated data, seeded noise"


class Sample(NamedTuple):
    """Inputs, noisy observations, and the function values behind them."""

    X: Array
    y: Array
    f: Array

    def part(self, rows: slice) -> Sample:
        """Return some of the rows."""
        return Sample(self.X[rows], self.y[rows], self.f[rows])


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return a generator of its own for every (seed, key), whatever ran before."""
    return np.random.default_rng([seed, *key])


@contextmanager
def simulation() -> Iterator[None]:
    """Allow seeded noise without a warning, and keep small matrices on one thread."""
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        warnings.simplefilter("ignore", SeededNoiseWarning)
        yield


def draw_function(kernel: Any, X: Array, nodes: Array, rng: np.random.Generator) -> Array:
    r"""Draw values at ``X`` of a Gaussian process that is known at dense ``nodes``.

    :math:`f(X) = K_{XN} K_{NN}^{-1} u` with :math:`u \sim N(0, K_{NN})`: what the nodes leave open
    is negligible when they are dense and reach beyond the data.
    """
    K = kernel(nodes) + 1e-10 * np.eye(len(nodes))  # below what anyone sees, for Cholesky
    L = cholesky(K, lower=True)
    u = L @ rng.standard_normal(len(nodes))
    return np.asarray(kernel(X, nodes) @ cho_solve((L, True), u))


def coverage(values: Array, mean: Array, std: Array, level: float) -> float:
    """Return the share of values within the central interval of a Gaussian prediction."""
    half_width = norm.ppf((1.0 + level) / 2.0) * std
    return float(np.mean(np.abs(values - mean) <= half_width))


def rmse(values: Array, mean: Array) -> float:
    """Return the root of the mean squared difference."""
    return float(np.sqrt(np.mean((values - mean) ** 2)))
