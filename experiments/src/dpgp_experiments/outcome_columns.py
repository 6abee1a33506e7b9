"""Columns that do not fill their box [−1, 1]: categories, many zeros, copies, constants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpgp.types import Array

NOISE_STD = 0.1


def uniform(rng: np.random.Generator, n: int, inputs: int) -> Array:
    """Inputs that fill the box."""
    return rng.uniform(-1.0, 1.0, (n, inputs))


def one_hot(rng: np.random.Generator, n: int, inputs: int) -> Array:
    """One number, and one category as 0/1 columns; two inputs leave room for one such column."""
    labels = rng.integers(max(inputs - 1, 2), size=n)
    members = labels[:, None] == np.arange(inputs - 1)
    return np.column_stack([uniform(rng, n, 1), 2.0 * members - 1.0])


def yes_no(rng: np.random.Generator, n: int, inputs: int) -> Array:
    """Independent 0/1 columns."""
    return np.where(rng.random((n, inputs)) < 0.4, 1.0, -1.0)


def many_zeros(rng: np.random.Generator, n: int, inputs: int) -> Array:
    """Four values in five at the lower bound."""
    return np.where(rng.random((n, inputs)) < 0.8, -1.0, uniform(rng, n, inputs))


def likert(rng: np.random.Generator, n: int, inputs: int) -> Array:
    """Five values, evenly spaced."""
    return rng.choice(np.linspace(-1.0, 1.0, 5), (n, inputs), p=[0.3, 0.3, 0.2, 0.15, 0.05])


def collinear(rng: np.random.Generator, n: int, inputs: int) -> Array:
    """Copies of one column with little noise."""
    return np.asarray(np.clip(uniform(rng, n, 1) + 0.05 * rng.standard_normal((n, inputs)), -1, 1))


def constant(rng: np.random.Generator, n: int, inputs: int) -> Array:
    """The last column has one value."""
    return np.column_stack([uniform(rng, n, inputs - 1), np.full(n, 0.3)])


def duplicated(rng: np.random.Generator, n: int, inputs: int) -> Array:
    """The last column is the first again."""
    X = uniform(rng, n, inputs - 1)
    return np.column_stack([X, X[:, 0]])


COLUMNS: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "uniform": uniform,
    "one-hot and a number": one_hot,
    "0/1": yes_no,
    "80 % zeros": many_zeros,
    "Likert": likert,
    "collinear": collinear,
    "constant": constant,
    "duplicated": duplicated,
}


def curve(X: Array) -> Array:
    """A smooth function of all columns, f = ½ tanh(Σ(−1)^j x_j/√D) + 0.2·x_1·x_2."""
    signs = (-1.0) ** np.arange(X.shape[1])
    return np.asarray(0.5 * np.tanh(X @ signs / np.sqrt(X.shape[1])) + 0.2 * X[:, 0] * X[:, 1])
