"""One run: many canaries are in the data or not, by a coin each, and an adversary guesses which.

Contributions ψψᵀ of orthogonal ψ do not disturb each other, so that one release is as good as one
run for every canary. Steinke, Nasr & Jagielski (2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard
from scipy.stats import norm

from dpgp.audit.releases import BUDGET
from dpgp.audit.replay import Recorder
from dpgp.audit.statistics import CONFIDENCE, SURE, epsilon_of_guesses
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.noise import NoiseSource
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_gram, integer_columns
from dpgp.private.wall import Wall
from dpgp.steps.queries import SMALLEST_WEIGHT, GramQuery
from dpgp.types import Array

CANARIES = 128  # a power of two, and as many inputs: the rows of a Hadamard matrix are orthogonal
CONSTANT_SHARE = 1e-3


@dataclass(frozen=True)
class OneRun:
    """What an adversary guessed, and the lower bounds at 95 % that follow."""

    canaries: int
    correct: int
    epsilon: float
    mu: float
    claimed_epsilon: float
    claimed_mu: float
    holds: bool


def one_run(rows: int, source: NoiseSource, random: np.random.Generator) -> OneRun:
    """Release a Gram matrix of so many rows and about half of the canaries once, and guess."""
    inside = random.integers(2, size=CANARIES).astype(bool)
    base = Rows(
        random.uniform(-1.0, 1.0, (rows, CANARIES)), np.zeros((1, rows)), np.ones(rows, dtype=bool)
    )
    canaries = hadamard(CANARIES).astype(np.float64)
    scores, strength, mu = _scores(base, canaries, inside, source)
    correct = int(((scores > strength / 2.0) == inside).sum())
    epsilon, delta = BUDGET
    sure_mu = _lower_mu(scores, inside, strength, mu, SURE)
    return OneRun(
        canaries=CANARIES,
        correct=correct,
        epsilon=epsilon_of_guesses(correct, CANARIES, delta),
        mu=_lower_mu(scores, inside, strength, mu, CONFIDENCE),
        claimed_epsilon=epsilon,
        claimed_mu=mu,
        holds=sure_mu <= mu and epsilon_of_guesses(correct, CANARIES, 0.0, SURE) <= epsilon,
    )


def _scores(
    base: Rows, canaries: Array, inside: NDArray[np.bool_], source: NoiseSource
) -> tuple[Array, Array, float]:
    """Return a score for every canary, N(0, 1) without it and N(strength, 1) with it."""
    options, query = _question()
    rows = Rows(
        np.concatenate([base.inputs, canaries[inside]]),
        np.zeros((1, len(base) + int(inside.sum()))),
        np.ones(len(base) + int(inside.sum()), dtype=bool),
    )
    recorder, books = Recorder(source), Books(*BUDGET, options.neighbours)
    Wall(rows, options, books, recorder).release(query, 1.0, "canaries")
    (answer,) = recorder.answers
    upper = np.triu_indices(query.features.dimension + 1)
    known = exact_gram(base, query.features, query.residuals)[upper]
    change = np.zeros((query.features.dimension + 1,) * 2)
    weights = np.zeros_like(change)
    change[upper] = (answer.noisy - known).astype(np.float64) / answer.scales**2
    weights[upper] = answer.scales**-2.0
    psi = _integers(canaries, query)
    strength = np.sqrt(np.einsum("ij,ik,kj->j", psi**2, weights, psi**2))
    scores = np.einsum("ij,ik,kj->j", psi, change, psi) / strength
    return scores, strength, books.releases[0].mu


def _question() -> tuple[Options, GramQuery]:
    box = Box.from_bounds((-1, 1), CANARIES)
    target_box = Box.from_bounds((-1, 1), 1)
    options = Options.parse(
        box=box, target_box=target_box, neighbours="add-remove", features="linear"
    )
    line = BoxFeatures(UnitInputs(box), LinearFeatures(CANARIES, CONSTANT_SHARE))
    none = Residuals(line, np.zeros((1, line.dimension)), np.array([1.0]))
    return options, GramQuery(line, none, SMALLEST_WEIGHT)


def _integers(canaries: Array, query: GramQuery) -> Array:
    rows = Rows(canaries, np.zeros((1, len(canaries))), np.ones(len(canaries), dtype=bool))
    return integer_columns(rows, query.features, query.residuals)


def _lower_mu(
    scores: Array, inside: NDArray[np.bool_], strength: Array, mu: float, confidence: float
) -> float:
    """Lower bound on μ: how far the two groups lie apart, for the whole sensitivity."""
    if inside.all() or not inside.any():
        return 0.0
    spread = float(np.sqrt((scores[inside].var(ddof=1) + scores[~inside].var(ddof=1)) / 2.0))
    apart = float(scores[inside].mean() - scores[~inside].mean()) / spread
    error = np.sqrt(1.0 / inside.sum() + 1.0 / (~inside).sum())
    share = float(strength.mean()) / mu  # of the sensitivity that a canary uses
    return max((apart - float(norm.ppf(confidence)) * float(error)) / share, 0.0)
