"""One pass over a Parquet table by one and by two Dask workers of this machine, one thread each.

    python benchmarks/workers.py [rows]

100 features. The scheduler and the processes are up before the clock starts; medians in turns.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from distributed import Client, LocalCluster
from rich.console import Console
from rich.table import Table
from sklearn.gaussian_process.kernels import RBF
from workshop import write_table

from dpgp.domain import Box
from dpgp.features.combined import GridFeatures
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.options import Options
from dpgp.point_sets import as_grid, regular_grid
from dpgp.private.engines import DaskEngine
from dpgp.private.files import open_files
from dpgp.private.rows import RowReader
from dpgp.private.sums import exact_gram
from dpgp.private.table_rows import ClusterRows

ROWS, REPEATS = 2_000_000, 3
BOX = Box.from_bounds((-1, 1), 2, ["x0", "x1"])
GRID = as_grid(regular_grid([-1, -1], [1, 1], 10).points)
FEATURES = BoxFeatures(UnitInputs(BOX), GridFeatures.of([RBF(0.3)] * 2, GRID))


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        for part in range(8):
            write_table(Path(folder) / f"{part}.parquet", rows // 8, seed=part)
        seconds = {workers: seconds_of(folder, workers) for workers in (1, 2)}
    table = Table("workers", "a pass, s", "times one", title=f"{rows:,} rows, 100 features")
    for workers, taken in seconds.items():
        table.add_row(str(workers), f"{taken:.2f}", f"{seconds[1] / taken:.2f}")
    Console().print(table)


def seconds_of(folder, workers):
    options = Options.parse(box=BOX, target_box=Box.from_bounds((-3, 3), 1, ["y"]))
    wanted = RowReader(("x0", "x1"), ("y",), None, options)
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        source = ClusterRows.opened(open_files(folder), wanted, DaskEngine(client))
        return statistics.median(seconds_of_pass(source) for _ in range(REPEATS))


def seconds_of_pass(source):
    start = time.perf_counter()
    exact_gram(source, FEATURES)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
