"""Simulated tables that are divided among several releases; ε = 1, δ = 1e-5 for every release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpgp.model.fitted import FittedModel
from dpgp.regressor import PrivateGPRegressor
from dpgp.types import Array

EPSILON, DELTA = 1.0, 1e-5


class Simulated(NamedTuple):
    """How rows are drawn, and what is public of them."""

    inputs: Callable[[int, np.random.Generator], Array]
    function: Callable[[Array], Array]
    noise: float
    public: Mapping[str, Any]
    rows: int

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return inputs, function and observations within their bounds."""
        X = self.inputs(n, rng)
        f = self.function(X)
        y = np.clip(f + self.noise * rng.standard_normal(n), *self.public["target_bounds"])
        return X, f, y


def sinc(X: Array) -> Array:
    """sin(2x)/2x."""
    return np.asarray(np.sinc(2.0 * X[:, 0] / np.pi))


def wave(X: Array) -> Array:
    """One draw of a Gaussian process with an RBF kernel of length 1, as rough as the prior."""
    rng = np.random.default_rng(5)
    frequencies, sizes = rng.normal(size=(2, 400))
    phases = rng.uniform(0, 2 * np.pi, 400)
    return np.asarray(np.cos(np.outer(X[:, 0], frequencies) + phases) @ sizes / 40)


def height(X: Array) -> Array:
    """Height by age, with a spurt that ends, and a little by weight."""
    age, weight = X.T
    spurt = 14.0 / (1.0 + np.exp(11.5 - age))
    bend = 0.12 * (age - 9.0) ** 2
    return np.asarray(80.0 + 5.2 * age + spurt - bend + 0.25 * (weight - 4.0 * age))


def ages_and_weights(n: int, rng: np.random.Generator) -> Array:
    """Return ages of 2 to 18, and weights that go with them."""
    age = rng.uniform(2, 18, n)
    return np.column_stack(
        [age, np.clip(6 + 3.2 * age + (1 + 0.6 * age) * rng.normal(size=n), 5, 120)]
    )


def mixed(X: Array) -> Array:
    """A product, a square and a line of four numbers, and levels that shift and bend it."""
    a, b, c, d, region, sex = X.T
    of_levels = 0.5 * (region == 1) - 0.4 * (region == 2) + 0.5 * sex * a
    return np.asarray(np.sin(a) * b + c**2 / 4 + 0.3 * d + of_levels)


def numbers_and_levels(n: int, rng: np.random.Generator) -> Array:
    """Return four numbers, a category of three levels and one of two."""
    return np.column_stack([rng.normal(size=(n, 4)), rng.integers(0, 3, n), rng.integers(0, 2, n)])


TASKS: Mapping[str, Simulated] = {
    "sinc": Simulated(
        lambda n, rng: rng.uniform(-4, 4, (n, 1)),
        sinc,
        0.1,
        {"bounds": [(-4, 4)], "target_bounds": (-1.5, 1.5)},
        8_000,
    ),
    "growth": Simulated(
        ages_and_weights,
        height,
        6.0,
        {"bounds": [(2, 18), (5, 120)], "target_bounds": (60, 210)},
        8_000,
    ),
    "six inputs": Simulated(
        numbers_and_levels,
        mixed,
        0.7,
        {
            "bounds": [(-4, 4)] * 4,
            "target_bounds": (-6, 6),
            "categories": {4: [0, 1, 2], 5: [0, 1]},
        },
        16_000,
    ),
    "wave": Simulated(
        lambda n, rng: rng.uniform(-4, 4, (n, 1)),
        wave,
        0.1,
        {"bounds": [(-4, 4)], "target_bounds": (-1.5, 1.5)},
        4_000,
    ),
}


def fitted(
    task: Simulated,
    X: Array,
    y: Array,
    seed: Sequence[int],
    prior_model: FittedModel | None = None,
) -> FittedModel:
    """Return the model of some rows, with seeded noise, which may start from an earlier one."""
    gp = PrivateGPRegressor(
        EPSILON, DELTA, n_jobs=1, random_state=np.random.default_rng(list(seed)), **task.public
    )
    return gp.fit(X, y, prior_model=prior_model).model_
