r"""What every stage measured, as linear measurements of f that any later dictionary can read.

A stage released :math:`\hat A = \sum\phi\,\mathrm{clip}(t - f_0(x), R)/R` and, free, a noisy
:math:`\hat B = \sum\phi\phi^\top`. Corrected for clipping, :math:`a = \hat A R/(ng)` is a noisy
:math:`E[\phi(f - f_0)]`. The expectation is taken over synthetic rows, corrected by those
directions in which the noisy B differs from theirs by more than its noise.

In the weights of a dictionary all records together are normal equations of a linear Gaussian model,
which has a posterior and an evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from dpgp.arithmetic import TINY
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.families import Family
from dpgp.types import Array

RIDGE = 0.05
"""Ridge of the correction, relative to the mean eigenvalue of B; by hand: directions that hardly
any row has shall not be corrected most."""


@dataclass(frozen=True)
class Record:
    """H(f − f₀) = a + noise: ``operator`` is H on values at the synthetic rows.

    ``sampling`` is the part of the variance that comes from the rows, a ``fraction`` of them all.
    """

    operator: Array  # (N, rows)
    a: Array
    variance: Array
    centre: Array  # f₀ at the synthetic rows
    sampling: Array | float = 0.0
    fraction: float = 1.0

    @property
    def asked_again(self) -> Record:
        """What a part of the rows says where other records are about all of them.

        The sampling error of a row counts once, nearly all of it where most is known: that of the
        part has the weight fraction² from here on.
        """
        return replace(
            self,
            variance=self.variance + (self.fraction**-2.0 - 1.0) * self.sampling,
            sampling=self.fraction**-2.0 * self.sampling,
        )


def gram_correction(B: Array, noisy: Array, noise: float) -> Array:
    r"""Return :math:`\tilde BB^{-1}`, where B̃ is B moved towards the noisy one above the noise.

    A symmetric matrix of noise has no eigenvalue beyond :math:`2\sigma\sqrt k`; what stands out is
    shrunk as a spike (Benaych-Georges & Nadakuditi 2011). ``noise`` is the sd off the diagonal. The
    noisy matrix is about the first k features, B about all N.
    """
    N, k = len(B), len(noisy)
    edge = 2.0 * noise * np.sqrt(k)
    gaps, Q = np.linalg.eigh(noisy - B[:k, :k])
    root = np.sqrt(np.maximum(gaps**2 - edge**2, 0.0))
    spikes = np.where(np.abs(gaps) > edge, (gaps + np.sign(gaps) * root) / 2, 0.0)
    if not spikes.any():
        return np.eye(N)
    seen = B.copy()
    seen[:k, :k] += (Q * spikes) @ Q.T
    eigenvalues, basis = np.linalg.eigh(seen)
    moved = (basis * np.maximum(eigenvalues, 0.0)) @ basis.T
    ridge = RIDGE * np.trace(B) / N * np.eye(N)
    return np.asarray(np.eye(N) + np.linalg.solve(B + ridge, moved - B).T)


class StageOperator(NamedTuple):
    """What a stage sees of f: H on values at the synthetic rows, along the eigenvectors Q of B.

    There the sampling errors of a record are independent, as large as the mean ``squares``.
    """

    H: Array
    Q: Array
    squares: Array


def stage_operator(phi: Array, noisy: Array, noise_std: float, n: float) -> StageOperator:
    r"""Return :math:`H = Q^\top\tilde BB^{-1}\Phi^\top/m` of features Φ at m synthetic rows.

    ``noisy`` is the released sum over n rows, ``noise_std`` the sd of the noise on its diagonal.
    """
    B = np.asarray(phi.T @ phi / len(phi))
    correction = gram_correction(B, noisy / n, noise_std / np.sqrt(2.0) / n)
    squares, Q = np.linalg.eigh(B)
    H = Q.T @ np.asarray(correction @ phi.T / len(phi))
    return StageOperator(np.asarray(H), Q, np.maximum(squares, 0.0))


@dataclass(frozen=True)
class NormalEquations:
    """Precision and linear term of all records in the weights of one dictionary."""

    J: Array
    h: Array

    def with_more(self, other: NormalEquations) -> NormalEquations:
        """Return those of both lists of records."""
        return NormalEquations(self.J + other.J, self.h + other.h)


def read_records(
    records: Sequence[Record], dictionary: Dictionary, base: Array, centre: Array, doubt: float
) -> NormalEquations:
    """Read all records as measurements of w, f = base + φᵀw.

    A record is moved to the present centre by the synthetic B, whose error costs ``doubt``² of the
    mean square of the move.
    """
    rows, targets = [], []
    for record in records:
        move = record.operator @ (centre - record.centre)
        sd = np.sqrt(record.variance + doubt**2 * float(np.mean(move**2)))
        rows.append(dictionary.seen_by(record.operator) / sd[:, None])
        start = record.operator @ (record.centre - base)
        targets.append((record.a + start) / sd)
    H = np.vstack(rows)
    return NormalEquations(np.asarray(H.T @ H), np.asarray(H.T @ np.concatenate(targets)))


LOG_STEP = 0.5
"""Step of the logarithm of a hyperparameter; by hand: stages are few, and the end integrates."""

JITTERS = 10.0 ** np.arange(-8.0, 1.0, 2.0)
"""Relative to the mean variance, tried in turn: the first is above any rounding of a sum."""

SMALLEST_PRECISION = 1e-12
"""What every direction is known by, relative to all together: more than rounding makes of nothing,
and less than any evidence can tell."""


@dataclass(frozen=True)
class WeightBelief:
    """Mean of the weights, and a root of their covariance, V = rootᵀ root."""

    mean: Array
    root: Array

    @property
    def covariance(self) -> Array:
        """The covariance of the weights."""
        return np.asarray(self.root.T @ self.root)


def condition(equations: NormalEquations, C: Array) -> WeightBelief:
    r"""Return the posterior of the weights under the prior covariance :math:`C = LL^\top`.

    :math:`S = I + L^\top JL`, :math:`\bar w = LS^{-1}L^\top h`, :math:`V = LS^{-1}L^\top`.
    """
    L = lower_root(C)
    S_root = _root_of_one_plus(L.T @ equations.J @ L)
    half = solve_triangular(S_root, L.T @ equations.h, lower=True, check_finite=False)
    root = solve_triangular(S_root, L.T, lower=True, check_finite=False)
    return WeightBelief(np.asarray(root.T @ half), np.asarray(root))


class Evidence:
    r"""log p(records) of one dictionary as a function of θ, for a target of this scale.

    It is wanted for many C. With :math:`J = RR^\top`, :math:`h = Rg` and :math:`K = R^\top CR`,

    .. math:: \log p = \tfrac12 g^\top g - \tfrac12 g^\top(I + K)^{-1}g - \tfrac12\log|I + K|

    up to a constant of the data. R is thin: what a family takes for unseen is left out.
    """

    def __init__(self, equations: NormalEquations, dictionary: Dictionary, scale: float) -> None:
        J = equations.J.copy()
        J[np.diag_indices(len(J))] += max(SMALLEST_PRECISION * np.trace(J), TINY)
        R, first = thin_root(J, dictionary.family.unseen)
        self._g = solve_triangular(R[first], equations.h[first], lower=True, check_finite=False)
        self._priors = dictionary.priors.along(R)
        self._scale = scale

    def __call__(self, theta: Array) -> float:
        """Return the evidence, up to a constant of the data."""
        root = _root_of_one_plus(self._priors.at(theta, self._scale))
        half = solve_triangular(root, self._g, lower=True, check_finite=False)
        explained = 0.5 * float(self._g @ self._g - half @ half)
        return explained - float(np.log(np.diag(root)).sum())


def thin_root(J: Array, unseen: float) -> tuple[Array, NDArray[np.intp]]:
    r"""Return R with :math:`J = RR^\top + \Delta`, and its rows that are a triangle.

    A Cholesky root with pivots, as long as one is above ``unseen``: Δ is positive semi-definite,
    and nothing on its diagonal is larger. So :math:`\log|I + JC|` is off by at most
    :math:`\mathrm{tr}(\Delta C)`. Hammarling, Higham & Lucas (2007), "LAPACK-style codes for
    pivoted Cholesky factorizations".
    """
    lower, order, rank, _ = dpstrf(J, tol=unseen or -1.0, lower=1)
    R, places = np.zeros((len(J), rank)), order - 1
    R[places] = np.tril(lower)[:, :rank]
    return R, places[:rank]


def climb(evidence: Evidence, family: Family, theta: Array) -> tuple[Array, float]:
    """Return θ after one sweep of steps that raise the evidence, and its value."""
    value = evidence(theta) + family.log_prior(theta)
    for part in range(family.climbed):
        for step in (LOG_STEP, -LOG_STEP):
            trial = theta.copy()
            trial[part] += step
            trial = family.within(trial)
            other = evidence(trial) + family.log_prior(trial)
            if other > value:
                theta, value = trial, other
                break
    return theta, value


def _root_of_one_plus(K: Array) -> Array:
    """Return the Cholesky root of I + K, in the memory of K."""
    K[np.diag_indices(len(K))] += 1.0
    return np.asarray(np.linalg.cholesky(K), dtype=np.float64)


def common_root(roots: Sequence[Array]) -> Array:
    """Return a root of the average of covariances that have these roots."""
    if len(roots) == 1:
        return roots[0]
    average = np.mean([root.T @ root for root in roots], axis=0)
    return np.asarray(lower_root(average).T)


def lower_root(C: Array) -> Array:
    """Return the Cholesky root of a covariance that rounding may have made singular.

    The jitter grows until it exceeds what rounding took: at most to the mean variance.
    """
    size = np.trace(C) / len(C) * np.eye(len(C))
    for jitter in JITTERS:
        with suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.cholesky(C + jitter * size))
    raise np.linalg.LinAlgError("a covariance is not positive even with a large jitter.")
