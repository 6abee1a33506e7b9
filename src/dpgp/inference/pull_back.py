r"""Solvers that pull a noisy Gram matrix back to what rows in the public box could have produced.

Quadratic problems over weights :math:`p \ge 0, \sum p = n` of atoms of the box, and projections on
positive semi-definite matrices. Everything here is post-processing of a release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from dpgp.types import Array

# Limits of time, not of accuracy, which `minimise` certifies; set by hand
ACCELERATED_STEPS = 100  # a burst before the active set takes over
ACTIVE_SET_STEPS = 400  # a turn of it, where atoms are few
ACTIVE_SET_FLOPS = 4e9  # the same where they are many: seconds of one core
ROUNDS = 20  # turns of both
POWER_STEPS = 20  # each sharpens the bound of the largest eigenvalue; any number is valid

GAP, ROUNDING = 1e-7, 1e-13
"""Certified gap, relative to the squared distance and to ‖B̂‖²: below both noise and rounding."""

JITTER = 1e-11
"""Of the trace, in Newton steps: atoms that features do not tell apart make H singular."""


@dataclass(frozen=True)
class SimplexQuadratic:
    r""":math:`q(p) = \tfrac12 p^\top H p - h^\top p` on :math:`p \ge 0,\ \sum p = n`."""

    H: Array
    h: Array
    n: float

    def value(self, p: Array) -> float:
        """The objective at `p`."""
        return float(p @ (0.5 * (self.H @ p) - self.h))

    def gradient(self, p: Array) -> Array:
        """:math:`Hp - h`, that is :math:`\\phi_g^\\top(B - \\hat B)\\phi_g` without a ridge."""
        return self.H @ p - self.h

    def gap(self, p: Array) -> float:
        r"""Frank–Wolfe gap :math:`g^\top p - n\min g`, an upper bound of :math:`q(p) - \min q`."""
        g = self.gradient(p)
        return float(g @ p - self.n * g.min())


def positive_part(B_hat: Array) -> Array:
    r"""Nearest positive semi-definite matrix, :math:`\sum_i\max(\lambda_i, 0)q_iq_i^\top`."""
    even: Array = (B_hat + B_hat.T) / 2
    if _is_positive(even):
        return even
    eigenvalues, Q = np.linalg.eigh(even)
    positive: Array = (Q * np.maximum(eigenvalues, 0.0)) @ Q.T
    return (positive + positive.T) / 2


def _is_positive(even: Array) -> bool:
    """Whether a matrix has a Cholesky root, which takes a tenth of the time of its eigenvectors."""
    try:
        np.linalg.cholesky(even)
    except np.linalg.LinAlgError:
        return False
    return True


def feasible_part(B_hat: Array, n: float) -> Array:
    r"""Nearest positive semi-definite matrix of trace at most n: rows have norm at most one.

    The eigenvalues are projected on :math:`\lambda \ge 0, \sum\lambda \le n`.
    """
    eigenvalues, Q = np.linalg.eigh((B_hat + B_hat.T) / 2)
    positive = np.maximum(eigenvalues, 0.0)
    if positive.sum() > n:
        positive = project_to_simplex(eigenvalues, n)
    feasible: Array = (Q * positive) @ Q.T
    return feasible


def project_to_simplex(v: Array, total: float) -> Array:
    r"""Nearest :math:`p \ge 0` of sum `total`: :math:`\max(v - t, 0)`. Duchi et al. (2008)."""
    descending = np.sort(v)[::-1]
    # t_k = (Σ_{i≤k} v_(i) − total)/k, at the last k with v_(k) > t_k
    thresholds = (np.cumsum(descending) - total) / np.arange(1, len(v) + 1)
    kept = np.flatnonzero(descending > thresholds)[-1]
    projected: Array = np.maximum(v - thresholds[kept], 0.0)
    return projected


def minimise(problem: SimplexQuadratic, floor: float, start: Array) -> Array:
    r"""Minimiser of `problem`, to a certified gap of `GAP` times the squared distance.

    Accelerated projected gradient comes near the face, an active-set method finishes on it; they
    take turns where one pass is not enough. `floor` is :math:`\tfrac12\|\hat B\|^2`, so that
    :math:`q(p) +` `floor` is half the squared distance.
    Beck & Teboulle (2009); Lawson & Hanson (1974), ch. 23.
    """

    def solved(p: Array) -> bool:
        distance = max(problem.value(p) + floor, 0.0)
        return problem.gap(p) <= GAP * distance + ROUNDING * floor

    if solved(start):  # as in a forecast, whose inputs have the density that is expected
        return start
    p, step = start, 1.0 / _largest_eigenvalue(problem.H)
    for _ in range(ROUNDS):
        p = _active_set(problem, _accelerated(problem, p, step), solved)
        if solved(p):
            break
    return p


def _accelerated(problem: SimplexQuadratic, p: Array, step: float) -> Array:
    """A burst of accelerated projected gradient, restarted where momentum points uphill."""
    ahead, momentum = p, 1.0
    for _ in range(ACCELERATED_STEPS):
        after = project_to_simplex(ahead - step * problem.gradient(ahead), problem.n)
        if (ahead - after) @ (after - p) > 0:
            ahead, momentum = p, 1.0
            after = project_to_simplex(p - step * problem.gradient(p), problem.n)
        # t' = ½(1 + √(1 + 4t²)),  ahead = p' + (t − 1)/t' (p' − p)
        grown = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2))
        ahead, p, momentum = after + (momentum - 1) / grown * (after - p), after, grown
    return p


def _active_set(problem: SimplexQuadratic, p: Array, solved: Callable[[Array], bool]) -> Array:
    """Newton steps on the support: a cut step drops an atom, a full one admits the most missed."""
    admitted = np.zeros(len(p), dtype=bool)
    affordable = int(ACTIVE_SET_FLOPS / np.count_nonzero(p) ** 3)
    for _ in range(min(max(affordable, 2), ACTIVE_SET_STEPS)):
        g = problem.gradient(p)
        free = np.flatnonzero((p > 0) | admitted)
        moved, full = _cut(p, free, _newton_step(problem.H[np.ix_(free, free)], g[free]), problem.n)
        if problem.value(moved) > problem.value(p):
            break
        p = moved
        admitted[:] = False
        if full:
            if solved(p):
                break
            admitted[np.argmin(problem.gradient(p))] = True
    return p


def _newton_step(H: Array, g: Array) -> Array:
    r"""Minimiser of :math:`\tfrac12 s^\top Hs + g^\top s` of sum 0; `H` may be singular."""
    jitter = JITTER * float(np.trace(H))
    factor = cho_factor(H + jitter * np.eye(len(H)), lower=True)
    # s = −H⁻¹g − λH⁻¹1 with λ such that Σs = 0
    toward, level = cho_solve(factor, np.column_stack([-g, np.ones(len(g))])).T
    s: Array = toward - toward.sum() / level.sum() * level
    return s


def _cut(p: Array, free: NDArray[np.intp], s: Array, n: float) -> tuple[Array, bool]:
    """`p` plus the longest part of `s` that keeps weights non-negative, and whether it was all."""
    falling = s < 0
    ratios = np.where(falling, p[free] / np.where(falling, -s, 1.0), np.inf)
    length = min(1.0, float(ratios.min()))
    moved = p.copy()
    moved[free] = np.where(ratios <= length, 0.0, np.maximum(p[free] + length * s, 0.0))
    return moved * (n / moved.sum()), length == 1.0


def _largest_eigenvalue(H: Array) -> float:
    """Upper bound of the spectral norm of a non-negative matrix, sharpened by power steps."""
    x = np.ones(len(H))
    for _ in range(POWER_STEPS):
        x = H @ x
        x /= x.max()
    # Collatz–Wielandt: max_i (Hx)_i / x_i bounds the Perron root for any x > 0
    return float(np.max((H @ x) / x))
