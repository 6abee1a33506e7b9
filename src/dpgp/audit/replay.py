"""Record and replay: neighbours answer the same questions, and their exact integers are compared.

A fit is recorded; then the same fit runs on a neighbour, but every release is answered with what
was released before. So both ask the same questions, and what their exact integers differ by, in
standard deviations of the noise, must be at most the μ that was booked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dpgp.audit.tables import Case, MadeUpTable, Random, neighbour, random_table, tame_table
from dpgp.options import Options
from dpgp.planning.unusable import UnusableRowsError
from dpgp.privacy.books import Books, Event, GaussianRelease
from dpgp.privacy.certificate import Certificate
from dpgp.privacy.noise import DrawnNoise, NoiseSource, SimulatedNoise
from dpgp.privacy.parts import Dealing
from dpgp.private.fit import dealing_of, fit_rows
from dpgp.private.rows import Rows
from dpgp.private.wall import Wall
from dpgp.steps import Purse, Step, planned_steps
from dpgp.steps.base import Query
from dpgp.steps.known import Known
from dpgp.types import Array, Integers

ROUNDING = 1e-9


class DivergedError(RuntimeError):
    """With the same released history, a neighbour was asked another question."""


@dataclass(frozen=True)
class WayOut:
    """One way out of the wall: exact integers, the scales of their noise, and what was released."""

    totals: Integers
    scales: Array
    noisy: Integers


class Recorder(DrawnNoise):
    """Adds noise as another source does, and keeps what it was asked."""

    def __init__(self, source: NoiseSource) -> None:
        self.is_private, self.name = source.is_private, source.name
        self.answers: list[WayOut] = []
        self.uniforms: list[float] = []
        self._source = source

    def uniform(self) -> float:
        """Return a number from [0, 1), and remember it."""
        self.uniforms.append(self._source.uniform())
        return self.uniforms[-1]

    def add_to(self, totals: Integers, scales: Array) -> Integers:
        """Return integers with noise, and remember them."""
        noisy = self._source.add_to(totals, scales)
        self.answers.append(WayOut(totals.copy(), scales.copy(), noisy.copy()))
        return noisy


class Replay(DrawnNoise):
    """Answers with what was released before, and keeps the integers it was given instead."""

    is_private = False
    name = "replay of earlier releases: an audit, not private"

    def __init__(self, answers: Sequence[WayOut], uniforms: Sequence[float] = ()) -> None:
        self.totals: list[Integers] = []
        self._answers, self._uniforms = answers, list(uniforms)

    def uniform(self) -> float:
        """Return what was drawn before: rows are dealt alike."""
        if not self._uniforms:
            raise DivergedError("a neighbour needs more random numbers.")
        return self._uniforms.pop(0)

    def add_to(self, totals: Integers, scales: Array) -> Integers:
        """Return the earlier release, if the question is the same."""
        if len(self.totals) >= len(self._answers):
            raise DivergedError("a neighbour is asked more questions.")
        before = self._answers[len(self.totals)]
        if not np.array_equal(before.scales, scales):
            raise DivergedError("a neighbour is asked for other numbers, or with other noise.")
        self.totals.append(totals.copy())
        return before.noisy.copy()


@dataclass(frozen=True)
class RecordedStep:
    """A step of a recorded fit: what it asked, its price, and the answer."""

    query: Query
    step: Step
    release: GaussianRelease
    answer: WayOut
    dealing: Dealing | None = None


@dataclass(frozen=True)
class Comparison:
    """How far a neighbour moved one release, in standard deviations, and the μ it was booked at."""

    label: str
    moved: float
    booked: float

    @property
    def ratio(self) -> float:
        """What was moved of what may be; above one is a violation."""
        return self.moved / self.booked

    @property
    def holds(self) -> bool:
        """Whether no more was moved than was booked."""
        return self.moved <= self.booked * (1.0 + ROUNDING)


def distance(one: Integers, other: Integers, scales: Array) -> float:
    """‖(t − t′)/σ‖ of exact integers; infinite where there is no noise on what differs."""
    if one.shape != other.shape:
        raise DivergedError("a neighbour gives another number of integers.")
    changes = [
        int(a - b) / scale if scale > 0.0 else (math.inf if a != b else 0.0)
        for a, b, scale in zip(one, other, scales.tolist(), strict=True)
    ]
    return math.hypot(*changes)


def record(table: MadeUpTable, options: Options, source: NoiseSource) -> tuple[RecordedStep, ...]:
    """Take the steps of a fit, and keep what each of them asked and what was answered."""
    rows, recorder = table.rows(options), Recorder(source)
    books = Books(options.epsilon, options.delta, options.neighbours)
    public_rows = len(rows) if options.row_count_is_public else None
    steps = planned_steps(Purse(options, books.mu, public_rows))
    wall, known = (
        Wall(rows, options, books, recorder, dealing=dealing_of(steps, recorder)),
        Known.before(options, books.mu, steps, public_rows),
    )
    asked = []
    for step in steps:
        query = step.query(known)
        with suppress(UnusableRowsError):  # rows of an audit are few, and its steps all asked
            known.take(step, wall.release(query, step.share, step.label, step.part))
        answer = recorder.answers[-1]
        asked.append(RecordedStep(query, step, books.releases[-1], answer, wall.dealing))
    return tuple(asked)


def replay_step(asked: RecordedStep, rows: Rows, options: Options, threads: int = 1) -> Comparison:
    """Ask a neighbour what one step asked, by the same way through the wall."""
    books = Books(options.epsilon, options.delta, options.neighbours)
    source = Replay([asked.answer])
    wall = Wall(rows, options, books, source, threads, asked.dealing)
    wall.release(asked.query, asked.step.share, asked.step.label, asked.step.part)
    (totals,) = source.totals
    moved = distance(totals, asked.answer.totals, asked.answer.scales)
    return Comparison(asked.release.label, moved, asked.release.mu)


def replay_fit(
    table: MadeUpTable, other: MadeUpTable, options: Options, seed: int
) -> list[Comparison]:
    """Fit a table, then its neighbour with the same released history; compare every release."""
    recorder = Recorder(SimulatedNoise(seed))
    booked = _booked(table.rows(options), options, recorder)
    replayed = Replay(recorder.answers, recorder.uniforms)
    again = _booked(other.rows(options), options, replayed)
    if again != booked:
        raise DivergedError("a neighbour's fit books other releases.")
    if len(booked) != len(recorder.answers) or len(replayed.totals) != len(recorder.answers):
        raise DivergedError("more numbers leave the wall than are booked.")
    return [
        Comparison(
            str(getattr(release, "label", release)),
            distance(totals, answer.totals, answer.scales),
            release.mu if isinstance(release, GaussianRelease) else 0.0,
        )
        for release, totals, answer in zip(booked, replayed.totals, recorder.answers, strict=True)
    ]


def _booked(rows: Rows, options: Options, source: NoiseSource) -> tuple[Event, ...]:
    """Fit, and return all that was booked; few usable rows end a fit after its first release."""
    try:
        return fit_rows(rows, options, source).certificate.releases
    except UnusableRowsError as error:
        spent: Certificate = error.spent  # type: ignore[attr-defined]
        return spent.releases


def compare_steps(case: Case, pairs: int, random: Random, threads: int = 1) -> list[Comparison]:
    """Compare so many pairs of neighbours, each at one step of a recorded fit, steps in turn."""
    options = case.options
    table = random_table(options, random)
    asked = record(table, options, SimulatedNoise(int(random.integers(2**31))))
    found = []
    for pair in range(pairs):
        other = neighbour(table, options, random).rows(options)
        found.append(replay_step(asked[pair % len(asked)], other, options, threads))
    return found


def compare_fits(case: Case, pairs: int, random: Random) -> list[Comparison]:
    """Compare whole fits of so many pairs of neighbours, release by release."""
    options = case.options
    found = []
    for _ in range(pairs):
        table, seed = tame_table(options, random), int(random.integers(2**31))
        found += replay_fit(table, neighbour(table, options, random), options, seed)
    return found
