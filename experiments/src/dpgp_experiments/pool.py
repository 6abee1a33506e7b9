"""k models of n/k rows each, pooled, beside one fit of all rows and beside averages of predictions.

Simulated rows: sinc and a wave of one input, growth by age and weight, and six inputs of which two
are categories; ε = 1, δ = 1e-5 for every release. Errors are root mean squares of the mean over the
sd of the function, coverage is that of 95 % intervals for the function. The part "corrupt" pools
ten releases of which none or one has another unit, and counts what is refused and which is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.model.fitted import FittedModel
from dpgp.pooling import PoolingError, pool
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import GREY, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import generator, rmse, simulation
from dpgp_experiments.tables import Estimate, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILON, DELTA = 1.0, 1e-5
TEST_ROWS = 2_000
RELEASES = (2, 5, 20)
CORRUPT = "corrupt"
TEN, WRONG_UNIT = 10, 0.7
"""Releases of the part with a wrong unit, and by what one of them is multiplied."""
METHODS = ("one fit", "one release", "average", "1/variance", "product of experts", "pooled")


class Simulated(NamedTuple):
    """How rows are drawn, and what is public of them."""

    inputs: Callable[[int, np.random.Generator], Array]
    function: Callable[[Array], Array]
    noise: float
    public: Mapping[str, Any]
    rows: int

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return inputs, function and observations within their bounds."""
        X = self.inputs(n, rng)
        f = self.function(X)
        y = np.clip(f + self.noise * rng.standard_normal(n), *self.public["target_bounds"])
        return X, f, y


def sinc(X: Array) -> Array:
    """sin(2x)/2x."""
    return np.asarray(np.sinc(2.0 * X[:, 0] / np.pi))


def wave(X: Array) -> Array:
    """One draw of a Gaussian process with an RBF kernel of length 1, as rough as the prior."""
    rng = np.random.default_rng(5)
    frequencies, sizes = rng.normal(size=(2, 400))
    phases = rng.uniform(0, 2 * np.pi, 400)
    return np.asarray(np.cos(np.outer(X[:, 0], frequencies) + phases) @ sizes / 40)


def height(X: Array) -> Array:
    """Height by age, with a spurt that ends, and a little by weight."""
    age, weight = X.T
    spurt = 14.0 / (1.0 + np.exp(11.5 - age))
    bend = 0.12 * (age - 9.0) ** 2
    return np.asarray(80.0 + 5.2 * age + spurt - bend + 0.25 * (weight - 4.0 * age))


def ages_and_weights(n: int, rng: np.random.Generator) -> Array:
    """Return ages of 2 to 18, and weights that go with them."""
    age = rng.uniform(2, 18, n)
    return np.column_stack(
        [age, np.clip(6 + 3.2 * age + (1 + 0.6 * age) * rng.normal(size=n), 5, 120)]
    )


def mixed(X: Array) -> Array:
    """A product, a square and a line of four numbers, and levels that shift and bend it."""
    a, b, c, d, region, sex = X.T
    of_levels = 0.5 * (region == 1) - 0.4 * (region == 2) + 0.5 * sex * a
    return np.asarray(np.sin(a) * b + c**2 / 4 + 0.3 * d + of_levels)


def numbers_and_levels(n: int, rng: np.random.Generator) -> Array:
    """Return four numbers, a category of three levels and one of two."""
    return np.column_stack([rng.normal(size=(n, 4)), rng.integers(0, 3, n), rng.integers(0, 2, n)])


TASKS: Mapping[str, Simulated] = {
    "sinc": Simulated(
        lambda n, rng: rng.uniform(-4, 4, (n, 1)),
        sinc,
        0.1,
        {"bounds": [(-4, 4)], "target_bounds": (-1.5, 1.5)},
        8_000,
    ),
    "growth": Simulated(
        ages_and_weights,
        height,
        6.0,
        {"bounds": [(2, 18), (5, 120)], "target_bounds": (60, 210)},
        8_000,
    ),
    "six inputs": Simulated(
        numbers_and_levels,
        mixed,
        0.7,
        {
            "bounds": [(-4, 4)] * 4,
            "target_bounds": (-6, 6),
            "categories": {4: [0, 1, 2], 5: [0, 1]},
        },
        16_000,
    ),
    "wave": Simulated(
        lambda n, rng: rng.uniform(-4, 4, (n, 1)),
        wave,
        0.1,
        {"bounds": [(-4, 4)], "target_bounds": (-1.5, 1.5)},
        4_000,
    ),
}


def fitted(task: Simulated, X: Array, y: Array, seed: Sequence[int]) -> FittedModel:
    """Return the model of some rows, with seeded noise."""
    gp = PrivateGPRegressor(
        EPSILON, DELTA, n_jobs=1, random_state=np.random.default_rng(list(seed)), **task.public
    )
    return gp.fit(X, y).model_


def run(assignment: Assignment) -> Outcome:
    """Run all tasks and numbers of releases, or the part with a wrong unit."""
    found: list[Record] = []
    chosen = corrupt_jobs if assignment.part == CORRUPT else jobs
    with simulation():
        for job in assignment.track(chosen(assignment)):
            found += list(job())
    if assignment.part == CORRUPT:
        return Outcome(found, _corrupt_table(found, assignment), _draw_units(found))
    return Outcome(found, _table(found, assignment), _draw(found))


Job = Callable[[], Iterator[Record]]


def jobs(assignment: Assignment) -> list[Job]:
    """Return one job for every task and repeat, all numbers of releases in it."""
    names = [assignment.part] if assignment.part in TASKS else list(TASKS)
    repeats = range(assignment.repeats)
    return [
        partial(compare, name, [assignment.seed, list(TASKS).index(name), repeat])
        for name in names
        for repeat in repeats
    ]


def compare(name: str, key: Sequence[int]) -> Iterator[Record]:
    """Fit all rows, and k models of n/k rows, and score what is made of them."""
    task, rng = TASKS[name], generator(*key)
    X, f, y = task.sample(task.rows + TEST_ROWS, rng)
    test, truth = X[task.rows :], f[task.rows :]
    whole = fitted(task, X[: task.rows], y[: task.rows], [*key, 0])
    for k in RELEASES:
        parts = np.array_split(np.arange(task.rows), k)
        models = [fitted(task, X[rows], y[rows], [*key, k, j]) for j, rows in enumerate(parts)]
        yield {"task": name, "releases": k, **_scores(whole, models, test, truth)}


def _scores(
    whole: FittedModel, models: Sequence[FittedModel], test: Array, truth: Array
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
    }
    size = float(np.std(truth))
    found: dict[str, float] = {}
    for method, estimate in estimates.items():
        pairs = list(zip(means, sds, strict=True)) if estimate is None else [estimate]
        errors = [rmse(truth, mean) / size for mean, _ in pairs]
        covers = [float(np.mean(np.abs(mean - truth) <= 1.96 * sd)) for mean, sd in pairs]
        found |= {f"{method}": float(np.mean(errors)), f"{method}, covers": float(np.mean(covers))}
    return found | {"refused": refused}


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


# --- one of ten in another unit -------------------------------------------------------------------


def corrupt_jobs(assignment: Assignment) -> list[Job]:
    """Return one job for every task of one or two inputs and repeat."""
    names = ("sinc", "growth")
    return [
        partial(_corrupt, name, [assignment.seed, 9, list(TASKS).index(name), repeat])
        for name in names
        for repeat in range(assignment.repeats)
    ]


def _corrupt(name: str, key: Sequence[int]) -> Iterator[Record]:
    """Pool ten releases, and the same with one whose outcome has another unit."""
    task, rng = TASKS[name], generator(*key)
    X, _, y = task.sample(task.rows, rng)
    parts = np.array_split(np.arange(task.rows), TEN)
    models = [fitted(task, X[rows], y[rows], [*key, j]) for j, rows in enumerate(parts)]
    odd, low = int(rng.integers(TEN)), task.public["target_bounds"][0]
    spoiled = np.maximum(WRONG_UNIT * y[parts[odd]], low)
    wrong = [*models]
    wrong[odd] = fitted(task, X[parts[odd]], spoiled, [*key, odd])
    yield {"task": name, "wrong": 0, **_refused(models, None)}
    yield {"task": name, "wrong": 1, **_refused(wrong, odd)}


def _refused(models: Sequence[FittedModel], odd: int | None) -> dict[str, float]:
    try:
        pool(models)
    except PoolingError as error:
        named = odd is not None and f"function: release {odd + 1} has" in str(error)
        return {"refused": 1.0, "named": float(named)}
    return {"refused": 0.0, "named": 0.0}


# --- tables and figures ---------------------------------------------------------------------------


def _groups(found: Sequence[Record], *by: str) -> dict[tuple[Any, ...], list[Record]]:
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in found:
        groups.setdefault(tuple(record[name] for name in by), []).append(record)
    return groups


def _mean(records: Sequence[Record], name: str) -> Estimate:
    return Estimate.of(float(record[name]) for record in records)


def _count(records: Sequence[Record], name: str) -> str:
    return f"{round(sum(float(record[name]) for record in records))} of {len(records)}"


def _table(found: Sequence[Record], assignment: Assignment) -> TextTable:
    rows = []
    for (task, k), records in _groups(found, "task", "releases").items():
        errors = [f"{_mean(records, method).mean:.3f}" for method in METHODS]
        ratio = Estimate.of(
            float(r["pooled"]) / min(float(r[m]) for m in METHODS[2:5]) for r in records
        )
        covers = [f"{_mean(records, f'{m}, covers').mean:.0%}" for m in ("average", "pooled")]
        rows.append([task, str(k), *errors, str(ratio), *covers, _count(records, "refused")])
    return TextTable(
        "k releases of n/k rows: error over the sd of the function",
        ("task", "k", *METHODS, "pooled/best peer", "average covers", "pooled covers", "refused"),
        rows,
        f"Means of {assignment.repeats} repeats; simulated rows, seeded noise. Best peer: the best "
        "of the three averages in each repeat, which nobody knows beforehand.",
    )


def _corrupt_table(found: Sequence[Record], assignment: Assignment) -> TextTable:
    rows = []
    for (task, wrong), records in _groups(found, "task", "wrong").items():
        rows.append([task, str(wrong), _count(records, "refused"), _count(records, "named")])
    return TextTable(
        "Ten releases, none or one of them in another unit",
        ("task", "wrong releases", "refused", "the right one named"),
        rows,
        f"{assignment.repeats} repeats; the wrong release has {WRONG_UNIT:g} of its outcomes.",
    )


def _ratio(records: Sequence[Record], method: str) -> Estimate:
    return Estimate.of(float(record[method]) / float(record["one fit"]) for record in records)


@styled
def _draw(found: Sequence[Record]) -> Figure:
    """Draw errors over that of one fit of all rows, against the number of releases."""
    names = list(_groups(found, "task"))
    figure, grid = panels(1, len(names), (3.2, 3.0))
    for axis, (task,) in zip(grid[0], names, strict=True):
        own = _groups([record for record in found if record["task"] == task], "releases")
        ks = [k for (k,) in own]
        for method in METHODS[1:]:
            ratios = [_ratio(rows, method) for rows in own.values()]
            means, bars = [r.mean for r in ratios], [np.nan_to_num(r.error) for r in ratios]
            width = 2.2 if method == "pooled" else 1.0
            axis.errorbar(ks, means, yerr=bars, marker="o", ms=4, label=method, lw=width)
        axis.axhline(1.0, lw=0.8, color=GREY)
        axis.set(xscale="log", yscale="log", xlabel="releases k", title=task)
        axis.set_xticks(ks, [str(k) for k in ks])
        axis.minorticks_off()
    grid[0][0].set_ylabel("error over that of one fit")
    grid[0][-1].legend(frameon=False, fontsize=7)
    return figure


@styled
def _draw_units(found: Sequence[Record]) -> Figure:
    """Draw how often pools are refused."""
    groups = _groups(found, "task", "wrong")
    figure, [[axis]] = panels(1, 1, (4.0, 3.0))
    labels = [f"{task}, {wrong} wrong" for task, wrong in groups]
    axis.barh(labels, [_mean(records, "refused").mean for records in groups.values()])
    axis.set(xlabel="refused", xlim=(0, 1))
    return figure
