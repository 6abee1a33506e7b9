"""What the parts of the comparison share: settings, scores, and how a private fit is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.posterior import Posterior
from dpgp.regressor import PrivateGPRegressor
from dpgp.types import Array
from dpgp_experiments.simulated import rmse
from dpgp_experiments.tables import Estimate, Record

MEASURES = ("rmse", "coverage_50", "coverage_80", "coverage_95", "bias", "found")
OUR_NOISE = 101  # first key of our noise; HM21's has 1 and the next ones


class Trial(NamedTuple):
    """What was tried: a task, a method, and its budget."""

    task: str
    method: str
    epsilon: float
    delta: float


Measures = Mapping[str, float]
Trials = Callable[[], Iterable[tuple[Trial, Measures]]]
Results = dict[Trial, list[Measures]]


def posterior_of(gp: PrivateGPRegressor) -> Posterior:
    """Return the posterior of the first target, in our tasks the only one."""
    posterior = gp.posterior_
    return posterior[0] if isinstance(posterior, tuple) else posterior


class Fitted(NamedTuple):
    """A fit to one target, in the units of the data."""

    inputs: UnitInputs
    posterior: Posterior
    target_box: Box

    @classmethod
    def of(cls, gp: PrivateGPRegressor) -> Fitted:
        """Take what a fitted estimator knows about f."""
        return cls(gp.model_.inputs, gp.model_.posteriors[0], gp.model_.options.target_box)

    def interval(self, X: Array, coverage: float) -> tuple[Array, Array]:
        """Return centre and half-width of intervals for f."""
        mean, half_width = self.posterior.half_width(self.inputs(X), coverage)
        scale = self.target_box.half_width[0]
        return self.target_box.centre[0] + scale * mean, scale * half_width


def score_function(fitted: Fitted, X: Array, f: Array) -> dict[str, float]:
    """Compare with the true function: error, mean error, and coverage by intervals for f."""
    mean, half_width_50 = fitted.interval(X, 0.5)
    _, half_width_95 = fitted.interval(X, 0.95)
    return {
        "rmse": rmse(f, mean),
        "bias": float(np.mean(mean - f)),
        "coverage_50": float(np.mean(np.abs(f - mean) <= half_width_50)),
        "coverage_95": float(np.mean(np.abs(f - mean) <= half_width_95)),
    }


def score_intervals(
    gp: PrivateGPRegressor, X: Any, y: Array, levels: Sequence[float]
) -> dict[str, float]:
    """Return the share of observations within ``predict_interval``, at every level."""
    shares = {}
    for level in levels:
        low, high = gp.predict_interval(X, level)
        shares[f"coverage_{100 * level:g}"] = float(np.mean((low <= y) & (y <= high)))
    return shares


def average(scores: Sequence[Measures], measure: str) -> Estimate:
    """Average a measure over repeats."""
    return Estimate.of(score[measure] for score in scores)


def estimate(scores: Sequence[Measures], measure: str) -> Estimate | None:
    """Do the same; None where the task has no such measure."""
    return average(scores, measure) if measure in scores[0] else None


def record(trial: Trial, scores: Sequence[Measures], measures: Iterable[str] = MEASURES) -> Record:
    """Return one line of the CSV; measures that a task does not have stay empty."""
    columns: dict[str, str | int | float] = {**trial._asdict(), "repeats": len(scores)}
    for measure in measures:
        value = estimate(scores, measure)
        empty = {measure: "", f"{measure}_se": ""}
        columns |= empty if value is None else value.columns(measure)
    return columns
