r"""Posterior and evidence of a linear Gaussian model in normal equations.

With :math:`w \sim N(0, C)`, :math:`C = LL^\top` and records of precision J and linear term h:
:math:`S = I + L^\top JL`, :math:`\bar w = LS^{-1}L^\top h` and :math:`V = LS^{-1}L^\top`.
The evidence is wanted for many C that are sums of the same parts. With :math:`J = RR^\top`,
:math:`h = Rg` and :math:`K = R^\top CR`, which is such a sum as well,

.. math:: \log p = \tfrac12 g^\top g - \tfrac12 g^\top(I + K)^{-1}g - \tfrac12\log|I + K|

up to a constant of the data.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from dpgp.inference.many.dictionary import REFERENCE, Dictionary
from dpgp.inference.many.records import NormalEquations
from dpgp.types import Array

LOG_STEP = 0.5
LOG_SD_OF_SDS = 0.7
"""Prior sd of the logarithm of every prior sd, around the reference."""

LOWEST, HIGHEST = 0.3, 1.35

JITTERS = 10.0 ** np.arange(-8.0, 1.0, 2.0)
"""Relative to the mean variance."""

SMALLEST_PRECISION = 1e-12
"""Directions that records say less about, relative to the best known one, count as unknown."""


@dataclass(frozen=True)
class WeightBelief:
    """Mean of the weights, and a root of their covariance, V = rootᵀ root."""

    mean: Array
    root: Array

    @property
    def covariance(self) -> Array:
        """The covariance of the weights."""
        return np.asarray(self.root.T @ self.root)


def prior_root(dictionary: Dictionary) -> Array:
    """Return a root of the prior covariance before anything is known."""
    return np.asarray(lower_root(dictionary.prior(REFERENCE)).T)


def condition(equations: NormalEquations, C: Array) -> WeightBelief:
    """Return the posterior of the weights under the prior covariance C."""
    L = lower_root(C)
    S_root = _root_of_one_plus(L.T @ equations.J @ L)
    half = solve_triangular(S_root, L.T @ equations.h, lower=True, check_finite=False)
    root = solve_triangular(S_root, L.T, lower=True, check_finite=False)
    return WeightBelief(np.asarray(root.T @ half), np.asarray(root))


class Evidence:
    """log p(records) of one dictionary as a function of prior sds and of the length."""

    def __init__(self, equations: NormalEquations, dictionary: Dictionary) -> None:
        precisions, Q = np.linalg.eigh(equations.J)
        known = precisions > SMALLEST_PRECISION * precisions[-1]
        roots = np.sqrt(precisions[known])
        self._R = Q[:, known] * roots
        self._g = Q[:, known].T @ equations.h / roots
        self._dictionary = dictionary
        self._parts = np.stack([self._seen(C) for C in dictionary.part_covariances])

    def __call__(self, sds: Array, length: float = 1.0) -> float:
        """Return the evidence, up to a constant of the data."""
        K = np.tensordot(sds**2, self._parts, axes=1)
        if length != 1.0:
            K += sds[-1] ** 2 * (
                self._seen(self._dictionary.smooth_covariance(length)) - self._parts[-1]
            )
        root = _root_of_one_plus(K)
        half = solve_triangular(root, self._g, lower=True, check_finite=False)
        explained = 0.5 * float(self._g @ self._g - half @ half)
        return explained - float(np.log(np.diag(root)).sum())

    def _seen(self, C: Array) -> Array:
        return np.asarray(self._R.T @ C @ self._R)


def climb(evidence: Evidence, sds: Array) -> tuple[Array, float]:
    """Return prior sds after one sweep of steps that raise the evidence, and its value."""
    value = evidence(sds) + log_prior(sds)
    for part in range(len(sds)):
        for step in (LOG_STEP, -LOG_STEP):
            trial = sds.copy()
            trial[part] = np.clip(trial[part] * np.exp(step), LOWEST * REFERENCE[part], HIGHEST)
            other = evidence(trial) + log_prior(trial)
            if other > value:
                sds, value = trial, other
                break
    return sds, value


def log_prior(sds: Array) -> float:
    """Return the log density of the prior sds, up to a constant."""
    return float(-0.5 * np.sum((np.log(sds / REFERENCE) / LOG_SD_OF_SDS) ** 2))


def _root_of_one_plus(K: Array) -> Array:
    """Return the Cholesky root of I + K."""
    return np.asarray(np.linalg.cholesky(K + np.eye(len(K))), dtype=np.float64)


def lower_root(C: Array) -> Array:
    """Return the Cholesky root of a covariance that rounding may have made singular.

    The jitter grows until it exceeds what rounding took: at most to the mean variance.
    """
    size = np.trace(C) / len(C) * np.eye(len(C))
    for jitter in JITTERS:
        with suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.cholesky(C + jitter * size))
    raise np.linalg.LinAlgError("a covariance is not positive even with a large jitter.")
