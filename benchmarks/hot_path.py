"""Time of one pass over the rows, as a multiple of the bare BLAS product it contains.

The floor is the symmetric product of the same integer columns, block by block, on the same threads,
with nothing else: no features, no rounding, no sums. Ratios within this one run are what counts;
seconds depend on the machine and on who else uses it. Seconds of the processor count the threads'
own work, which neighbours disturb less than the clock.
"""

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.gaussian_process.kernels import RBF
from threadpoolctl import threadpool_limits

from dpgp.features.inducing import kernel_features
from dpgp.point_sets import regular_grid
from dpgp.private.rows import Rows
from dpgp.private.sums import BLOCK_ROWS, exact_gram, integer_columns

REPEATS = 5
CASES = {5: 1_000_000, 10: 1_000_000, 20: 200_000}  # points an axis: rows


def main():
    columns = ("features", "rows", "pass, s", "floor, s", "pass / floor", "of the processor")
    table = Table(*columns, title=__doc__.split("\n")[0])
    for points, n in CASES.items():
        features = kernel_features(RBF(0.3), regular_grid([-1, -1], [1, 1], points).points, points)
        rows = simulated_rows(n)
        one_pass, floor = alternate(lambda: exact_gram(rows, features), floor_of(rows, features))  # noqa: B023
        seconds = (f"{one_pass[0]:.3f}", f"{floor[0]:.3f}")
        ratios = (f"{ours / bare:.2f}" for ours, bare in zip(one_pass, floor, strict=True))
        table.add_row(str(features.dimension), f"{n:,}", *seconds, *ratios)
    Console().print(table)


def simulated_rows(n):
    rng = np.random.default_rng(0)
    return Rows(rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, (1, n)), np.ones(n, dtype=bool))


def floor_of(rows, features):
    columns = integer_columns(next(rows.blocks(BLOCK_ROWS)), features)
    threads = os.cpu_count() or 1
    blocks = len(rows) / BLOCK_ROWS

    def multiply(_):
        product = np.empty((len(columns), len(columns)))
        for _ in range(round(blocks / threads)):
            np.matmul(columns, columns.T, out=product)

    def run():
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            list(pool.map(multiply, range(threads)))

    return run


def alternate(first, second):
    """Median seconds of both, on the clock and of the processor, measured in turns."""
    records = [], []
    for _ in range(REPEATS):
        for run, record in zip((first, second), records, strict=True):
            clock, processor = time.perf_counter(), time.process_time()
            run()
            record.append((time.perf_counter() - clock, time.process_time() - processor))
    return tuple(tuple(map(statistics.median, zip(*record, strict=True))) for record in records)


if __name__ == "__main__":
    main()
