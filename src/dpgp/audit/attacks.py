"""Attacks through the real wall with secret noise: many releases of neighbours, one of canaries.

Worst-case neighbours are released many times, which tells how well they can be told apart. In one
run, many canaries are in the data or not, by a coin each, and an adversary guesses which:
contributions ψψᵀ of orthogonal ψ do not disturb each other, so that one release is as good as one
run for every canary. Steinke, Nasr & Jagielski (2023).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard
from scipy.stats import norm

from dpgp.audit.replay import Recorder, WayOut, distance
from dpgp.audit.statistics import CONFIDENCE, SURE, LowerBounds, epsilon_of_guesses, lower_bounds
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.noise import NoiseSource
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_gram, integer_columns
from dpgp.private.wall import Wall
from dpgp.steps.base import CountQuery, GramQuery, HistogramQuery, Query
from dpgp.types import Array

BUDGET = (5.0, 1e-6)
"""Budget of an attacked release: μ is about one, of which an attack learns most."""

CANARIES = 128
"""A power of two, and as many inputs and targets: rows of a Hadamard matrix are orthogonal in both,
so that a canary moves the Gram matrix as far as any row can."""

CONSTANT_SHARE = 1e-3


@dataclass(frozen=True)
class WorstCase:
    """A query and two neighbouring tables that it tells apart as well as any two can be."""

    query: Query
    options: Options
    one: Rows
    other: Rows


def _rows(X: list[float], y: list[float]) -> Rows:
    return Rows(np.array(X)[:, None], np.array([y]), np.ones(len(X), dtype=bool))


def _options(neighbours: str) -> Options:
    box = Box.from_bounds((-1, 1), 1)
    return Options.parse(box=box, target_box=box, neighbours=neighbours)


def _with_levels(readable: bool) -> Rows:
    """Return rows of which the last can be used and read in two columns, or not at all."""
    rows, counted = _rows([0.0, 0.0], [0, 0]), np.array([True, readable])
    return replace(rows, readable=np.ones((2, 2), dtype=bool)).among(counted)


def _with_weight(weight: float) -> Rows:
    """Return rows of which the last has a weight, in whole rows."""
    return replace(_rows([0.0, 0.0], [0, 0]), weights=np.array([1.0, weight]))


def worst_cases() -> dict[str, WorstCase]:
    """Return the kinds of queries, each with its worst case."""
    inputs = UnitInputs(Box.from_bounds((-1, 1), 1))
    line = BoxFeatures(inputs, LinearFeatures(1, 0.5))
    gram = GramQuery(line, Residuals(line, np.zeros((1, 2)), np.array([1.0])))
    halves = HistogramQuery(lambda X, y: X.T, 1, np.array([0.0]), inputs.filler)
    # the same φ of norm one, targets of opposite sign: ψ = (φ, 1) and (φ, −1) are orthogonal
    return {
        "a Gram matrix": WorstCase(
            gram, _options("replace"), _rows([1.0, 1.0], [1.0, 1.0]), _rows([1.0, 1.0], [1.0, -1.0])
        ),
        "a histogram": WorstCase(
            halves, _options("replace"), _rows([-1.0, 1.0], [0, 0]), _rows([1.0, 1.0], [0, 0])
        ),
        "a count": WorstCase(
            CountQuery(), _options("add-remove"), _rows([0.0, 0.0], [0, 0]), _rows([0.0], [0])
        ),
        "counts of levels": WorstCase(
            CountQuery(2), _options("replace"), _with_levels(True), _with_levels(False)
        ),
        "weights and their squares": WorstCase(
            CountQuery(squares=True), _options("replace"), _with_weight(1.0), _with_weight(0.0)
        ),
    }


def attack(target: WorstCase, source: NoiseSource, runs: int) -> LowerBounds:
    """Release both tables so many times, and bound what tells them apart."""
    answer, mu = asked_once(target, target.one, source)
    other, _ = asked_once(target, target.other, source)
    direction = np.array(
        [int(a - b) / s for a, b, s in zip(other.totals, answer.totals, answer.scales, strict=True)]
    )
    length = distance(other.totals, answer.totals, answer.scales)
    scores = [
        _projections(totals, answer, source, direction / length, runs)
        for totals in (answer.totals, other.totals)
    ]
    return lower_bounds(scores[0], scores[1], mu)


def asked_once(target: WorstCase, rows: Rows, source: NoiseSource) -> tuple[WayOut, float]:
    """Ask by the whole way, exact sums, sensitivity, noise; return the answer and the booked μ."""
    return _asked(target.query, target.options, rows, source)


def _asked(query: Query, options: Options, rows: Rows, source: NoiseSource) -> tuple[WayOut, float]:
    recorder, books = Recorder(source), Books(*BUDGET, options.neighbours)
    Wall(rows, options, books, recorder).release(query, 1.0, "audit")
    return recorder.answers[0], books.releases[0].mu


def _projections(
    totals: NDArray[np.object_], answer: WayOut, source: NoiseSource, direction: Array, runs: int
) -> Array:
    """Project releases of the same exact integers on what tells the tables apart."""
    many, scales = np.tile(totals - answer.totals, runs), np.tile(answer.scales, runs)
    noisy = source.add_to(many, scales).reshape(runs, -1)
    return np.asarray(noisy.astype(np.float64) / answer.scales @ direction)


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
    base = random.uniform(-1.0, 1.0, (rows, CANARIES))
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
    base: Array, canaries: Array, inside: NDArray[np.bool_], source: NoiseSource
) -> tuple[Array, Array, float]:
    """Return a score for every canary, N(0, 1) without it and N(strength, 1) with it."""
    options, query = _question()
    known, present = _people(base, np.zeros_like(base)), canaries[inside]
    everybody = _people(
        np.concatenate([base, present]), np.concatenate([np.zeros_like(base), present])
    )
    answer, mu = _asked(query, options, everybody, source)
    size = query.features.dimension + CANARIES
    upper = np.triu_indices(size)
    exact = exact_gram(known, query.features, query.residuals)[upper]
    change = np.zeros((size, size))
    weights = np.zeros_like(change)
    change[upper] = (answer.noisy - exact).astype(np.float64) / answer.scales**2
    weights[upper] = answer.scales**-2.0
    psi = integer_columns(_people(canaries, canaries), query.features, query.residuals)
    strength = np.sqrt(np.einsum("ij,ik,kj->j", psi**2, weights, psi**2))
    scores = np.einsum("ij,ik,kj->j", psi, change, psi) / strength
    return scores, strength, mu


def _question() -> tuple[Options, GramQuery]:
    box = Box.from_bounds((-1, 1), CANARIES)
    options = Options.parse(box=box, target_box=box, neighbours="add-remove")
    line = BoxFeatures(UnitInputs(box), LinearFeatures(CANARIES, CONSTANT_SHARE))
    none = Residuals(line, np.zeros((CANARIES, line.dimension)), np.ones(CANARIES))
    return options, GramQuery(line, none)


def _people(inputs: Array, targets: Array) -> Rows:
    """Return rows of inputs and targets, a row a person in both."""
    return Rows(inputs, np.ascontiguousarray(targets.T), np.ones(len(inputs), dtype=bool))


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
