r"""The law of signed residuals from one noisy histogram: skewed Student laws, bent.

A candidate has a scale s, a tail and a skewness γ: the two halves of a Student law h with scales
:math:`se^{-\gamma}` and :math:`se^\gamma`, joined at the mode (Fernández & Steel 1998) and moved so
that the mean is zero; or it is a gamma law about its mean, which has an end on one side as waiting
times and costs have. :mod:`dpgp.inference.noisy_law` weighs them by the noisy counts.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.special import gammainc, ndtr, ndtri, stdtr, stdtrit

from dpgp.inference.noisy_law import (
    Candidates,
    Law,
    LawBelief,
    believe,
    bent_candidates,
    check_counts,
)
from dpgp.types import Array

# The prior of the law, set by hand around N(0, 1)
LOG_SCALES = np.linspace(-1.2, 1.2, 25)  # a scale from 0.3 to 3.3, three prior sds each way
LOG_SCALE_SD = 0.4  # residuals' own sd is right to a factor 1.5
INVERSE_DF = np.array([0.0, 0.2, 0.4])  # tails from normal to Student with 2.5 df
SKEWS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # the longer half up to seven times the other
SKEW_SD = 0.5  # a long half of 2.7 times the other is one sd away
GAMMA_SHAPES = {4.0: 0.5, 1.0: 1.0}  # skewness 1, and 2 of an exponential law; as improbable as γ

_HALF = np.concatenate([np.linspace(0, 6, 241), np.geomspace(6.2, 60, 60)])  # of `GRID`
GRID = np.concatenate([-_HALF[:0:-1], _HALF])
"""Where CDFs are kept: steps of a fortieth of a standard deviation up to 6, then of 4 %."""


def both_sides(edges: Array) -> Array:
    """Return edges from 0 to infinity, and the same below zero."""
    return np.concatenate([-edges[:0:-1], edges])


def signed_belief(
    counts: Array, noise_std: float, n: float, edges: Array, n_std: float = 0.0
) -> LawBelief:
    """Return what noisy counts between ``edges``, from −∞ to ∞, say of signed residuals."""
    counts, edges = np.asarray(counts, float), np.asarray(edges, float)
    check_counts(counts, noise_std, n, edges)
    return believe(counts, noise_std, n, skewed_candidates(tuple(edges)), n_std)


@lru_cache(maxsize=8)
def skewed_candidates(edges: tuple[float, ...]) -> Candidates:
    """All scales, tails, skewnesses and bends, with their CDFs on ``GRID``."""
    choices = product(INVERSE_DF, LOG_SCALES, SKEWS)
    laws = [
        (skewed_law(inverse_df, math.exp(log_scale), skew), _log_prior(log_scale, skew))
        for inverse_df, log_scale, skew in choices
    ]
    return bent_candidates([*laws, *_gamma_laws()], np.array(edges), GRID)


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
