"""Core-seconds of every pass that one fit makes over rows in memory, by what it asks.

    python benchmarks/passes.py [points along an input [rows]]

Two inputs, one thread; seconds of the processor, which neighbours on the machine disturb least.
"""

import sys
import time
import warnings

import numpy as np
from rich.console import Console
from rich.table import Table

from dpgp import PrivateGPRegressor
from dpgp.private.rows import Rows

POINTS, ROWS = 7, 1_000_000


def main():
    points = int(sys.argv[1]) if len(sys.argv) > 1 else POINTS
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else ROWS
    passes = []
    total = Rows.total

    def timed(self, question, threads=None):
        start = time.process_time()
        found = total(self, question, threads)
        passes.append((name_of(question), time.process_time() - start))
        return found

    Rows.total = timed
    start = time.process_time()
    fit(points, rows)
    table = Table("pass", "cores, s", title=f"{rows:,} rows, {points**2} features")
    for name, seconds in passes:
        table.add_row(name, f"{seconds:.2f}")
    table.add_row("the whole fit", f"{time.process_time() - start:.2f}")
    Console().print(table)


def name_of(question):
    """A histogram is named by the step that asks for it, a matrix by its features."""
    query = getattr(question, "query", None)
    if query is None:
        return f"sums of {question.features.dimension} features"
    return query.values_of.__qualname__.split(".")[0]


def fit(points, rows):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (rows, 2))
    y = np.clip(np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.1, rows), -3, 3)
    bounds = {"bounds": (-1, 1), "target_bounds": (-3, 3)}
    gp = PrivateGPRegressor(1.0, 1e-8, **bounds, inducing_points=points, random_state=0, n_jobs=1)
    with warnings.catch_warnings(action="ignore"):
        gp.fit(X, y)


if __name__ == "__main__":
    main()
