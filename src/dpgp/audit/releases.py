"""Worst-case neighbours through the real wall with secret noise, many times: what leaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgp.audit.replay import Recorder, WayOut, distance
from dpgp.audit.statistics import LowerBounds, lower_bounds
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.noise import NoiseSource
from dpgp.private.rows import Rows
from dpgp.private.wall import Wall
from dpgp.steps.queries import CountQuery, GramQuery, HistogramQuery, Query
from dpgp.types import Array

BUDGET = (5.0, 1e-6)
"""Budget of an attacked release: μ is about one, of which an attack learns most."""


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
        _scores(totals, answer, source, direction / length, runs)
        for totals in (answer.totals, other.totals)
    ]
    return lower_bounds(scores[0], scores[1], mu)


def asked_once(target: WorstCase, rows: Rows, source: NoiseSource) -> tuple[WayOut, float]:
    """Ask by the whole way, exact sums, sensitivity, noise; return the answer and the booked μ."""
    recorder, books = Recorder(source), Books(*BUDGET, target.options.neighbours)
    Wall(rows, target.options, books, recorder).release(target.query, 1.0, "audit")
    return recorder.answers[0], books.releases[0].mu


def _scores(
    totals: NDArray[np.object_], answer: WayOut, source: NoiseSource, direction: Array, runs: int
) -> Array:
    """Project releases of the same exact integers on what tells the tables apart."""
    many, scales = np.tile(totals - answer.totals, runs), np.tile(answer.scales, runs)
    noisy = source.add_to(many, scales).reshape(runs, -1)
    return np.asarray(noisy.astype(np.float64) / answer.scales @ direction)
