r"""Posterior and evidence of a linear Gaussian model in normal equations.

With :math:`w \sim N(0, C)`, :math:`C = LL^\top` and records of precision J and linear term h:
:math:`S = I + L^\top JL`, :math:`\bar w = LS^{-1}L^\top h`, :math:`V = LS^{-1}L^\top` and
:math:`\log p = \tfrac12 h^\top Vh - \tfrac12\log|S|` up to a constant of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from dpgp.inference.many.dictionary import REFERENCE, Dictionary
from dpgp.inference.many.records import NormalEquations

Array = NDArray[np.float64]

LOG_STEP = 0.5
LOG_SD_OF_SDS = 0.7
"""Prior sd of the logarithm of every prior sd, around the reference."""

LOWEST, HIGHEST = 0.3, 1.35


@dataclass(frozen=True)
class WeightBelief:
    """Mean of the weights, and a root of their covariance, V = rootᵀ root."""

    mean: Array
    root: Array

    @property
    def covariance(self) -> Array:
        """The covariance of the weights."""
        return np.asarray(self.root.T @ self.root)


@dataclass(frozen=True)
class _Factors:
    L: Array
    S_root: Array
    half: Array  # S_root⁻¹ Lᵀh


def prior_root(dictionary: Dictionary) -> Array:
    """Return a root of the prior covariance before anything is known."""
    return np.asarray(lower_root(dictionary.prior(REFERENCE)).T)


def condition(equations: NormalEquations, C: Array) -> WeightBelief:
    """Return the posterior of the weights under the prior covariance C."""
    factors = _factorise(equations, C)
    root = solve_triangular(factors.S_root, factors.L.T, lower=True, check_finite=False)
    return WeightBelief(np.asarray(root.T @ factors.half), np.asarray(root))


def log_evidence(equations: NormalEquations, C: Array) -> float:
    """Return log p(records) under the prior covariance C, up to a constant of the data."""
    factors = _factorise(equations, C)
    return float(0.5 * factors.half @ factors.half - np.log(np.diag(factors.S_root)).sum())


def climb(equations: NormalEquations, dictionary: Dictionary, sds: Array) -> tuple[Array, float]:
    """Return prior sds after one sweep of steps that raise the evidence, and its value."""
    value = log_evidence(equations, dictionary.prior(sds)) + log_prior(sds)
    for part in range(len(sds)):
        for step in (LOG_STEP, -LOG_STEP):
            trial = sds.copy()
            trial[part] = np.clip(trial[part] * np.exp(step), LOWEST * REFERENCE[part], HIGHEST)
            other = log_evidence(equations, dictionary.prior(trial)) + log_prior(trial)
            if other > value:
                sds, value = trial, other
                break
    return sds, value


def log_prior(sds: Array) -> float:
    """Return the log density of the prior sds, up to a constant."""
    return float(-0.5 * np.sum((np.log(sds / REFERENCE) / LOG_SD_OF_SDS) ** 2))


def _factorise(equations: NormalEquations, C: Array) -> _Factors:
    L = lower_root(C)
    S = L.T @ equations.J @ L
    S[np.diag_indices(len(S))] += 1.0
    S_root = np.asarray(np.linalg.cholesky(S), dtype=np.float64)
    half = solve_triangular(S_root, L.T @ equations.h, lower=True, check_finite=False)
    return _Factors(L, S_root, half)


def lower_root(C: Array) -> Array:
    """Return the Cholesky root of a covariance that rounding may have made singular."""
    d = len(C)
    return np.asarray(np.linalg.cholesky(C + 1e-8 * np.trace(C) / d * np.eye(d)))
