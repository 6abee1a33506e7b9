r"""Kinds of outcomes, told apart by a noisy histogram of signed residuals.

Candidates are bells, skewed Student, exponential and lognormal laws, two values, and a spike with a
tail on one side, every kind with its own prior probability. :mod:`dpgp.inference.noisy_law` weighs
them by the noisy counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpgp.inference.noisy_law import (
    BEND_SDS,
    Candidates,
    Law,
    LawBelief,
    believe,
    bent_candidates,
    check_counts,
)
from dpgp.inference.signed_law import (
    GRID,
    INVERSE_DF,
    LOG_SCALE_SD,
    LOG_SCALES,
    SKEW_SD,
    SKEWS,
    skewed_law,
)
from dpgp.types import Array

ONE_SIDED_SKEW = 0.5  # what exponential and lognormal values count as, in the prior of γ; by hand

# Many equal values, on either side: grids of laws, by hand
SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5])  # of the others
SPIKED_LOG_SCALES = np.linspace(-0.8, 1.6, 13)  # a scale from 0.45 to 5, in steps of a fifth
SPIKED_LOG_SCALE, SPIKED_LOG_SCALE_SD = 0.4, 0.8  # a bell's σ is too small for them
SPIKE_WIDTHS = (0.15, 0.4)  # of equal values, about a mean that is not constant


def outcome_belief(
    counts: Array, noise_std: float, n: float, edges: Array, n_std: float = 0.0
) -> LawBelief:
    """Return what noisy counts between ``edges``, from −∞ to ∞, say of an outcome's residuals."""
    counts, edges = np.asarray(counts, float), np.asarray(edges, float)
    check_counts(counts, noise_std, n, edges)
    return believe(counts, noise_std, n, outcome_candidates(tuple(edges)), n_std)


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
    found = np.repeat([kind for _, _, kind in _laws()], len(BEND_SDS))
    is_bent = np.tile(np.arange(len(BEND_SDS)) == len(BEND_SDS) - 1, len(found) // len(BEND_SDS))
    return np.where((found == Kind.BELL) & is_bent, int(Kind.SKEWED), found)


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
    for inverse_df, log_scale, skew in product(INVERSE_DF, LOG_SCALES, SKEWS):
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


def _log_prior(log_scale: float, skew: float) -> float:
    return -0.5 * (log_scale / LOG_SCALE_SD) ** 2 - 0.5 * (skew / SKEW_SD) ** 2


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
