"""What the benchmarks of whole jobs share: simulated tables in files, and commands measured."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

CHUNK = 1_000_000


@dataclass(frozen=True)
class Cost:
    """What a process took: seconds on the clock, seconds of all cores, megabytes at its peak."""

    wall: float
    cpu: float
    memory: float


def measured(*command):
    """Run a command to its end, and return what it took; its last line of output too."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode:
        raise RuntimeError(f"{command[0]} failed")
    wall = time.perf_counter() - start
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), output


def python(code, *arguments):
    """Measure a script of this Python."""
    return measured(sys.executable, "-c", code, *map(str, arguments))


def write_table(path, rows, inputs=2, seed=0):
    """Write a simulated table of any length, a million rows at a time."""
    rng, writer = np.random.default_rng(seed), None
    kind = csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
    for start in range(0, rows, CHUNK):
        X = rng.uniform(-1, 1, (min(CHUNK, rows - start), inputs))
        y = np.sin(3 * X[:, 0]) + X[:, -1] + rng.normal(0, 0.1, len(X))
        table = pa.table({**{f"x{k}": X[:, k] for k in range(inputs)}, "y": np.clip(y, -3, 3)})
        writer = writer or kind(path, table.schema)
        writer.write_table(table)
    writer.close()
    return path
