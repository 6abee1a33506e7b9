"""Simulated tables of 5, 10 and 20 inputs: few rows, known functions, loose public bounds.

Five kinds of functions, inputs that are uniform or correlated, 1,000 or 5,000 training rows (random
halves, as of the real tables). Targets are a function of sd 1 plus noise; their bounds are wide and
off centre, as users' bounds are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.stats import norm

from dpgp.types import Array
from dpgp_experiments.simulated import generator
from dpgp_experiments.tasks import Task

INPUTS = (5, 10, 20)
TRAINING_ROWS = (1000, 5000)
NOISE = 0.4
TARGET_BOUNDS = (-4.0, 6.0)
CORRELATION = 0.7  # of neighbouring columns
FARTHEST, BOUND = 3.9, 4.0  # sds of correlated inputs that are kept; what is said to be public


def linear(c: Array, w: Array) -> Array:
    """A straight line in a random direction."""
    return np.asarray(c @ w)


def additive(c: Array, w: Array) -> Array:
    """Waves of one input each, faster for every second one."""
    return np.asarray(np.sin(np.pi * c * (1 + np.arange(c.shape[1]) % 2)) @ w)


def ridge(c: Array, w: Array) -> Array:
    """A wave along a random direction."""
    return np.asarray(np.sin(4.0 * c @ w))


def friedman(c: Array, w: Array) -> Array:
    """Five inputs that matter, two of them together (Friedman 1991, eq. 61)."""
    u = (c + 1.0) / 2.0
    wave = 10.0 * np.sin(np.pi * u[:, 0] * u[:, 1])
    return np.asarray(wave + 20.0 * (u[:, 2] - 0.5) ** 2 + 10.0 * u[:, 3] + 5.0 * u[:, 4])


def interaction(c: Array, w: Array) -> Array:
    """Two products and a line."""
    return np.asarray(c[:, 0] * c[:, 1] + c[:, 2] * c[:, 3] + 0.5 * c[:, 4])


FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    function.__name__: function for function in (linear, additive, ridge, friedman, interaction)
}


def uniform(rows: int, inputs: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return uniform inputs, which are their own ranks in [−1, 1]."""
    X = rng.uniform(-1.0, 1.0, (rows, inputs))
    return X, X


def correlated(rows: int, inputs: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return Gaussian inputs, each like its neighbours, and their ranks in [−1, 1]."""
    places = np.arange(inputs)
    covariance = CORRELATION ** np.abs(places[:, None] - places)
    Z = rng.multivariate_normal(np.zeros(inputs), covariance, rows, method="cholesky")
    X = np.clip(Z, -FARTHEST, FARTHEST)
    return X, 2.0 * norm.cdf(X) - 1.0


LAWS = {"uniform": (uniform, 1.0), "correlated": (correlated, BOUND)}


class SimulatedTable(NamedTuple):
    """What a table is drawn from."""

    function: str
    law: str
    inputs: int
    training_rows: int

    @property
    def key(self) -> str:
        """How the table is known in the file of results."""
        return f"{self.function}_{self.law}_{self.inputs}_{self.training_rows}"

    @property
    def title(self) -> str:
        """What the table is called."""
        return f"{self.function}, {self.inputs} {self.law} inputs"

    def draw(self) -> Task:
        """Return the rows, the same every time."""
        rng = generator(0, crc32(self.key.encode()))
        law, bound = LAWS[self.law]
        rows = 2 * self.training_rows
        X, ranks = law(rows, self.inputs, rng)
        w = rng.standard_normal(self.inputs)
        f = FUNCTIONS[self.function](ranks, w / np.linalg.norm(w))
        y = (f - f.mean()) / f.std() + NOISE * rng.standard_normal(rows)
        bounds = ((-bound, bound),) * self.inputs
        return Task(self.key, self.title, X, y, bounds, TARGET_BOUNDS)


FAMILY = tuple(
    SimulatedTable(function, law, inputs, rows)
    for rows, inputs, function, law in product(TRAINING_ROWS, INPUTS, FUNCTIONS, LAWS)
)
