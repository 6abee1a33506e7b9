"""Skewed and heavy-tailed noise: bias of f with and without the guard of the mean.

sin(2x)/2x with 2,000 and 20,000 rows on [−4, 4], noise of mean 0 and sd 0.1, ε = 1, δ = 1e-4.
Clipping is hard where rows are few, so the guard matters more there. "No guard" gives the guard's
share of the budget to the stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from math import exp, expm1, fsum, sqrt

import numpy as np

from dpgp.domain import Box
from dpgp.inference.priors import default_kernel
from dpgp.planning.design import Shares, choose_shares
from dpgp.privacy.ledger import Ledger
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SimulatedNoise
from dpgp.private.arrays import scaled_rows
from dpgp.private.fit import Wall, fit_rows
from dpgp_experiments.illustration import GRID, true_function
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.simulated import Array, Sample, generator
from dpgp_experiments.successor_results import Fitted, Measures, Trial, Trials, score_function

ROWS = (2_000, 20_000)  # where clipping is hard, and where it is not
NOISE_STD = 0.1  # with bounds, ε and δ: those of §5.1
EPSILON, DELTA = 1.0, 1e-4
BOX, TARGET_BOX = (
    Box.from_bounds(bounds, 1, argument="bounds") for bounds in ((-4.0, 4.0), (-1.5, 1.5))
)
GUARDED, UNGUARDED = "guard", "no guard"


def lognormal(width: float) -> Callable[[np.random.Generator, int], Array]:
    """Return a standardised lognormal law, the more skewed the wider."""
    mean, std = exp(width**2 / 2), exp(width**2 / 2) * sqrt(expm1(width**2))
    return lambda rng, n: (np.exp(width * rng.standard_normal(n)) - mean) / std


LAWS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "Gaussian": lambda rng, n: rng.standard_normal(n),
    "Student t₃": lambda rng, n: rng.standard_t(3, n) / sqrt(3),
    "exponential": lambda rng, n: rng.standard_exponential(n) - 1,
    "lognormal ½": lognormal(0.5),
    "lognormal 1": lognormal(1.0),
}


def task(law: str, rows: int) -> str:
    """Return the name of the task with this noise and so many rows."""
    return f"{law}, n = {rows:,}"


TASKS = tuple(task(law, rows) for rows, law in product(ROWS, LAWS))


def jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every number of rows, law of the noise and repeat."""
    return [
        partial(_run_one, law, rows, assignment.seed, repeat, number)
        for rows, (number, law), repeat in product(ROWS, enumerate(LAWS), range(assignment.repeats))
    ]


def _run_one(
    law: str, rows: int, seed: int, repeat: int, number: int
) -> Iterator[tuple[Trial, Measures]]:
    data = simulate(law, rows, generator(seed, repeat, number))
    name, f = task(law, rows), true_function(GRID[:, 0])
    for method in (GUARDED, UNGUARDED):
        fitted = fit(data, method == GUARDED, generator(seed, repeat, number, 1))
        yield Trial(name, method, EPSILON, DELTA), score_function(fitted, GRID, f)


def simulate(law: str, rows: int, rng: np.random.Generator) -> Sample:
    """Draw a data set whose noise has this law."""
    X = rng.uniform(-4.0, 4.0, (rows, 1))
    f = true_function(X[:, 0])
    return Sample(X, f + NOISE_STD * LAWS[law](rng, rows), f)


def fit(data: Sample, guard: bool, rng: np.random.Generator) -> Fitted:
    """Fit as the estimator does by default, with the guard or without."""
    ledger = Ledger(EPSILON, DELTA, Neighbours.REPLACE)
    n = len(data.y)
    shares = choose_shares(n, 1, ledger.mu)
    rows = scaled_rows(data.X, data.y[None], TARGET_BOX, "error", None, 1)
    released = fit_rows(
        Wall(rows, ledger, SimulatedNoise(rng), n_jobs=1),
        BOX,
        shares if guard else without_guard(shares),
        [default_kernel(1)],
        public_rows=n,
    )
    return Fitted(released.inputs, released.posteriors[0], TARGET_BOX)


def without_guard(shares: Shares) -> Shares:
    """Give the guard's share to the stages."""
    factor = 1 + shares.guard / fsum(shares.stages)
    return replace(shares, guard=0.0, stages=tuple(factor * share for share in shares.stages))
