"""Whole jobs as a user sees them, against the time that pyarrow alone needs to read the table.

    python benchmarks/whole_jobs.py [rows [parquet or csv]]

`dpgp fit` of a Parquet and a CSV file, two inputs, and `dpgp predict`, each a process of its own.
"""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table
from workshop import measured, python, write_table

ROWS = 1_000_000
READ = {
    ".parquet": "import sys; from pyarrow import parquet; parquet.read_table(sys.argv[1])",
    ".csv": "import sys; from pyarrow import csv; csv.read_csv(sys.argv[1])",
}
COLUMNS = ("--target", "y:-3:3", "--feature", "x0:-1:1", "--feature", "x1:-1:1")
BUDGET = ("--epsilon", "1", "--delta", "1e-8")


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    kinds = [f".{sys.argv[2]}"] if len(sys.argv) > 2 else list(READ)
    columns = ("clock, s", "cores, s", "memory, MB", "clock / reading")
    table = Table("job", *columns, title=f"{rows:,} rows")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.json"
        for kind in kinds:
            path = write_table(Path(folder) / f"table{kind}", rows)
            reading = python(READ[kind], path)[0]
            add(table, f"pyarrow reads {kind}", reading, reading)
            add(table, f"dpgp fit {kind}", dpgp("fit", path, *COLUMNS, *BUDGET, "--yes", "--force",
                                                "-o", model), reading)  # fmt: skip
            out = Path(folder) / "out.csv"
            job = dpgp("predict", model, path, "--force", "-o", out)
            add(table, f"dpgp predict {kind}", job, reading)
    Console().print(table)


def dpgp(*arguments):
    code = "from dpgp.cli import app; app()"
    return measured(sys.executable, "-c", code, *map(str, arguments))[0]


def add(table, name, cost, reading):
    numbers = (f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.memory:.0f}")
    table.add_row(name, *numbers, f"{cost.wall / reading.wall:.0f}")


if __name__ == "__main__":
    main()
