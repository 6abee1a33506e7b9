"""What rows with missing inputs are worth: left out, or averaged over the private input model.

    python benchmarks/missing_inputs.py [--tables copula ring wide mixed] [--repeats 6]
        [--rows 3000] [--epsilon 1 3]

Simulates tables of which a share of the rows lacks inputs, fits them with ``missing="ignore"`` and
with ``missing="model"``, and prints for new complete rows the error of the mean and its ratio, how
often 95 % intervals hold f and new observations, and how wide the latter are. Noise is seeded:
none of this is private.

``copula``: six correlated inputs, half of them skewed; a share of the rows lacks one or two, at
random or the more often the higher the last input is, which is never missing. ``ring``: the same
gaps, in inputs that are no Gaussian copula: the first two lie on a ring, uncorrelated, where one
tells the other up to its sign. ``wide``: twelve inputs, of which every cell is empty with a chance
of a tenth, so that three rows in four lack some. ``mixed``: the first input is a category of four
levels, and so is the second one, of two.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpgp import PrivateGPRegressor
from dpgp.types import Array

CORRELATION, NOISE, TEST_ROWS, DELTA = 0.5, 0.5, 2000, 1e-6
SHAPES = {"copula": 6, "ring": 6, "wide": 12, "mixed": 6}  # inputs of every table
LEVELS = {"mixed": {0: 4, 1: 2}}
GAPS = ((0.1, "random"), (0.4, "random"), (0.4, "dependent"))
CELLS = ((0.1, "cells"),)


def table(kind: str, rows: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return inputs in [0, 1]ᴰ or levels, f, and f with noise."""
    D = SHAPES[kind]
    R = CORRELATION ** np.abs(np.subtract.outer(np.arange(D), np.arange(D)))
    X = ndtr(rng.multivariate_normal(np.zeros(D), R, rows))
    X[:, 1::2] **= 2
    if kind == "ring":
        angle = rng.uniform(0.0, 2 * np.pi, rows)
        ring = 0.5 + 0.4 * np.column_stack([np.cos(angle), np.sin(angle)])
        X[:, :2] = np.clip(ring + rng.normal(0.0, 0.03, (rows, 2)), 0.0, 1.0)
    for column, levels in LEVELS.get(kind, {}).items():
        X[:, column] = np.minimum(np.floor(levels * X[:, column]), levels - 1) / (levels - 1)
    f = np.sin(5 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + X[:, 3] - (2 * X[:, 4] - 1) ** 2
    for column, levels in LEVELS.get(kind, {}).items():
        X[:, column] *= levels - 1
    return X, f, f + rng.normal(0, NOISE, rows)


def with_holes(X: Array, share: float, how: str, rng: np.random.Generator) -> Array:
    """Return a copy in which about a share of the rows, or of the cells, is empty."""
    rows, D = X.shape
    if how == "cells":
        return np.where(rng.random(X.shape) < share, np.nan, X)
    chance = np.full(rows, share)
    if how == "dependent":  # on the last input, which is never missing then
        chance = share * X[:, -1] / X[:, -1].mean()
    holes, every = np.zeros(X.shape, dtype=bool), np.arange(rows)
    order = rng.random((rows, D - 1)).argsort(axis=1)
    both, lacking = rng.random(rows) < 0.5, rng.random(rows) < chance
    holes[every, order[:, 0]] = lacking
    holes[every, order[:, 1]] |= lacking & both
    return np.where(holes, np.nan, X)


def fitted(kind: str, X: Array, y: Array, epsilon: float, seed: int, missing: str) -> Any:
    """Return a model of rows with gaps."""
    levels = LEVELS.get(kind, {})
    gp = PrivateGPRegressor(
        epsilon,
        DELTA,
        bounds=[(0, 1)] * (X.shape[1] - len(levels)),
        categories={column: list(range(count)) for column, count in levels.items()} or None,
        target_bounds=(-3, 5),
        missing=missing,
        random_state=seed,
        n_jobs=1,
    )
    return gp.fit(X, y).model_


def told(kind: str, n: int, epsilon: float, share: float, how: str, seed: int) -> Array:
    """Return error, coverage of f and of observations, and width: ignored, then averaged."""
    rng = np.random.default_rng([seed, n, round(100 * share)])
    X, _, y = table(kind, n, rng)
    new, f, observed = table(kind, TEST_ROWS, rng)
    holed = with_holes(X, share, how, rng)
    found = []
    for missing in ("ignore", "model"):
        model = fitted(kind, holed, y, epsilon, seed, missing)
        low, high = model.predict_interval(new, 0.95, latent=True)
        below, above = model.predict_interval(new, 0.95)
        error = np.sqrt(np.mean((model.predict(new) - f) ** 2))
        holds_f = np.mean((low <= f) & (f <= high))
        holds_y = np.mean((below <= observed) & (observed <= above))
        found.append([error, holds_f, holds_y, np.mean(above - below)])
    return np.array(found)


def main() -> None:
    """Print a row for every setting."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="+", default=["copula"], choices=list(SHAPES))
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--rows", type=int, nargs="+", default=[3000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 3.0])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("table, rows, ε, gaps | error ignored | error of the model over it ± its standard error")
    print("  | of f, held: ignored, model | of observations, held | width over that of ignored")
    for kind, n, epsilon in product(asked.tables, asked.rows, asked.epsilon):
        for share, how in CELLS if kind == "wide" else GAPS:
            every = [told(kind, n, epsilon, share, how, seed) for seed in range(asked.repeats)]
            found = np.array(every)
            ratio, (ignored, model) = found[:, 1] / found[:, 0], found.mean(axis=0)
            error = ratio.std(axis=0, ddof=1) / np.sqrt(len(ratio)) if len(ratio) > 1 else [0.0]
            print(
                f"{kind} {n:,} ε = {epsilon:g} {share:.0%} {how} | {ignored[0]:.3f} | "
                f"{ratio[:, 0].mean():.2f} ± {error[0]:.2f} | {ignored[1]:.1%} {model[1]:.1%} | "
                f"{ignored[2]:.1%} {model[2]:.1%} | {ratio[:, 3].mean():.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
