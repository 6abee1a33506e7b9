"""k models of n/k rows each, pooled and as updates in sequence, beside one fit and beside averages.

Simulated rows: sinc and a wave of one input, growth by age and weight, and six inputs of which two
are categories. Errors are root mean squares of the mean over the sd of the function, coverage is
that of 95 % intervals for the function. In the part "unequal" every release has half as many rows
as the one before.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.model.fitted import FittedModel
from dpgp.pooling import PoolingError, pool
from dpgp.report.health import HealthWarning
from dpgp.report.style import GREY, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.pool_tasks import TASKS, Simulated, fitted
from dpgp_experiments.simulated import generator, rmse, simulation
from dpgp_experiments.tables import Estimate, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEST_ROWS = 2_000
RELEASES = (2, 5, 20)
UPDATES = (2, 5)
"""Numbers of releases that are made in sequence as well: time grows with the square of them."""
UNEQUAL = "unequal"
PEERS = ("average", "1/variance", "product of experts")
METHODS = ("one fit", "one release", *PEERS, "pooled", "in sequence")


def run(assignment: Assignment) -> Outcome:
    """Run all tasks and numbers of releases."""
    found = records_of(jobs(assignment), assignment)
    return Outcome(found, _table(found, assignment), _draw(found))


Job = Callable[[], Iterable[Record]]


def records_of(jobs: Sequence[Job], assignment: Assignment) -> list[Record]:
    """Do all jobs, one after the other; small releases may well look wrong."""
    with simulation(), warnings.catch_warnings():
        warnings.simplefilter("ignore", HealthWarning)
        return [record for job in assignment.track(jobs) for record in job()]


def jobs(assignment: Assignment) -> list[Job]:
    """Return one job for every task and repeat, all numbers of releases in it."""
    unequal = assignment.part == UNEQUAL
    names = ["sinc", "six inputs"] if unequal else [assignment.part] if assignment.part else TASKS
    return [
        partial(compare, name, [assignment.seed, list(TASKS).index(name), repeat], unequal)
        for name in names
        for repeat in range(assignment.repeats)
    ]


def compare(name: str, key: Sequence[int], unequal: bool = False) -> Iterator[Record]:
    """Fit all rows, and k models of parts of them, and score what is made of them."""
    task, rng = TASKS[name], generator(*key)
    X, f, y = task.sample(task.rows + TEST_ROWS, rng)
    test, truth = X[task.rows :], f[task.rows :]
    whole = fitted(task, X[: task.rows], y[: task.rows], [*key, 0])
    for k in UPDATES[-1:] if unequal else RELEASES:
        parts = _parts(task.rows, k, unequal)
        models = [fitted(task, X[rows], y[rows], [*key, k, j]) for j, rows in enumerate(parts)]
        last = in_sequence(task, X, y, parts, [*key, k], models[0]) if k in UPDATES else None
        called = f"{name}, unequal" if unequal else name
        yield {"task": called, "releases": k, **_scores(whole, models, last, test, truth)}


def _parts(rows: int, k: int, unequal: bool) -> list[Array]:
    """Return the rows of every release: as many each, or half as many as the one before."""
    ends = np.cumsum(2.0 ** -np.arange(k) if unequal else np.ones(k))
    return np.split(np.arange(rows), np.round(rows * ends[:-1] / ends[-1]).astype(int))


def in_sequence(
    task: Simulated,
    X: Array,
    y: Array,
    parts: Sequence[Array],
    key: Sequence[int],
    first: FittedModel,
) -> FittedModel:
    """Return the last of several fits, each of which starts from the one before."""
    last = first
    for j, rows in enumerate(parts[1:], start=1):
        last = fitted(task, X[rows], y[rows], [*key, j, 1], prior_model=last)
    return last


def _scores(
    whole: FittedModel,
    models: Sequence[FittedModel],
    last: FittedModel | None,
    test: Array,
    truth: Array,
) -> dict[str, float]:
    told = [model.mean(test, return_std=True, latent=True) for model in models]
    means, sds = (np.array(each) for each in zip(*told, strict=True))
    refused = 0.0
    try:
        together = pool(models)
    except PoolingError:
        refused, together = 1.0, pool(models, different_curves=True)
    estimates = {
        "one fit": whole.mean(test, return_std=True, latent=True),
        "one release": None,
        "average": (means.mean(axis=0), np.sqrt((sds**2).sum(axis=0)) / len(sds)),
        "1/variance": _weighted(means, sds**-2.0),
        "product of experts": product_of_experts(means, sds, together, test),
        "pooled": together.mean(test, return_std=True, latent=True),
        "in sequence": (together if last is None else last).mean(
            test, return_std=True, latent=True
        ),
    }
    size = float(np.std(truth))
    found: dict[str, float] = {}
    for method, estimate in estimates.items():
        pairs = list(zip(means, sds, strict=True)) if estimate is None else [estimate]
        errors = [rmse(truth, mean) / size for mean, _ in pairs]
        covers = [float(np.mean(np.abs(mean - truth) <= 1.96 * sd)) for mean, sd in pairs]
        found |= {f"{method}": float(np.mean(errors)), f"{method}, covers": float(np.mean(covers))}
    if last is None:
        found |= {"in sequence": np.nan, "in sequence, covers": np.nan}
    moved = float(last is not None and len(last.members) < len(models))
    return found | {"refused": refused, "moved": moved}


def _weighted(means: Array, precisions: Array) -> tuple[Array, Array]:
    total = precisions.sum(axis=0)
    return (precisions * means).sum(axis=0) / total, total**-0.5


def product_of_experts(
    means: Array, sds: Array, model: FittedModel, test: Array
) -> tuple[Array, Array]:
    """Return the product of posteriors over all but one prior, N(0, v) about the middle of y.

    Bayesian committee machine: Tresp (2000).
    """
    posterior, box = model.posteriors[0], model.options.target_box
    middle, half = float(box.centre[0]), float(box.half_width[0])
    prior = half**2 * _prior_variance(posterior, model.unit_inputs(test))
    precision = (sds**-2.0).sum(axis=0) - (len(sds) - 1) / np.maximum(prior, sds.max(axis=0) ** 2)
    mean = middle + (sds**-2.0 * (means - middle)).sum(axis=0) / precision
    return mean, precision**-0.5


def _prior_variance(posterior: Any, U: Array) -> Array:
    draws = [posterior.kernel.clone_with_theta(theta) for theta in posterior.thetas[:, :-1]]
    return np.asarray(np.mean([kernel.diag(U) for kernel in draws], axis=0))


# --- tables and figures ---------------------------------------------------------------------------


def groups(found: Sequence[Record], *by: str) -> dict[tuple[Any, ...], list[Record]]:
    """Return records by some of their columns."""
    found_by: dict[tuple[Any, ...], list[Record]] = {}
    for record in found:
        found_by.setdefault(tuple(record[name] for name in by), []).append(record)
    return found_by


def mean_of(records: Sequence[Record], name: str) -> Estimate:
    """Return the mean of a column."""
    return Estimate.of(float(record[name]) for record in records)


def count(records: Sequence[Record], name: str) -> str:
    """Say how often something was."""
    return f"{round(sum(float(record[name]) for record in records))} of {len(records)}"


def _table(found: Sequence[Record], assignment: Assignment) -> TextTable:
    rows = []
    for (task, k), records in groups(found, "task", "releases").items():
        errors = [f"{mean_of(records, method).mean:.3f}" for method in METHODS]
        ratios = [_over(records, "pooled", peer) for peer in ("average", "1/variance")]
        ratios.append(_over(records, "in sequence", "one fit"))
        covers = [
            f"{mean_of(records, f'{m}, covers').mean:.0%}"
            for m in ("one fit", "pooled", "in sequence")
        ]
        told = [count(records, name) for name in ("refused", "moved")]
        rows.append([task, str(k), *errors, *map(str, ratios), *covers, *told])
    return TextTable(
        "k releases of n/k rows: error over the sd of the function",
        (
            *("task", "k", *METHODS),
            *("pooled/average", "pooled/(1/variance)", "in sequence/one fit"),
            *("one fit covers", "pooled covers", "in sequence covers", "refused", "moved"),
        ),
        rows,
        f"Means of {assignment.repeats} repeats, ratios geometric; simulated rows, seeded noise.",
    )


def _over(records: Sequence[Record], method: str, other: str) -> Estimate:
    """Return the geometric mean of ratios of errors, with its standard error."""
    logs = Estimate.of(np.log(float(r[method]) / float(r[other])) for r in records)
    ratio = float(np.exp(logs.mean))
    return Estimate(ratio, ratio * logs.error)


@styled
def _draw(found: Sequence[Record]) -> Figure:
    """Draw errors over that of one fit of all rows, against the number of releases."""
    names = list(groups(found, "task"))
    figure, grid = panels(1, len(names), (3.0 * len(names), 3.2))
    for axis, (task,) in zip(grid[0], names, strict=True):
        own = groups([record for record in found if record["task"] == task], "releases")
        ks = [k for (k,) in own]
        for method in METHODS[1:]:
            ratios = [_over(rows, method, "one fit") for rows in own.values()]
            means, bars = [r.mean for r in ratios], [np.nan_to_num(r.error) for r in ratios]
            width = 2.2 if method in ("pooled", "in sequence") else 1.0
            axis.errorbar(ks, means, yerr=bars, marker="o", ms=4, label=method, lw=width)
        axis.axhline(1.0, lw=0.8, color=GREY)
        axis.set(xscale="log", yscale="log", xlabel="releases k", title=task)
        axis.set_xticks(ks, [str(k) for k in ks])
        low, high = axis.get_ylim()
        ticks = [tick for tick in (0.5, 1, 1.5, 2, 3, 5, 10, 20, 50) if low <= tick <= high]
        axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
    grid[0][0].set_ylabel("error over that of one fit")
    grid[0][0].legend(frameon=False, fontsize=7, loc="upper left")
    return figure
