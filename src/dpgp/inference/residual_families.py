r"""Families of laws of signed residuals, which a noisy histogram weighs.

*Skewed laws*, for intervals: a candidate has a scale s, a tail and a skewness γ: the two halves of
a Student law h with scales :math:`se^{-\gamma}` and :math:`se^\gamma`, joined at the mode
(Fernández & Steel 1998) and moved so that the mean is zero; or it is a gamma law about its mean,
which has an end on one side as waiting times and costs have. *Outcomes*, for clipping: bells,
skewed Student, exponential and lognormal laws, two values, and a spike with a tail on one side,
every kind with its own prior probability. :mod:`dpgp.inference.noisy_law` weighs them by the noisy
counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, ndtr, ndtri, stdtr, stdtrit

from dpgp.inference.noisy_law import BEND_SDS, Candidates, Law, LawBelief, bent_candidates
from dpgp.types import Array

# The prior of the law, set by hand around N(0, 1)
LOG_SCALES = np.linspace(-1.2, 1.2, 25)  # a scale from 0.3 to 3.3, three prior sds each way
LOG_SCALE_SD = 0.4  # residuals' own sd is right to a factor 1.5
INVERSE_DF = np.array([0.0, 0.2, 0.4])  # tails from normal to Student with 2.5 df
SKEWS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # the longer half up to seven times the other
SKEW_SD = 0.5  # a long half of 2.7 times the other is one sd away
GAMMA_SHAPES = {4.0: 0.5, 1.0: 1.0}  # skewness 1, and 2 of an exponential law; as improbable as γ

BELL = 1 / 4
"""Prior probability of a bell among skewed laws. By hand, between an eighth, which takes noise in
far bins for a tail, and a third, which takes a little too much of the tails of Student laws for
noise. docs/results/explained.md."""

_HALF = np.concatenate([np.linspace(0, 6, 241), np.geomspace(6.2, 60, 60)])  # of `GRID`
GRID = np.concatenate([-_HALF[:0:-1], _HALF])
"""Where CDFs are kept: steps of a fortieth of a standard deviation up to 6, then of 4 %."""

ONE_SIDED_SKEW = 0.5  # what exponential and lognormal values count as, in the prior of γ; by hand

# Many equal values, on either side: grids of laws, by hand
SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5])  # of the others
SPIKED_LOG_SCALES = np.linspace(-0.8, 1.6, 13)  # a scale from 0.45 to 5, in steps of a fifth
SPIKED_LOG_SCALE, SPIKED_LOG_SCALE_SD = 0.4, 0.8  # a bell's σ is too small for them
SPIKE_WIDTHS = (0.15, 0.4)  # of equal values, about a mean that is not constant


def both_sides(edges: Array) -> Array:
    """Return edges from 0 to infinity, and the same below zero."""
    return np.concatenate([-edges[:0:-1], edges])


@lru_cache(maxsize=8)
def skewed_candidates(edges: tuple[float, ...]) -> Candidates:
    """All scales, tails, skewnesses and bends, with their CDFs on ``GRID``."""
    laws = [
        (skewed_law(inverse_df, math.exp(log_scale), skew), _log_prior(log_scale, skew))
        for inverse_df, log_scale, skew in _skewed_choices()
    ]
    gammas = _gamma_laws()
    straight = [inverse_df == skew == 0 for inverse_df, _, skew in _skewed_choices()]
    is_bell = _bent_little([*straight, *[False] * len(gammas)])
    found = bent_candidates([*laws, *gammas], np.array(edges), GRID)
    log_prior = found.log_prior.copy()
    for kind, probability in ((is_bell, BELL), (~is_bell, 1.0 - BELL)):
        log_prior[kind] += math.log(probability) - np.logaddexp.reduce(log_prior[kind])
    return found._replace(log_prior=log_prior)


def _bent_little(is_bell: Sequence[bool]) -> NDArray[np.bool_]:
    """Return which candidates are bells, of laws with every bend: one that is bent far is none."""
    is_bent = np.tile(np.arange(len(BEND_SDS)) == len(BEND_SDS) - 1, len(is_bell))
    return np.asarray(np.repeat(is_bell, len(BEND_SDS)) & ~is_bent)


def _skewed_choices() -> list[tuple[float, float, float]]:
    return list(product(INVERSE_DF, LOG_SCALES, SKEWS))


def _gamma_laws() -> list[tuple[Law, float]]:
    choices = product(GAMMA_SHAPES.items(), (1.0, -1.0), LOG_SCALES)
    return [
        (gamma_law(shape, sign * math.exp(log_scale)), _log_prior(log_scale, skew))
        for (shape, skew), sign, log_scale in choices
    ]


def _log_prior(log_scale: float, skew: float) -> float:
    return -0.5 * (log_scale / LOG_SCALE_SD) ** 2 - 0.5 * (skew / SKEW_SD) ** 2


def skewed_law(inverse_df: float, scale: float, skew: float) -> Law:
    """CDF of mean zero whose halves about the mode have scales se^−γ and se^γ."""
    half, mean_size = _half_law(inverse_df)
    low, high = scale * math.exp(-skew), scale * math.exp(skew)
    below = low / (low + high)
    # E[x] = E|h|(se^γ − se^−γ) about the mode
    mean = mean_size * (high - low)

    def cdf(x: Array) -> Array:
        t = x + mean
        left = below * (1 - half(np.maximum(-t, 0.0) / low))
        return np.asarray(left + (1 - below) * half(np.maximum(t, 0.0) / high))

    return cdf


def gamma_law(shape: float, scale: float) -> Law:
    r"""CDF of :math:`s(G - k)/\sqrt k` for a gamma variable G of shape k; s < 0 mirrors it."""

    def cdf(x: Array) -> Array:
        below = gammainc(shape, np.maximum(shape + math.sqrt(shape) * x / scale, 0.0))
        return np.asarray(below if scale > 0 else 1.0 - below)

    return cdf


def _half_law(inverse_df: float) -> tuple[Law, float]:
    """CDF and mean of a Student variable's absolute value, with the median of a normal one's."""
    if inverse_df == 0:
        return lambda x: 2 * ndtr(x) - 1, math.sqrt(2 / math.pi)
    df = 1 / inverse_df
    # P(|t| < q) = ½ at the upper quartile q
    unit = float(stdtrit(df, 0.75) / ndtri(0.75))
    # E|t| = 2√ν Γ((ν+1)/2) / (√π Γ(ν/2) (ν−1))
    log_ratio = math.lgamma((df + 1) / 2) - math.lgamma(df / 2)
    mean = 2 * math.sqrt(df / math.pi) * math.exp(log_ratio) / (df - 1)
    return lambda x: 2 * stdtr(df, x * unit) - 1, mean / unit


class Kind(IntEnum):
    """Kinds of laws that are told apart."""

    BELL = 0  # nearly normal
    SKEWED = 1  # any skewness, tail or bend
    TWO_VALUES = 2
    SPIKE = 3  # many equal values at one end, the others beyond

    @property
    def words(self) -> str:
        """The name in words."""
        return self.name.lower().replace("_", " ")


@lru_cache(maxsize=8)
def outcome_candidates(edges: tuple[float, ...]) -> Candidates:
    """All laws and bends, with their CDFs on ``GRID``."""
    laws = [(law, log_prior) for law, log_prior, _ in _laws()]
    return bent_candidates(laws, np.array(edges), GRID)


@lru_cache(maxsize=1)
def kinds() -> NDArray[np.intp]:
    """Return the kind of every candidate; a bell that is bent far is none."""
    found = np.array([kind for _, _, kind in _laws()])
    is_bell = _bent_little((found == Kind.BELL).tolist())
    every = np.repeat(found, len(BEND_SDS))
    return np.where((every == Kind.BELL) & ~is_bell, int(Kind.SKEWED), every)


PRIOR = {Kind.BELL: 0.5, Kind.SKEWED: 0.3, Kind.TWO_VALUES: 0.1, Kind.SPIKE: 0.1}
"""Prior probabilities of the kinds: even odds of a bell. By hand."""


def kind_probabilities(belief: LawBelief) -> dict[str, float]:
    """Return the posterior probability of every kind, by its name in words."""
    return {kind.words: float(belief.weights[kinds() == kind].sum()) for kind in Kind}


@lru_cache(maxsize=1)
def _laws() -> list[tuple[Law, float, Kind]]:
    """Return all laws with their log priors: every kind has its part, shared by its laws."""
    rows = [*_skewed_laws(), *_one_sided_laws(), *_spiked_laws()]
    totals = {
        kind: np.logaddexp.reduce([log_prior for _, log_prior, other in rows if other == kind])
        for kind in Kind
    }
    return [
        (law, log_prior - totals[kind] + math.log(PRIOR[kind]), kind)
        for law, log_prior, kind in rows
    ]


def _skewed_laws() -> Iterator[tuple[Law, float, Kind]]:
    for inverse_df, log_scale, skew in _skewed_choices():
        kind = Kind.BELL if inverse_df == skew == 0 else Kind.SKEWED
        law = skewed_law(inverse_df, math.exp(log_scale), skew)
        yield law, _log_prior(log_scale, skew), kind


def _one_sided_laws() -> Iterator[tuple[Law, float, Kind]]:
    """Positive values without a spike: exponential and lognormal."""
    for tail, log_scale, side in product(TAILS, SPIKED_LOG_SCALES, (1, -1)):
        law = _signed(spike(1.0, tail, SPIKE_WIDTHS[0]), side * math.exp(log_scale))
        yield law, _log_prior(log_scale, ONE_SIDED_SKEW), Kind.SKEWED


def _spiked_laws() -> Iterator[tuple[Law, float, Kind]]:
    choices = product(SHARES, SPIKED_LOG_SCALES, (1, -1), SPIKE_WIDTHS)
    for share, log_scale, side, width in choices:
        scale = side * math.exp(log_scale)
        log_prior = -0.5 * ((log_scale - SPIKED_LOG_SCALE) / SPIKED_LOG_SCALE_SD) ** 2
        yield _signed(two_values(share, width), scale), log_prior, Kind.TWO_VALUES
        for tail in TAILS:
            yield _signed(spike(share, tail, width), scale), log_prior, Kind.SPIKE


def _signed(law: Law, scale: float) -> Law:
    """Return the law of a multiple, mirrored where it is negative."""
    return (lambda x: law(x / scale)) if scale > 0 else (lambda x: 1 - law(x / scale))


def two_values(share: float, width: float) -> Law:
    """CDF of two values of mean 0 and variance 1, the upper one with this share, blurred."""
    low, high = -math.sqrt(share / (1 - share)), math.sqrt((1 - share) / share)
    return lambda x: np.asarray(
        (1 - share) * ndtr((x - low) / width) + share * ndtr((x - high) / width)
    )


def spike(share: float, tail: Tail, width: float) -> Law:
    """CDF of zeros, blurred, and a share of positive values; mean 0 and variance 1."""
    # E = p·E[x], Var = p·E[x²] − E²
    mean = share * tail.mean
    sd = math.sqrt(share * tail.square - mean**2)
    low = -mean / sd

    def cdf(x: Array) -> Array:
        beyond = tail.cdf(np.maximum((x - low) * sd, 0.0))
        return np.asarray((1 - share) * ndtr((x - low) / width) + share * beyond)

    return cdf


class Tail(NamedTuple):
    """A law of positive values: CDF, mean and mean square."""

    cdf: Law
    mean: float
    square: float


def _lognormal_cdf(x: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(ndtr(np.log(x)))


TAILS = (
    Tail(lambda x: -np.expm1(-x), 1.0, 2.0),  # exponential
    Tail(_lognormal_cdf, math.exp(0.5), math.exp(2.0)),
)
