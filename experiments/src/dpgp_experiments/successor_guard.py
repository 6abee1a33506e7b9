"""Skewed and heavy-tailed noise: bias of f with and without the guard of the mean.

sin(2x)/2x with 2,000 and 20,000 rows on [−4, 4], noise of mean 0 and sd 0.1, ε = 1, δ = 1e-4.
Clipping is hard where rows are few, so the guard matters more there. "No guard" gives the guard's
share of the budget to the stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import exp, expm1, sqrt

import numpy as np

from dpgp.domain import Box
from dpgp.options import Options
from dpgp.privacy.noise import SimulatedNoise
from dpgp.private.fit import fit_rows
from dpgp.private.rows import scaled_rows
from dpgp.steps import Guard, kinds_of
from dpgp.types import Array
from dpgp_experiments.illustration import GRID, true_function
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.simulated import Sample, generator
from dpgp_experiments.successor_results import Fitted, Measures, Trial, Trials, score_function

ROWS = (2_000, 20_000)  # where clipping is hard, and where it is not
NOISE_STD = 0.1  # with bounds, ε and δ: those of §5.1
EPSILON, DELTA = 1.0, 1e-4
OPTIONS = Options(EPSILON, DELTA, Box.from_bounds((-4.0, 4.0), 1), Box.from_bounds((-1.5, 1.5), 1))
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
    rows = scaled_rows(data.X, data.y[None], OPTIONS, None)
    kinds = [kind for kind in kinds_of(OPTIONS) if guard or kind is not Guard]
    model = fit_rows(rows, OPTIONS, SimulatedNoise(rng), kinds=kinds)
    return Fitted(model.inputs, model.posteriors[0], OPTIONS.target_box)
