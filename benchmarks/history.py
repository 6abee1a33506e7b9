"""How good and how fast it is, version after version.

    python benchmarks/history.py            # prints a row for what is installed
    python benchmarks/history.py --append   # and adds it to docs/results/history.md

Simulated tables, six seeds each, the same in every version. Error is RMSE of f over its sd, a
geometric mean over seeds; coverage is that of 95 % intervals for new observations. Time is that of
one core over that of a fixed product of matrices in the same run, since machines differ.
"""

import subprocess
import sys
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import dpgp

PAGE = Path(__file__).parents[1] / "docs" / "results" / "history.md"
SEEDS, NEW_ROWS = range(6), 2000


def wave(X):
    return np.sin(4 * X[:, 0])


def surface(X):
    return np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 0]


def six(X):
    return np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.5 * X[:, 3]


TASKS = {
    "1 input, 1,000 rows": (wave, 1, 1000),
    "2, 3,000": (surface, 2, 3000),
    "6, 6,000": (six, 6, 6000),
}


def main():
    columns = ["version", "commit", "date"]
    row = [dpgp.__version__, commit(), date.today().isoformat()]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unit = floor()
        for name, task in TASKS.items():
            error, coverage, seconds = measured(*task)
            columns.append(f"{name}: error, coverage, time")
            row.append(f"{error:.3f}, {coverage:.1%}, {seconds / unit:.0f}")
    print("\n".join(f"{column:44}{value}" for column, value in zip(columns, row, strict=True)))
    if "--append" in sys.argv[1:]:
        with PAGE.open("a", encoding="utf-8") as page:
            page.write("| " + " | ".join(row) + " |\n")


def commit():
    """Return the commit that the folder of this script is at."""
    command = ["git", "-C", str(PAGE.parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def floor():
    """Return the time of a product of two matrices of 1,500 rows, the least of five."""
    A = np.random.default_rng(0).standard_normal((1500, 1500))
    return min(seconds_of(lambda: A @ A) for _ in range(5))


def seconds_of(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def measured(function, inputs, rows):
    """Return error over the sd of f, coverage of new observations, and seconds, over seeds."""
    found = [one(function, inputs, rows, seed) for seed in SEEDS]
    errors, coverages, seconds = np.array(found).T
    return np.exp(np.mean(np.log(errors))), coverages.mean(), np.median(seconds)


def one(function, inputs, rows, seed):
    rng = np.random.default_rng([seed, inputs])
    X = rng.uniform(-1, 1, (rows + NEW_ROWS, inputs))
    f = function(X)
    y = f + rng.normal(0, 0.3, len(f))
    gp = dpgp.PrivateGPRegressor(
        epsilon=1, delta=1e-6, bounds=(-1, 1), target_bounds=(-4, 4), n_jobs=1, random_state=seed
    )
    seconds = seconds_of(lambda: gp.fit(X[:rows], y[:rows]))
    low, high = gp.predict_interval(X[rows:], coverage=0.95)
    error = np.sqrt(np.mean((gp.predict(X[rows:]) - f[rows:]) ** 2)) / f.std()
    return error, np.mean((low <= y[rows:]) & (y[rows:] <= high)), seconds


if __name__ == "__main__":
    main()
