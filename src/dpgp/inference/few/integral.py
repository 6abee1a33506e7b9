"""Beliefs about one target under one kernel: hyperparameters are integrated out, weights follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpgp.features.base import WhitenedMap
from dpgp.features.linear import LinearFeatures
from dpgp.inference.few.before import ToldBefore
from dpgp.inference.few.beliefs import Residual, collapse, mixed, relative_spread
from dpgp.inference.few.evidence import (
    Conditional,
    Measurement,
    combine_stages,
    condition,
    prior_covariances,
)
from dpgp.inference.few.gram_estimate import GramEstimate, estimate_gram
from dpgp.inference.guard import CONSTANT_SHARE, embed
from dpgp.inference.hyperparameters import (
    HyperPrior,
    Proposal,
    WeightedPoints,
    hyper_prior,
    integrate,
)
from dpgp.inference.posterior import Moments
from dpgp.inference.stage import StageRelease
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.types import Array

POINTS = 96
"""Hyperparameters a round of the integral: by hand, accuracy against the time of a fit."""

AT_ONCE = 2**17
"""Numbers of a batch of matrices, one for each θ: a dozen such batches are held at a time."""

ROUNDS, LAST_ROUNDS = 1, 2
"""Proposals fitted in a sweep, and in the last one, whose points are kept; by hand, the same."""


@dataclass(frozen=True)
class Model:
    """Public choices of the inference: features, kernel, where inputs may lie, and the outcome."""

    features: WhitenedMap
    kernel: Any
    positions: Array
    outcome: OutcomeKind = NUMBER
    before: ToldBefore | None = None

    @property
    def columns(self) -> int:
        """Number of inputs."""
        return int(self.features.anchors.shape[1])

    @cached_property
    def prior(self) -> HyperPrior:
        """The prior of the hyperparameters."""
        return hyper_prior(self.kernel, self.columns, self.outcome)

    @cached_property
    def atoms(self) -> Array:
        """Features of the positions, one a row."""
        return self.features.evaluate(self.positions).T

    @cached_property
    def guard_embedding(self) -> Array:
        """L with φ_s ≈ Lᵀφ over the box, for the features φ_s of the guard."""
        simple = LinearFeatures(self.columns, CONSTANT_SHARE).evaluate(self.positions)
        return embed(self.atoms.T, simple)

    def prior_moments(self) -> Moments:
        """Return beliefs before any release of this fit, at the centre of the prior."""
        theta, d = self.prior.mean[None], self.features.dimension
        C = prior_covariances(self.features, self.kernel, theta[:, :-1], np.eye(d))
        if self.before is None:
            return Moments(np.zeros(d), C[0], float(np.exp(theta[0, -1])))
        told = self.before.given(C, np.eye(d))
        return Moments(told.mean[0], told.covariance[0], self.before.noise)


@dataclass(frozen=True)
class State:
    """Beliefs between stages."""

    moments: Moments
    proposal: Proposal
    points: WeightedPoints
    gram: GramEstimate
    spreads: Array


def infer(
    model: Model,
    stages: Sequence[StageRelease],
    previous: State | None,
    sweeps: int,
    residual: Residual | None = None,
) -> State:
    """Alternate between the linearisation (clipping, error of B) and the integral over θ."""
    residual = Residual() if residual is None else residual
    gram = estimate_gram(stages, model.atoms, model.positions)
    moments = model.prior_moments() if previous is None else previous.moments
    proposals = [Proposal(model.prior.mean, np.diag(model.prior.sd**2))]
    if previous is not None:
        proposals.append(previous.proposal)
    for sweep in range(sweeps):
        measurement = combine_stages(stages, gram, moments, residual.law)
        rounds = LAST_ROUNDS if sweep == sweeps - 1 else ROUNDS
        points, fitted = _integrate(model, stages, measurement, residual, proposals, rounds)
        mixture = mixed(points, _conditionals(model, stages, measurement, points.thetas))
        moments = collapse(points, mixture, measurement)
        proposals = [proposals[0], fitted]
    spreads = relative_spread(points, mixture, measurement)
    return State(moments, fitted, points, gram, spreads)


def _integrate(
    model: Model,
    stages: Sequence[StageRelease],
    measurement: Measurement,
    residual: Residual,
    proposals: Sequence[Proposal],
    rounds: int,
) -> tuple[WeightedPoints, Proposal]:
    def log_density(thetas: Array) -> Array:
        some = _conditionals(model, stages, measurement, thetas)
        evidence = np.concatenate([each.log_evidence for each in some])
        return evidence + residual.log_density(thetas) + model.prior.log_density(thetas)

    return integrate(log_density, proposals, POINTS, rounds)


def _conditionals(
    model: Model, stages: Sequence[StageRelease], measurement: Measurement, thetas: Array
) -> Iterator[Conditional]:
    """Yield beliefs under some θ at a time, in their order."""
    step = max(AT_ONCE // model.features.dimension**2, 1)
    for start in range(0, len(thetas), step):
        some = thetas[start : start + step]
        yield condition(measurement, stages, model.features, model.kernel, some, model.before)
