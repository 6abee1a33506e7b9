"""Inputs with long tails beside a straight line without privacy: docs/results/tails.md.

    python benchmarks/tails.py [tails] [none] [unlimited] [--repeats 3] [--epsilons 3] [--file CSV]

``tails``: the far ends of some inputs carry the outcome. ``none``: inputs without tails, or tails
that carry nothing. ``unlimited``: fits without noise beside ε = 10, also of a file of numbers whose
last column is the outcome; its bounds are those of the file. Errors are root mean squares on
4,000 other rows over the sd of their outcome, means over repeats with standard errors.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from dpgp import PrivateGPRegressor

ROWS, TEST, DELTA = 3_000, 4_000, 1e-5


def lognormal(rng, n):
    X = np.minimum(rng.lognormal(size=(n, 6)), 40.0)
    return X, X[:, 0] + 0.7 * X[:, 1] + 0.5 * np.log(X[:, 2]) + 0.3 * X[:, 3], 40.0, 0.26


def pareto(rng, n):
    X = np.minimum(np.column_stack([rng.pareto(2.5, (n, 3)), 20 * rng.random((n, 2))]), 20.0)
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.5 * np.sin(0.3 * X[:, 3]), 20.0, 0.26


def visits(rng, n):
    counts = np.minimum(rng.poisson(rng.gamma(0.3, 7.0, (n, 4))), 60.0)
    ages = rng.uniform(20, 60, (n, 2))
    return np.column_stack([counts, ages]), counts @ [1.0, 0.6, 0, 0] + ages[:, 0] / 12, 60.0, 0.26


def blood(rng, n):
    common = rng.normal(size=(n, 1))
    X = np.minimum(20 * np.exp(0.5 * common + rng.normal(size=(n, 5))), 1000.0)
    return X, X[:, 0] + 0.8 * X[:, 1] + 20 * np.log(X[:, 2] / 20), 1000.0, 0.3


def incomes(rng, n):
    wealth = np.where(rng.random((n, 2)) < 0.3, 0.0, rng.lognormal(1.0, 1.3, (n, 2)))
    X = np.minimum(np.column_stack([wealth, rng.uniform(0, 150, (n, 5))]), 150.0)
    return X, X[:, 0] + 0.4 * X[:, 1] + 5 * np.tanh(X[:, 2] / 50 - 1), 150.0, 0.3


def weibull(rng, n):
    X = np.minimum(rng.weibull(0.5, (n, 5)), 60.0)
    return X, X[:, 0] - 0.5 * X[:, 1] + np.sqrt(X[:, 2]), 60.0, 0.26


def idle_tails(rng, n):
    X = np.minimum(rng.lognormal(size=(n, 6)), 40.0)
    L = np.log(X)
    return X, np.sin(2 * L[:, 0]) + np.tanh(L[:, 1]) * np.clip(L[:, 2], -1, 1), 40.0, 0.4


def bells(rng, n):
    X = 5 + np.clip(rng.normal(size=(n, 6)), -5, 5)
    return X, np.sin(1.5 * X[:, 0]) + 0.5 * (X[:, 1] - 5) * (X[:, 2] - 5) + X[:, 3], 10.0, 0.4


def even(rng, n):
    X = rng.uniform(0, 2, (n, 6))
    return X, np.sin(3 * X[:, 0]) + (X[:, 1] - 1) * (X[:, 2] - 1) + X[:, 3], 2.0, 0.4


def wave(rng, n):
    X = rng.uniform(0, 2, (n, 5))
    return X, np.sin(5 * X[:, 0]) * np.cos(4 * X[:, 1]) + X[:, 2] * X[:, 3], 2.0, 0.1


def of_file(path):
    """Return a table of rows of a file, inputs scaled to [0, 1]."""
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    X, y = rows[:, :-1], rows[:, -1]
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)

    def table(rng, n):
        chosen = rng.permutation(len(X))[:n]
        return X[chosen], y[chosen], 1.0, 0.0

    table.__name__ = Path(path).stem
    return table


TABLES = {
    "tails": (lognormal, pareto, visits, blood, incomes, weibull),
    "none": (idle_tails, bells, even),
    "unlimited": (wave,),
}


def errors(table, epsilon, seed):
    """Return the error of a fit and that of least squares, over the sd of the outcome."""
    rng = np.random.default_rng([seed, len(table.__name__)])
    X, f, high, noise = table(rng, ROWS + TEST)
    y = f + noise * f.std() * rng.normal(size=len(f))
    bounds = float(np.floor(y.min())), float(np.ceil(y.max()))
    model = PrivateGPRegressor(
        epsilon=epsilon,
        delta=DELTA,
        bounds=(0, high),
        target_bounds=bounds,
        random_state=seed,
    )
    model.fit(X[:ROWS], y[:ROWS])
    A = np.column_stack([np.ones(len(X)), X])
    line = A @ np.linalg.lstsq(A[:ROWS], y[:ROWS], rcond=None)[0]
    left = (y[ROWS:] - guess for guess in (model.predict(X[ROWS:]), line[ROWS:]))
    return [np.sqrt(np.mean(r**2)) / y[ROWS:].std() for r in left]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=[*TABLES])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilons", type=float, nargs="*", default=[3.0])
    parser.add_argument("--file", action="append", default=[])
    asked = parser.parse_args()
    tables = TABLES | {"unlimited": (*TABLES["unlimited"], *map(of_file, asked.file))}
    print("| table | ε | error | line without privacy | ratio |\n|---|---|---|---|---|")
    for part in asked.parts:
        for table in tables[part]:
            for epsilon in [10.0, np.inf] if part == "unlimited" else asked.epsilons:
                found = np.array([errors(table, epsilon, k) for k in range(asked.repeats)])
                ratios = found[:, 0] / found[:, 1]
                spread = ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
                fit, line = found.mean(axis=0)
                name = table.__name__.replace("_", " ")
                row = f"{fit:.3f} | {line:.3f} | {ratios.mean():.2f} ± {spread:.2f}"
                print(f"| {name} | {epsilon:g} | {row} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
