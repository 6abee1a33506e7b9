"""Time and memory of whole fits against rows, features and inputs, with fitted exponents.

    python benchmarks/scaling.py [largest number of rows]

Every fit is a process of its own that reads a Parquet file. Seconds of all cores are fitted, which
neighbours on the machine disturb least. Draws docs/figures/scaling.png.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table
from workshop import python, write_table

LARGEST = 1_000_000
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "scaling.png"
FIT = """
import sys, warnings
from dpgp import PrivateGPRegressor
warnings.simplefilter("ignore")
path, inputs, points = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
bounds = {f"x{k}": (-1, 1) for k in range(inputs)}
gp = PrivateGPRegressor(1.0, 1e-8, bounds=bounds, target_bounds=(-3, 3), random_state=0,
                        inducing_points=points or None)
gp.fit(path, target="y")
print(gp.model_.posteriors[0].features.dimension)
"""


def main():
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else LARGEST
    with tempfile.TemporaryDirectory() as folder:
        studies = {
            "rows": study_of_rows(Path(folder), largest),
            "features": study_of_features(Path(folder), min(largest, 200_000)),
            "inputs": study_of_inputs(Path(folder), min(largest, 20_000)),
        }
    console = Console()
    for name, found in studies.items():
        console.print(table_of(name, found))
    draw(studies)


def study_of_rows(folder, largest):
    rows = [largest // 100, largest // 10, largest]
    return [(n, fit(folder, n, 2, 7)[0]) for n in rows]


def study_of_features(folder, rows):
    found = [fit(folder, rows, 2, points) for points in (4, 7, 10, 14)]
    return [(features, cost) for cost, features in found]


def study_of_inputs(folder, rows):
    return [(inputs, fit(folder, rows, inputs, 0)[0]) for inputs in (4, 8, 16)]


def fit(folder, rows, inputs, points):
    path = folder / f"{rows}-{inputs}.parquet"
    if not path.exists():
        write_table(path, rows, inputs)
    cost, output = python(FIT, path, inputs, points)
    return cost, int(output.split()[-1])


def exponent(found):
    """Return b of cost = a·x^b between the two largest; below, the fixed part of a fit rules."""
    (x1, first), (x2, second) = found[-2:]
    return np.log(second.cpu / first.cpu) / np.log(x2 / x1)


def table_of(name, found):
    table = Table(name, "clock, s", "cores, s", "memory, MB", title=f"fits against {name}")
    for x, cost in found:
        table.add_row(f"{x:,}", f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.memory:.0f}")
    table.caption = f"between the last two: {name}^{exponent(found):.2f}"
    return table


def draw(studies):
    figure, axes = plt.subplots(1, len(studies), figsize=(9, 2.8), layout="constrained")
    for axis, (name, found) in zip(axes, studies.items(), strict=True):
        axis.loglog([x for x, _ in found], [cost.cpu for _, cost in found], "o-", label="cores, s")
        axis.set(xlabel=name, title=f"{name}^{exponent(found):.2f}")
    axes[0].set_ylabel("seconds of all cores")
    figure.savefig(FIGURE, dpi=120)


if __name__ == "__main__":
    main()
