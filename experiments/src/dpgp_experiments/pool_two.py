"""Two releases of one input: their records read together, and the average of their predictions.

An average applies the prior once in every release, so that it may have more bias and less spread.
Both are measured over repeats, at fixed places, against the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.pooling import pool
from dpgp.report.style import panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.pool import records_of
from dpgp_experiments.pool_tasks import TASKS, fitted
from dpgp_experiments.simulated import generator
from dpgp_experiments.tables import Estimate, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = (1_000, 4_000)  # of each of two releases
PLACES = np.linspace(-3.9, 3.9, 200)[:, None]
METHODS = ("one fit", "one release", "average", "1/variance", "pooled")
Means = dict[str, list[Array]]


def run(assignment: Assignment) -> Outcome:
    """Fit pairs of releases of the sinc, or of the wave, again and again."""
    names = [assignment.part] if assignment.part else ["sinc", "wave"]
    jobs = [partial(_records, name, n, assignment) for name in names for n in ROWS]
    found = records_of(jobs, assignment)
    return Outcome(found, _table(found, assignment), _draw(found))


def _records(name: str, n: int, assignment: Assignment) -> list[Record]:
    return _summary(name, n, _means(name, n, assignment))


def _means(name: str, n: int, assignment: Assignment) -> Means:
    """Return what every method says of the function at the places, repeat by repeat."""
    task, means = TASKS[name], Means()
    for repeat in range(assignment.repeats):
        key = [assignment.seed, list(TASKS).index(name), n, repeat]
        X, _, y = task.sample(2 * n, generator(*key))
        parts = [slice(0, n), slice(n, None)]
        models = [fitted(task, X[rows], y[rows], [*key, j]) for j, rows in enumerate(parts)]
        told = [model.mean(PLACES, return_std=True, latent=True) for model in models]
        own, sds = (np.array(each) for each in zip(*told, strict=True))
        weights = sds**-2.0 / (sds**-2.0).sum(axis=0)
        said = {
            "one fit": fitted(task, X, y, [*key, 2]).mean(PLACES),
            "one release": own[0],
            "average": own.mean(axis=0),
            "1/variance": (weights * own).sum(axis=0),
            "pooled": pool(models, different_curves=True).mean(PLACES),
        }
        for method, mean in said.items():
            means.setdefault(method, []).append(mean)
    return means


def _summary(name: str, n: int, means: Means) -> list[Record]:
    """Return error, bias and spread of every method over the sd of the function."""
    truth = TASKS[name].function(PLACES)
    size = float(np.std(truth))
    errors = {method: _rms(np.array(m) - truth, 1) for method, m in means.items()}
    records: list[Record] = []
    for method in METHODS:
        each = np.array(means[method])
        over = Estimate.of(np.log(errors[method] / errors["average"]))
        records.append(
            {
                "task": name,
                "rows": n,
                "method": method,
                "error": float(_rms(each - truth, None)) / size,
                "bias": float(_rms(each.mean(axis=0) - truth, None)) / size,
                "spread": float(np.sqrt(each.var(axis=0, ddof=1).mean())) / size,
                "ratio": float(np.exp(over.mean)),
                "ratio error": float(np.exp(over.mean) * over.error),
            }
        )
    return records


def _rms(values: Array, axis: int | None) -> Any:
    return np.sqrt(np.mean(values**2, axis=axis))


def _table(found: Sequence[Record], assignment: Assignment) -> TextTable:
    rows = [
        [
            *(str(record[name]) for name in ("task", "rows", "method")),
            *(f"{float(record[name]):.4f}" for name in ("error", "bias", "spread")),
            f"{float(record['ratio']):.3f} ± {float(record['ratio error']):.3f}",
        ]
        for record in found
    ]
    return TextTable(
        "Two releases: error, its part that is the same in all repeats, and the rest",
        ("task", "rows each", "method", "error", "bias", "spread", "error over that of average"),
        rows,
        f"{assignment.repeats} repeats, over the sd of the function; seeded noise. The bias holds "
        "spread over the root of the repeats.",
    )


@styled
def _draw(found: Sequence[Record]) -> Figure:
    """Draw bias against spread of every method."""
    settings = list(dict.fromkeys((record["task"], record["rows"]) for record in found))
    figure, grid = panels(1, len(settings), (3.0, 3.0))
    for axis, setting in zip(grid[0], settings, strict=True):
        for record in found:
            if (record["task"], record["rows"]) == setting:
                axis.plot(record["spread"], record["bias"], "o", label=record["method"])
        axis.set(title=f"{setting[0]}, 2 × {setting[1]} rows", xlabel="spread", ylabel="bias")
    grid[0][-1].legend(frameon=False, fontsize=7)
    return figure
