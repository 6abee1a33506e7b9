r"""Do the releases tell of one function? A test by place, and the size of what lies between them.

Given all others, :math:`w \sim N(\bar w, V)`, a release of normal equations :math:`(J, h)` has

.. math:: e = h - J\bar w \sim N(0, J + JVJ)

if it is about the same function. If it is about :math:`f + d`, :math:`d = \phi^\top\delta`,
:math:`\delta \sim N(0, C)`, then :math:`\hat d(x) = \phi(x)^\top CJ\,(J + JVJ + JCJ)^{-1}e` is the
best guess of the difference, and :math:`z(x)` is it over its sd without a difference: a Gaussian
process of variance one, whose largest value over all places is compared with that of draws of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpgp.inference.many.records import NormalEquations, condition, lower_root
from dpgp.pooling.along import Along, along_the_largest
from dpgp.pooling.curve import PooledFit, PooledState, TargetState
from dpgp.pooling.reading import ReadRecords
from dpgp.types import Array

LEVEL = 0.01
"""Probability that any release is told apart though all are about one function. By hand: whoever
pools ten tables of one study shall seldom be stopped."""

DRAWS = 4096
"""Draws of the largest z: a level of 0.01 is known to a sixth."""

PLACES = 256  # at which releases are compared, at most
LIKELY_AXES = 1e-10  # eigenvalues of a correlation below this are rounding

TAUS = np.array([0.0, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0])
"""Sds of a difference between releases, relative to the prior sd of f, and all but zero equally
likely before the records are seen; zero is as likely as all others together. By hand."""


@dataclass(frozen=True)
class Difference:
    """How a release differs from all others, where that stands out most.

    ``z`` is the difference over its sd if there were none, ``p_value`` how likely a larger one is
    anywhere, over all places, releases and targets. ``difference`` and ``sd`` are in units of the
    target, and so are those ``along`` the input that it changes with most.
    """

    release: str
    target: str
    z: float
    p_value: float
    difference: float
    sd: float
    place: Mapping[str, Any]
    along: Along
    against: str = "the others"

    @property
    def is_real(self) -> bool:
        """Whether it is more than noise."""
        return self.p_value < LEVEL

    @property
    def words(self) -> str:
        """The difference as a sentence."""
        where = ", ".join(f"{name} = {_shown(value)}" for name, value in self.place.items())
        more = "higher" if self.difference > 0 else "lower"
        doubt = "beyond noise" if self.is_real else "within noise"
        return (
            f"{self.release} has {self.target} {abs(self.difference):.3g} ± {self.sd:.2g} {more} "
            f"than {self.against} at {where} (z = {self.z:.1f}, p = {self.p_value:.2g}; {doubt})"
        )


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class ReleaseAgreement:
    """What was found: every release against the others, and the sd between releases.

    ``between`` has one sd a target in its units, the most likely one; 0 where none is needed.
    """

    differences: tuple[Difference, ...]
    between: tuple[float, ...]

    @property
    def odd(self) -> tuple[Difference, ...]:
        """Releases that differ from the others by more than noise, one difference each."""
        return tuple(each for each in self.differences if each.is_real)

    @property
    def told(self) -> tuple[Difference, ...]:
        """Those that are odd, or else the one that stands out most."""
        return self.odd or (max(self.differences, key=lambda each: abs(each.z)),)

    @property
    def words(self) -> str:
        """All of it in sentences."""
        told = "; ".join(each.words for each in self.told)
        return f"{told}." if self.odd else f"The releases agree: most of all, {told}."


def compare(fit: PooledFit, state: PooledState, names: Sequence[str]) -> ReleaseAgreement:
    """Compare every release with the others, the oddest one first, until those left agree."""
    found: list[Difference] = []
    for target, told in enumerate(state.targets):
        left = list(range(len(fit.models)))
        L = lower_root(_pairs(fit, state)[target][1])
        while len(left) > 1:
            tested = [_difference(fit, state, target, told, k, left, names) for k in left]
            if len(left) == 2 or not any(each.is_real for each in tested):
                found += tested if len(left) > 2 else tested[-1:]
                break
            odd = _oddest([told.readings[k] for k in left], L)
            if not tested[odd].is_real:
                odd = max(range(len(left)), key=lambda i: abs(tested[i].z))
            found.append(tested[odd])
            left.pop(odd)
    taus = map(most_likely, _pairs(fit, state))
    between = [tau * _prior_sd(fit, state, k) if tau else 0.0 for k, tau in enumerate(taus)]
    return ReleaseAgreement(tuple(found), tuple(between))


def _oddest(readings: Sequence[ReadRecords], L: Array) -> int:
    """Return the release without which the others agree best: two functions, p(it) p(others)."""

    def apart(k: int) -> float:
        first, *others = [reading for i, reading in enumerate(readings) if i != k]
        return _log_evidence(readings[k], L) + _log_evidence(sum(others, start=first), L)

    return max(range(len(readings)), key=apart)


def _prior_sd(fit: PooledFit, state: PooledState, target: int) -> float:
    """Return the prior sd of f over the places, in units of the target."""
    _, C = _pairs(fit, state)[target]
    unit = fit.models[0].options.functions.half_width[target] * fit.locations[target].scale
    return float(unit * np.sqrt(np.sum(C * state.dictionary.second_moments)))


def _pairs(fit: PooledFit, state: PooledState) -> list[tuple[TargetState, Array]]:
    return [
        (told, state.dictionary.priors.at(told.theta, location.scale))
        for told, location in zip(state.targets, fit.locations, strict=True)
    ]


def _difference(
    fit: PooledFit,
    state: PooledState,
    target: int,
    told: TargetState,
    release: int,
    left: Sequence[int],
    names: Sequence[str],
) -> Difference:
    """Compare one release with the others that are left."""
    dictionary, scale = state.dictionary, fit.locations[target].scale
    first, *others = [told.readings[k] for k in left if k != release]
    C = dictionary.priors.at(told.theta, scale)
    known = condition(sum(others, start=first).equations, C)
    J, h = told.readings[release].J, told.readings[release].h
    U = fit.synthetic[:PLACES]
    phi = dictionary.features.evaluate(U)
    e, V = h - J @ known.mean, known.covariance
    without = J + J @ V @ J
    S = without + J @ C @ J
    S = S + 1e-9 * np.trace(S) / len(S) * np.eye(len(S))
    G = np.linalg.solve(S, J @ C @ phi)  # d̂ = Gᵀe
    covariance = G.T @ without @ G
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    z = (G.T @ e) / sd
    most = int(np.argmax(np.abs(z)))
    tests = len(left) if len(left) > 2 else 1  # of two releases one test is the other's mirror
    tests *= len(state.targets)
    p_value = min(1.0, tests * _p_of_largest(covariance / np.outer(sd, sd), abs(float(z[most]))))
    unit = scale * float(fit.models[0].options.functions.half_width[target])

    def guessed(U: Array) -> tuple[Array, Array]:
        phi = dictionary.features.evaluate(U)
        cross = J @ C @ phi
        G = np.linalg.solve(S, cross)
        # what is left of d's variance once e is seen
        spread = np.sum(phi * (C @ phi), axis=0) - np.sum(cross * G, axis=0)
        return unit * (G.T @ e), unit * np.sqrt(np.maximum(spread, 0.0))

    [difference], [left_of_it] = guessed(U[most : most + 1])
    return Difference(
        names[release],
        fit.models[0].target_names[target],
        float(z[most]),
        p_value,
        float(difference),
        float(left_of_it),
        _place(fit, U[most]),
        along_the_largest(fit, U[most], guessed),
        names[1 - release] if len(names) == 2 else "the others",
    )


def _p_of_largest(correlation: Array, value: float) -> float:
    """Return how often the largest |z| of a Gaussian with this correlation is beyond a value."""
    eigenvalues, Q = np.linalg.eigh(correlation)
    kept = eigenvalues > LIKELY_AXES * eigenvalues[-1]
    root = Q[:, kept] * np.sqrt(eigenvalues[kept])
    draws = root @ np.random.default_rng(11).standard_normal((int(kept.sum()), DRAWS))
    largest = np.abs(draws).max(axis=0)
    simulated = float(np.mean(largest >= value))
    # beyond all draws: no fewer than one place, no more than all of them together
    bound = min(1.0, len(correlation) * math.erfc(value / math.sqrt(2.0)))
    return min(max(simulated, 1.0 / DRAWS), bound) if simulated < 10 / DRAWS else simulated


def _place(fit: PooledFit, u: Array) -> dict[str, Any]:
    box = fit.models[0].options.box
    (raw,) = fit.inputs.invert(u[None])
    return {
        name: box.shown(k, raw[k : k + 1]).item()
        for k, name in enumerate(fit.models[0].input_names)
    }


# --- what lies between releases -------------------------------------------------------------------


def softened(reading: ReadRecords, L: Array, tau: float) -> ReadRecords:
    r"""Return what a release says of f where it is about :math:`f + d`, :math:`\delta \sim N(0,
    \tau^2LL^\top)`.

    With :math:`M = I + \tau^2L^\top JL`, :math:`J' = J - \tau^2JLM^{-1}L^\top J`.
    """
    if tau == 0.0:
        return reading
    R = tau * L
    JR, Rh = reading.J @ R, R.T @ reading.h
    root = np.linalg.cholesky(np.eye(R.shape[1]) + R.T @ JR)
    half = np.linalg.solve(root, np.column_stack([JR.T, Rh]))
    J = reading.J - half[:, :-1].T @ half[:, :-1]
    constant = 0.5 * float(half[:, -1] @ half[:, -1]) - float(np.log(np.diag(root)).sum())
    h = reading.h - half[:, :-1].T @ half[:, -1]
    return ReadRecords((J + J.T) / 2, h, reading.constant + constant)


def most_likely(pair: tuple[TargetState, Array]) -> float:
    """Return the most likely sd between releases, relative to the prior sd of f."""
    told, C = pair
    L = lower_root(C)
    prior = np.log(np.where(TAUS == 0.0, 0.5, 0.5 / (len(TAUS) - 1)))
    values = []
    for tau in TAUS:
        first, *others = [softened(reading, L, float(tau)) for reading in told.readings]
        values.append(_log_evidence(sum(others, start=first), L))
    return float(TAUS[int(np.argmax(np.array(values) + prior))])


def _log_evidence(reading: ReadRecords, L: Array) -> float:
    """log p = constant + ½hᵀL(I + LᵀJL)⁻¹Lᵀh − ½ log|I + LᵀJL|."""
    root = np.linalg.cholesky(np.eye(len(L)) + L.T @ reading.J @ L)
    half = np.linalg.solve(root, L.T @ reading.h)
    return reading.constant + 0.5 * float(half @ half) - float(np.log(np.diag(root)).sum())


def with_random_effect(fit: PooledFit, state: PooledState) -> PooledState:
    """Return the state whose releases may each be off by the most likely difference."""
    targets = []
    for told, C in _pairs(fit, state):
        tau, L = most_likely((told, C)), lower_root(C)
        readings = tuple(softened(reading, L, tau) for reading in told.readings)
        first, *others = readings
        equations: NormalEquations = sum(others, start=first).equations
        targets.append(replace(told, readings=readings, belief=condition(equations, C)))
    return replace(state, targets=tuple(targets))
