"""The audit as a whole: every attack, what it found, and what is claimed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpgp.audit.attacks import attack, one_run, worst_cases
from dpgp.audit.replay import Comparison, DivergedError, compare_fits, compare_steps
from dpgp.audit.statistics import ATTACKED_DELTA, repeated_draws
from dpgp.audit.tables import CASES, Case
from dpgp.privacy.noise import noise_source

FRESH_SCALE = 2.0**40


@dataclass(frozen=True)
class Effort:
    """How much an audit does: pairs at single steps, pairs of whole fits, releases."""

    step_pairs: int
    fit_pairs: int
    runs: int


QUICK = Effort(step_pairs=20, fit_pairs=1, runs=3000)
THOROUGH = Effort(step_pairs=1000, fit_pairs=20, runs=100_000)


@dataclass(frozen=True)
class Attack:
    """One attack: whether our claim survived it, and the figures."""

    name: str
    holds: bool
    detail: str


def audit(effort: Effort = QUICK, rows: int = 5000, seed: int = 0) -> Iterator[Attack]:
    """Attack our own releases, and tell of every attack as it ends.

    The tables are made up; the seed chooses them, never the noise, which is the real one.
    """
    random = np.random.default_rng(seed)
    for name, case in CASES.items():
        yield _replayed(f"replay, {name}", case, effort, random)
    for name, target in worst_cases().items():
        bound = attack(target, noise_source(None), effort.runs)
        yield Attack(
            f"many releases of {name}",
            bound.holds,
            f"at 95 % ε ≥ {bound.epsilon:.3f} of {bound.claimed_epsilon:.3f} claimed at "
            f"δ = {ATTACKED_DELTA:g}, μ ≥ {bound.mu:.3f} of {bound.claimed_mu:.3f}",
        )
    run = one_run(rows, noise_source(None), random)
    yield Attack(
        f"one run with {run.canaries} canaries among {rows:,} rows",
        run.holds,
        f"{run.correct} coins guessed; at 95 % ε ≥ {run.epsilon:.3f} of {run.claimed_epsilon:g} "
        f"claimed, μ ≥ {run.mu:.3f} of {run.claimed_mu:.3f}",
    )
    yield _fresh()


def _replayed(name: str, case: Case, effort: Effort, random: np.random.Generator) -> Attack:
    try:
        found = compare_steps(case, effort.step_pairs, random)
        found += compare_fits(case, effort.fit_pairs, random)
    except DivergedError as error:
        return Attack(name, False, str(error))
    except Exception as error:  # a fit that fails on one neighbour alone tells them apart
        return Attack(name, False, f"a neighbour's fit failed: {type(error).__name__}")
    worst: Comparison = max(found, key=lambda comparison: comparison.ratio)
    return Attack(
        name,
        all(comparison.holds for comparison in found),
        f"{len(found)} comparisons; at most {worst.ratio:.4f} of the sensitivity, at {worst.label}",
    )


def _fresh() -> Attack:
    repeated = repeated_draws(lambda count: noise_source(None).draw(FRESH_SCALE, count))
    return Attack("noise of a forked process", repeated == 0, f"{repeated} of 64 draws repeated")
