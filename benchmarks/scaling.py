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

LARGEST = 10_000_000
SECONDS = (5, 10, 20, 50, 100)  # marks of the axis
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
            "features": study_of_features(Path(folder), min(largest, 100_000)),
            "inputs": study_of_inputs(Path(folder), min(largest, 10_000)),
        }
    console = Console()
    for name, found in studies.items():
        console.print(table_of(name, found))
    draw(studies)


def study_of_rows(folder, largest):
    """49 features of two inputs."""
    return [(n, fit(folder, n, 2, 7)[0]) for n in (largest // 100, largest // 10, largest)]


def study_of_features(folder, rows):
    found = [fit(folder, rows, 2, points) for points in (4, 8, 12)]
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
    """Return b of a·x^b between the two largest, beyond what a fit of the smallest takes.

    Where that is nearly all, as for inputs, which add few features, of the whole.
    """
    (_, smallest), (x1, first), (x2, second) = found
    fixed = smallest.cpu if smallest.cpu < 0.75 * first.cpu else 0.0
    return np.log((second.cpu - fixed) / (first.cpu - fixed)) / np.log(x2 / x1)


def table_of(name, found):
    table = Table(name, "clock, s", "cores, s", "memory, MB", title=f"fits against {name}")
    for x, cost in found:
        table.add_row(f"{x:,}", f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.memory:.0f}")
    table.caption = f"growth: {name}^{exponent(found):.1f}"
    return table


def draw(studies):
    size = {"figsize": (9, 4.6), "layout": "constrained"}
    figure, axes = plt.subplots(2, len(studies), sharex="col", sharey="row", **size)
    for (time, memory), (name, found) in zip(axes.T, studies.items(), strict=True):
        x = [x for x, _ in found]
        time.loglog(x, [cost.cpu for _, cost in found], "o-")
        memory.semilogx(x, [cost.memory for _, cost in found], "s-", color="C1")
        time.set_title(f"growth: {name}$^{{{exponent(found):.1f}}}$", fontsize=10)
        memory.set_xlabel(name)
        memory.set_xticks(x, [f"{each:,}" for each in x])
        memory.minorticks_off()
        time.minorticks_off()
    axes[0, 0].set_ylabel("seconds of all cores")
    axes[0, 0].set_yticks(SECONDS, [f"{each}" for each in SECONDS])
    axes[1, 0].set(ylabel="peak memory, MB", ylim=(0, 700))
    figure.savefig(FIGURE, dpi=120)


if __name__ == "__main__":
    main()
