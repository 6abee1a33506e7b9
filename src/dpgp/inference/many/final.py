r"""The posterior of a fit of many inputs: one Gaussian process, marginal over hyperparameters.

All records are read once more in the last dictionary, from the last mean. Hyperparameters are
integrated over by importance sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpgp.features.linear import LinearFeatures
from dpgp.inference.clip_choice import beyond_interval
from dpgp.inference.clipping import largest_bias
from dpgp.inference.few.evidence import Measurement
from dpgp.inference.few.gram_estimate import IsotropicEstimate
from dpgp.inference.guard import CONSTANT_SHARE, NO_BIAS, BiasPrior, apply_guard, expect_bias
from dpgp.inference.hyperparameters import Proposal, WeightedPoints, integrate, thin
from dpgp.inference.local_scale import LocalScale
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.records import Evidence, NormalEquations, WeightBelief, condition
from dpgp.inference.many.target import Target
from dpgp.inference.posterior import Moments, Posterior
from dpgp.inference.stage import StageRelease
from dpgp.outcomes import Location
from dpgp.types import Array


class SearchEffort(NamedTuple):
    """Hyperparameters a round of the integral, rounds, and those that a model keeps.

    By hand: each takes a root of d² numbers, and each that is kept a kernel matrix in every
    prediction.
    """

    points: int = 16
    rounds: int = 1
    draws: int = 5


USUAL = SearchEffort()

LEAST_NOISE = 0.25
"""Smallest share of the residuals' variance that is noise. By hand: what is unknown of f is itself
an estimate."""


SHAPE_KEPT = 0.5
"""Mean and sd of the part that a bias has of what it would be if the law of the residuals had one
shape at every x, and only its scale changed. Costs behave so; where the share of zeros changes with
x there is hardly such a bias: docs/results/averages.md."""


class Final(NamedTuple):
    """A posterior, and how many numbers it took from the rows, tr(VJ) averaged over θ.

    A fit that takes d numbers from n rows leaves them residuals that are smaller than those of new
    rows by about the factor 1 − d/n (the leverage of a row: Craven & Wahba 1978).
    """

    posterior: Posterior
    degrees: float


def final_of(target: Target, dictionary: Dictionary) -> Final:
    """Return the posterior of a target in units of its public bounds."""
    mean = target.base(dictionary) + dictionary.at_synthetic(target.belief.mean)
    equations = target.read(dictionary, mean)

    def noise(unknown: float) -> float:
        return math.sqrt(max(target.forecast**2 - unknown, LEAST_NOISE * target.forecast**2))

    return posterior_of(equations, dictionary, target.theta, target.location, noise)


def posterior_of(
    equations: NormalEquations,
    dictionary: Dictionary,
    theta: Array,
    location: Location,
    noise: Callable[[float], float],
    effort: SearchEffort = USUAL,
) -> Final:
    """Return the posterior about θ, in units of the bounds.

    ``noise`` tells the sd of an observation where so much of f is unknown, both in scales.
    """
    points = _integrate(equations, theta, location.scale, dictionary, effort)
    beliefs = [condition(equations, dictionary.priors.at(t, location.scale)) for t in points.thetas]
    degrees = np.mean([np.sum((belief.root @ equations.J) * belief.root) for belief in beliefs])
    return Final(_collapse(location, dictionary, points, beliefs, noise), float(degrees))


def moved_by_scale(
    posterior: Posterior, target: Target, clip: float, dictionary: Dictionary, scale: LocalScale
) -> Array | None:
    r"""Return weights of what clipping did where the scale is large or small; None without a clip.

    Where the law of the residuals keeps its shape and its sd is τ(x), clipping at R is off by
    :math:`\beta(x) = \tau(x)b(R/\tau(x))`, if it has a tail: two values never keep their shape. The
    average of it is the guard's to tell.
    """
    if _cuts_nothing(target, clip):
        return None
    c = scale.typical(dictionary.synthetic)
    tau = _noise(posterior, target) * c / np.sqrt(np.mean(c**2))
    beta = tau * target.law.expected_bias(clip / tau)
    return SHAPE_KEPT * target.law.tail_odds * dictionary.nearest(beta - beta.mean())


def following_scale(posterior: Posterior, moved: Array | None) -> Posterior:
    """Return the posterior less what clipping did, which may be none of it or twice as much."""
    if moved is None:
        return posterior
    before = posterior.moments
    after = Moments(before.w + moved, before.V + np.outer(moved, moved), before.noise)
    return replace(posterior, moments=after)


def guarded(
    posterior: Posterior,
    release: StageRelease,
    target: Target,
    clip: float,
    dictionary: Dictionary,
) -> Posterior:
    """Return the posterior corrected by widely clipped residuals on constant and linear features.

    Stages clipped residuals of the target's law at ``clip``. The sampling noise that guard and
    stages share is taken as independent, which is cautious.
    """
    if _cuts_nothing(target, clip):
        return posterior
    B = release.n * dictionary.second_moments
    independent = Measurement(np.zeros(len(B)), B, 0.0, np.zeros((len(B), 1)), np.zeros(1))
    found = apply_guard(
        release,
        independent,
        IsotropicEstimate(B, 0.0),
        posterior.moments,
        _line(dictionary),
        bias=bias_of(posterior, target, clip),
        beyond=hidden_beyond(release, posterior, target),
        odds=target.law.odds,
    )
    return replace(posterior, moments=found)


def unguarded(
    posterior: Posterior, target: Target, clip: float, dictionary: Dictionary
) -> Posterior:
    """Return the posterior where no guard tells what clipping at ``clip`` did."""
    bias = unguarded_bias(posterior, target, clip)
    if bias is NO_BIAS:
        return posterior
    return replace(posterior, moments=expect_bias(posterior.moments, bias, _line(dictionary)))


def _cuts_nothing(target: Target, clip: float) -> bool:
    return not target.location.is_clipped or clip >= target.location.reach


def bias_of(posterior: Posterior, target: Target, clip: float) -> BiasPrior:
    """Return what clipping residuals at ``clip`` may have done to the mean."""
    if _cuts_nothing(target, clip):
        return NO_BIAS
    return BiasPrior.at(target.law, clip, _noise(posterior, target))


def unguarded_bias(posterior: Posterior, target: Target, clip: float) -> BiasPrior:
    """Return the same where nobody will tell: at most what any law of this sd can do.

    A guard is told to expect more, of a law with far values that none has seen.
    """
    bias = bias_of(posterior, target, clip)
    if bias is NO_BIAS:
        return bias
    return bias.at_most(largest_bias(clip, _noise(posterior, target)))


def hidden_beyond(guard: StageRelease, posterior: Posterior, target: Target) -> float:
    """Return the rms of what the guard's own clip may hide."""
    noise = _noise(posterior, target)
    return beyond_interval(target.law, noise, guard.interval, target.widest_interval)


def _noise(posterior: Posterior, target: Target) -> float:
    """σ, at least what is left of the sd that was measured."""
    return max(posterior.moments.noise, target.location.scale * target.least_sd)


def _line(dictionary: Dictionary) -> Array:
    """L with φ_s ≈ Lᵀφ at the synthetic rows for constant and linear features φ_s."""
    rows = dictionary.synthetic
    return dictionary.nearest(LinearFeatures(rows.shape[1], CONSTANT_SHARE).evaluate(rows).T)


def _integrate(
    equations: NormalEquations,
    theta: Array,
    scale: float,
    dictionary: Dictionary,
    effort: SearchEffort,
) -> WeightedPoints:
    """Weigh θ by the evidence, around what the stages found."""
    family, evidence = dictionary.family, Evidence(equations, dictionary, scale)

    def log_density(thetas: Array) -> Array:
        return np.array([evidence(theta) + family.log_prior(theta) for theta in thetas])

    if not len(theta):
        return WeightedPoints(theta[None], np.ones(1), evidence(theta))
    start = Proposal(theta, np.diag(family.spreads**2))
    points, _ = integrate(log_density, [start], effort.points, effort.rounds)
    index, draws = thin(points, effort.draws), effort.draws
    return WeightedPoints(points.thetas[index], np.full(draws, 1.0 / draws), points.log_integral)


def _collapse(
    location: Location,
    dictionary: Dictionary,
    points: WeightedPoints,
    beliefs: list[WeightBelief],
    noise: Callable[[float], float],
) -> Posterior:
    """w̄ = Σω w_θ, V̄ = Σω(V_θ + (w_θ − w̄)(w_θ − w̄)ᵀ), back in units of the bounds."""
    means = np.array([belief.mean for belief in beliefs])
    centred, C = means - means.mean(axis=0), dictionary.second_moments
    V = sum(belief.covariance for belief in beliefs) / len(beliefs)
    V = np.asarray(V + centred.T @ centred / len(beliefs))
    spreads = np.array(
        [
            np.sum((belief.root @ C) * belief.root) + moved @ C @ moved
            for belief, moved in zip(beliefs, centred, strict=True)
        ]
    )
    place, scale = location.centre, location.scale
    sd = scale * noise(float(np.sum(V * C)))
    kernel, thetas = dictionary.family.in_bounds(points.thetas, scale)
    return Posterior(
        features=dictionary.features,
        kernel=kernel,
        moments=Moments(
            place * dictionary.one + scale * means.mean(axis=0), scale**2 * (V + V.T) / 2, sd
        ),
        thetas=np.column_stack([thetas, np.full(len(thetas), np.log(sd))]),
        spreads=spreads / spreads.mean(),
        log_evidence=points.log_integral,
    )
