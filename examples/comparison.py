"""What privacy costs: error against the known truth, over repeated data sets, at several ε."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

EPSILONS = (1.0, 3.0, math.inf)
N_TRAIN, N_TEST = 2000, 500


class Sample(NamedTuple):
    """Simulated objects, their noisy responses, and the responses without noise."""

    X: Sequence[Any]
    y: Array
    truth: Array


class Errors(NamedTuple):
    """Held-out RMSE of one way to predict, one value a repeat."""

    name: str
    rmse: Array


def compare(
    simulate: Callable[[int, np.random.Generator], Sample],
    fit: Callable[[Sequence[Any], Array, float], Any],
    repeats: int = 20,
    epsilons: Sequence[float] = EPSILONS,
) -> list[Errors]:
    """Return the errors of predicting the mean, then of a model at every ε."""
    names = ["the mean", *(_name(epsilon) for epsilon in epsilons)]
    rmse = []
    for repeat in range(repeats):
        generator = np.random.default_rng(repeat)
        train, test = simulate(N_TRAIN, generator), simulate(N_TEST, generator)
        models = [fit(train.X, train.y, epsilon) for epsilon in epsilons]
        predictions = [train.y.mean(), *(model.predict(test.X) for model in models)]
        rmse.append([np.sqrt(np.mean((p - test.truth) ** 2)) for p in predictions])
    return [Errors(name, column) for name, column in zip(names, np.array(rmse).T, strict=True)]


def print_table(errors: Sequence[Errors]) -> None:
    """Print means and standard errors over the repeats, and ratios to predicting the mean."""
    baseline = errors[0].rmse
    print(f"held-out RMSE against the truth, {N_TRAIN} rows, {len(baseline)} repeats")
    print(f"{'prediction':14}{'RMSE':>8}{'s.e.':>8}{'ratio':>9}{'s.e.':>8}")
    for name, rmse in errors:
        columns = (*_summary(rmse), *_summary(rmse / baseline))
        print(f"{name:14}" + "{:8.3f}{:8.3f}{:9.3f}{:8.3f}".format(*columns))


def _summary(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def _name(epsilon: float) -> str:
    return "no noise" if math.isinf(epsilon) else f"epsilon = {epsilon:g}"
