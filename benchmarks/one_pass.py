"""Fits of many inputs: with parts of the rows, and with every stage over all rows.

    OPENBLAS_NUM_THREADS=1 python benchmarks/one_pass.py time [rows ...]
    OPENBLAS_NUM_THREADS=1 python benchmarks/one_pass.py errors
    OPENBLAS_NUM_THREADS=1 python benchmarks/one_pass.py points [repeats]
    OPENBLAS_NUM_THREADS=1 python benchmarks/one_pass.py last
    OPENBLAS_NUM_THREADS=1 python benchmarks/one_pass.py files [rows]

The first prints seconds of the processor of all threads, how many times those of scikit-learn's
boosted trees on the same rows they are, the error of f over its sd, and the peak of memory, with
secure noise as in a fit that is published. The second compares errors on the same rows and seeds,
at a budget where parts are asked of fewer rows, each of which tells more. The third does the same
for more and more of the eleven stages with fewer inducing points, the fourth for fewer last stages
over all rows. The last runs `dpgp fit` on a file of Parquet with two inputs, and on one with six.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from workshop import python, write_table

from dpgp import PrivateGPRegressor
from dpgp.inference.many import plan
from dpgp.steps import stage
from dpgp.types import Array

DELTA, NEW_ROWS = 1e-6, 4000
NORMAL_BOUND, TARGET = 4.0, 12.0

Family = tuple[Callable[[Array], Array], Callable[[Any, int], Array], float, float]


def few_parts(X: Array) -> Array:
    """Return sin(x₁)x₂ + x₃²/4 + 0.3x₄; two more inputs do nothing."""
    return np.asarray(np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 / 4 + 0.3 * X[:, 3])


def waves(X: Array) -> Array:
    """Return three waves in oblique directions of five inputs."""
    directions = np.random.default_rng(77).standard_normal((3, 5))
    return np.asarray(sum(np.cos(2 * X @ direction) for direction in directions))


def normal_inputs(rng: Any, rows: int) -> Array:
    """Return six normal inputs within their bounds."""
    return np.asarray(np.clip(rng.standard_normal((rows, 6)), -NORMAL_BOUND, NORMAL_BOUND))


def even_inputs(rng: Any, rows: int) -> Array:
    """Return five inputs that fill their box."""
    return np.asarray(rng.uniform(-1, 1, (rows, 5)))


FAMILIES: dict[str, Family] = {
    "few parts": (few_parts, normal_inputs, NORMAL_BOUND, 0.7),
    "waves": (waves, even_inputs, 1.0, 0.3),
}
"""A function, its inputs, their bound, and the noise of an observation."""


def drawn(name: str, rows: int) -> tuple[Array, Array]:
    """Return rows of a family, the same in every run."""
    f, inputs, _, noise = FAMILIES[name]
    rng = np.random.default_rng(0)
    X = inputs(rng, rows)
    return X, f(X) + noise * rng.standard_normal(rows)


def fitted(name: str, rows: int, bounds: Any = None, **asked: Any) -> tuple[float, float]:
    """Fit once; return seconds of the processor, and the error over the sd of f."""
    f, inputs, bound, _ = FAMILIES[name]
    X, y = drawn(name, rows)
    new = inputs(np.random.default_rng(999), NEW_ROWS)
    gp = PrivateGPRegressor(
        bounds=[(-bound, bound)] * X.shape[1],
        target_bounds=bounds or (float(np.floor(y.min())), float(np.ceil(y.max()))),
        delta=DELTA,
        n_jobs=1,
        **asked,
    )
    seconds = timed(lambda: gp.fit(X, y))
    error = np.sqrt(np.mean((gp.predict(new) - f(new)) ** 2))
    return seconds, float(error / np.std(f(new)))


def timed(fit: Callable[[], Any]) -> float:
    """Return the seconds of the processor that a fit takes, of all its threads."""
    start = time.process_time()
    fit()
    return time.process_time() - start


def times(sizes: list[str]) -> None:
    """Print one line a size and a rule."""
    asked: dict[str, Any] = {"bounds": (-TARGET, TARGET), "epsilon": 1.0}
    fitted("few parts", 3000, **asked)  # imports
    for rows in map(int, map(float, sizes or ["1e5"])):
        X, y = drawn("few parts", rows)
        boosting = timed(lambda: HistGradientBoostingRegressor().fit(X, y))  # noqa: B023
        for passes in ("few", "all"):
            seconds, error = fitted("few parts", rows, passes=passes, **asked)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            ratio = f"{seconds / boosting:5.1f} times boosting"
            print(f"{rows:>9,} {passes:>4} {seconds:7.1f} s {ratio} {error:7.4f} {memory:6.0f} MB")


def errors() -> None:
    """Print one line a function and a rule; bounds of the targets are rounded from the rows."""
    for name in FAMILIES:
        for passes in ("all", "few"):
            _, error = fitted(name, 60_000, epsilon=8.0, random_state=0, passes=passes)
            print(f"{name:>10} {passes:>4} {error:7.4f}")


def points(repeats: int) -> None:
    """Print one line a function, a seed and a number of stages with fewer inducing points."""
    for seed in range(repeats):
        for name in FAMILIES:
            for early in (0, 4, 8, 10):
                stage.early_stages = lambda stages, early=early: early
                seconds, error = fitted(name, 15_000, epsilon=8.0, random_state=seed)
                print(f"{name:>10} {seed} {early:>2} stages {seconds:7.1f} s {error:8.5f}")


def last_stages() -> None:
    """Print one line for every number of last stages, of 400,000 rows: nμ = 95,000."""
    for deal in (plan.DEAL, plan.Deal(2, 0.4), plan.Deal(1, 0.5)):
        plan.DEAL = deal
        seconds, error = fitted("waves", 400_000, epsilon=1.0, random_state=0)
        print(f"     waves L = {deal.last}, a = {deal.share} {seconds:7.1f} s {error:7.4f}")


def files(rows: int) -> None:
    """Print core-seconds, time and memory of `dpgp fit` of a file, by the number of inputs."""
    with tempfile.TemporaryDirectory() as folder:
        for inputs in (2, 6):
            path = write_table(Path(folder) / "table.parquet", rows, inputs)
            columns = [word for k in range(inputs) for word in ("--feature", f"x{k}:-1:1")]
            asked = ["--target", "y:-3:3", "--epsilon", "1", "--delta", str(DELTA), "--yes"]
            command = ["fit", path, *columns, *asked, "--force", "-o", Path(folder) / "model.json"]
            cost = python("from dpgp.cli import app; app()", *command)[0]
            numbers = f"{cost.cpu:7.1f} s of cores {cost.wall:7.1f} s {cost.memory:6.0f} MB"
            print(f"{rows:>11,} rows, {inputs} inputs {numbers}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # that fits add up, or are seeded: the rows are made up
    if sys.argv[1:2] == ["errors"]:
        errors()
    elif sys.argv[1:2] == ["points"]:
        points(int((sys.argv[2:] or ["1"])[0]))
    elif sys.argv[1:2] == ["last"]:
        last_stages()
    elif sys.argv[1:2] == ["files"]:
        files(int(float((sys.argv[2:] or ["1e7"])[0])))
    else:
        times(sys.argv[2:])
