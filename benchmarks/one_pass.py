"""Processor time of fits of six inputs: with parts of the rows, and with every stage over all rows.

    OPENBLAS_NUM_THREADS=1 python benchmarks/one_pass.py [rows ...]

Prints seconds of the processor of all threads, the error of f over its sd, and the peak of memory.
The noise is secure, as in a fit that is published.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings

import numpy as np

from dpgp import PrivateGPRegressor
from dpgp.types import Array

EPSILON, DELTA, NOISE, BOUND, TARGET = 1.0, 1e-6, 0.7, 4.0, 12.0
NEW_ROWS = 4000


def truth(X: Array) -> Array:
    """Return sin(x₁)x₂ + x₃²/4 + 0.3x₄; two more inputs do nothing."""
    return np.asarray(np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 / 4 + 0.3 * X[:, 3])


def inputs(rows: int, seed: int) -> Array:
    """Return six normal inputs within their bounds."""
    X = np.random.default_rng(seed).normal(size=(rows, 6))
    return np.clip(X, -BOUND, BOUND)


def measured(rows: int, passes: str) -> tuple[float, float]:
    """Fit once; return seconds of the processor, and the error over the sd of f."""
    X, new = inputs(rows, 0), inputs(NEW_ROWS, 1)
    y = truth(X) + NOISE * np.random.default_rng(2).normal(size=rows)
    gp = PrivateGPRegressor(
        bounds=[(-BOUND, BOUND)] * 6,
        target_bounds=(-TARGET, TARGET),
        epsilon=EPSILON,
        delta=DELTA,
        passes=passes,
        n_jobs=1,
    )
    start = time.process_time()
    gp.fit(X, y)
    seconds = time.process_time() - start
    error = np.sqrt(np.mean((gp.predict(new) - truth(new)) ** 2))
    return seconds, float(error / np.std(truth(new)))


def main() -> None:
    """Print one line a size and a rule."""
    warnings.simplefilter("ignore")  # that fits add up: the rows are made up
    measured(3000, "few")  # imports
    for rows in map(int, map(float, sys.argv[1:] or ("1e5",))):
        for passes in ("few", "all"):
            seconds, error = measured(rows, passes)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            found = f"{seconds:7.1f} s {error:7.4f} {memory:6.0f} MB"
            print(f"{rows:>9,} {passes:>4} {found}", flush=True)


if __name__ == "__main__":
    main()
