"""Where the grid and the learned metric differ by accident: what each gains by the other's way.

A guard of 3 % of μ² instead of 5 %; the early mean, which only the grid reads; the
allowance for optimism of residuals, which only the metric makes; and a numeric target that turns
out to hold two values, which only the metric leaves unclipped. One change at a time, on rows that
both see; Gaussian and exponential noise around a bump, and a 0/1 target of its chances; one and two
inputs, n = 1,000 and 5,000, ε = 0.3, 1 and 3, δ = 1e-5. A part is a number of inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from dpgp.cli.output import TextTable
from dpgp.inference.clip_choice import DIRECTIONS
from dpgp.inference.few.fit import FixedFit
from dpgp.inference.guard import BiasPrior
from dpgp.inference.many.fit import MetricFit
from dpgp.inference.posterior import Moments, Posterior
from dpgp.regressor import PrivateGPRegressor
from dpgp.report.style import GREY, panels, styled
from dpgp.types import Array
from dpgp_experiments.few_inputs import DELTA, GRID, METHODS, METRIC, bump, crowded
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.outcomes import score_mean
from dpgp_experiments.simulated import SIMULATION_NOTE, generator
from dpgp_experiments.successor_results import (
    Measures,
    Results,
    Trial,
    Trials,
    record,
    score_intervals,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INPUTS, ROWS, EPSILONS = (1, 2), (1_000, 5_000), (0.3, 1.0, 3.0)
TEST_ROWS = 2_000
NOISE = 0.5
MEASURES = ("rmse", "bias", "coverage_95", "observed_95")
GAUSSIAN, SKEWED, YES_NO = "Gaussian noise", "exponential noise", "0/1"
AS_IT_IS = ""

Change = Callable[[], AbstractContextManager[object]]


def _optimism_of_grid(fit: FixedFit) -> tuple[float, ...]:
    """Return 1/(1 − d/n) for the d directions that a fit of fixed features learns, about."""
    first = fit.targets[0]
    leverage = min(DIRECTIONS[first.models[0].columns] / first.n, 0.5)
    return (1.0 / (1.0 - leverage),) * len(fit.targets)


@contextmanager
def _early_mean_of_metric() -> Iterator[None]:
    """Let the metric's guard read the average of f before the law of the residuals was known."""
    learn_laws, guard = MetricFit.learn_laws, MetricFit.guard
    early: dict[int, list[tuple[float, float, float]]] = {}

    def learn(fit: MetricFit, laws: Sequence[Any], mu: float) -> None:
        pairs = zip(fit.targets, fit.clips, strict=True)
        early[id(fit)] = [_average(fit, target, clip) for target, clip in pairs]
        learn_laws(fit, laws, mu)

    def guarded(fit: MetricFit, releases: Sequence[Any]) -> None:
        guard(fit, releases)
        rows = zip(fit.posteriors, fit.targets, early[id(fit)], strict=True)
        fit.posteriors = tuple(_corrected(fit, *row) for row in rows)

    with patch.object(MetricFit, "learn_laws", learn), patch.object(MetricFit, "guard", guarded):
        yield


def _average(fit: MetricFit, target: Any, clip: float) -> tuple[float, float, float]:
    """Return mean and variance of the average of f, and the clip, in units of the bounds."""
    dictionary, place = fit.dictionary, target.location
    a = dictionary.values.mean(axis=0)
    mean = place.centre * float(a @ dictionary.one) + place.scale * float(a @ target.belief.mean)
    return mean, place.scale**2 * float(np.sum((target.belief.root @ a) ** 2)), clip


def _corrected(
    fit: MetricFit, posterior: Posterior, target: Any, early: tuple[float, float, float]
) -> Posterior:
    """Condition a guarded posterior on the early average, as ``EarlyMean.correct`` does."""
    suspicion, (mean, variance, clip) = target.law.suspicion, early
    if suspicion == 0.0:
        return posterior
    moments, a = posterior.moments, fit.dictionary.values.mean(axis=0)
    late = float(a @ moments.V @ a)
    bias = BiasPrior.at(target.law, clip, moments.noise)
    shared = min(moments.noise**2 / fit.n, variance, late)
    doubt = (variance + bias.size**2) / suspicion**2
    c = moments.V @ a * (1.0 - shared / late)
    gain = c / (late + doubt - 2.0 * shared)
    w = moments.w + gain * (mean - float(a @ moments.w))
    V = moments.V - np.outer(gain, c)
    return replace(posterior, moments=Moments(w, (V + V.T) / 2, moments.noise))


CHANGES: Mapping[tuple[str, str], Change] = {
    (GRID, "guard of 3 %"): partial(patch, "dpgp.steps.guard.SHARE", 0.03),
    (METRIC, "guard of 3 %"): partial(patch, "dpgp.steps.guard.SHARE", 0.03),
    (GRID, "no early mean"): partial(
        patch, "dpgp.inference.guard.EarlyMean.correct", lambda _, guarded, *others: guarded
    ),
    (METRIC, "early mean"): _early_mean_of_metric,
    (GRID, "optimism"): partial(patch.object, FixedFit, "optimism", property(_optimism_of_grid)),
    (METRIC, "no optimism"): partial(
        patch.object, MetricFit, "optimism", property(lambda fit: (1.0,) * len(fit.targets))
    ),
}
"""One change at a time to one of the methods."""

CHANGES_OF_YES_NO: Mapping[tuple[str, str], Change] = {
    (GRID, "not clipped"): partial(patch, "dpgp.outcomes.number.Number.is_clipped", False),
    (METRIC, "clipped"): partial(patch, "dpgp.inference.many.location.SURE", 2.0),
}


def run(assignment: Assignment) -> Outcome:
    """Fit every task by both methods as they are, and with each change, as often as asked."""
    scores = assignment.collect(jobs(assignment))
    records = [record(trial, values, MEASURES) for trial, values in scores.items()]
    return Outcome(records, _table(scores, assignment), _draw(scores))


def jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every task, number of inputs, n, ε and repeat."""
    asked = [int(assignment.part)] if assignment.part else INPUTS
    tasks = enumerate((GAUSSIAN, SKEWED, YES_NO))
    cases = product(asked, tasks, ROWS, EPSILONS, range(assignment.repeats))
    return [
        partial(fit, name, inputs, n, epsilon, [assignment.seed, repeat, number, inputs, n])
        for inputs, (number, name), n, epsilon, repeat in cases
    ]


def fit(
    name: str, inputs: int, n: int, epsilon: float, key: Sequence[int]
) -> Iterator[tuple[Trial, Measures]]:
    """Fit the same rows by both methods, as they are and changed, and score all."""
    rng = generator(*key)
    X = crowded(n + TEST_ROWS, inputs, rng)
    f, y, bounds = _outcome(name, bump(X), rng)
    seed = [int(rng.integers(2**31)), round(10 * epsilon)]
    changes = CHANGES_OF_YES_NO if name == YES_NO else CHANGES
    task = f"{name}, {inputs} inputs, n = {n:,}"
    plain: dict[tuple[str, str], Change] = {(method, AS_IT_IS): ExitStack for method in METHODS}
    for (method, title), change in {**plain, **changes}.items():
        with METHODS[method](), change():
            gp = PrivateGPRegressor(
                epsilon, DELTA, bounds=[(-1, 1)] * inputs, target_bounds=bounds, n_jobs=1,
                random_state=np.random.default_rng(seed),
            ).fit(X[:n], y[:n])  # fmt: skip
            found = score_mean(gp, X[n:], f[n:])
            observed = score_intervals(gp, X[n:], y[n:], (0.95,))["coverage_95"]
        score = {key: found[key] for key in ("rmse", "bias", "coverage_95")}
        yield Trial(task, _words(method, title), epsilon, DELTA), {**score, "observed_95": observed}


def _words(method: str, change: str) -> str:
    return f"{method}, {change}" if change else method


def _outcome(
    name: str, f: Array, rng: np.random.Generator
) -> tuple[Array, Array, tuple[float, float]]:
    """Return the mean given x, draws, and public bounds."""
    if name == YES_NO:
        chances = 0.1 + 0.6 * (f - f.min()) / (f.max() - f.min())
        return chances, np.where(rng.random(len(f)) < chances, 1.0, 0.0), (0.0, 1.0)
    f = (f - f.mean()) / f.std()
    skewed = rng.standard_exponential(len(f)) - 1.0
    draws = rng.standard_normal(len(f)) if name == GAUSSIAN else skewed
    return f, np.clip(f + NOISE * draws, -5.0, 5.0), (-5.0, 5.0)


def _table(scores: Results, assignment: Assignment) -> TextTable:
    return TextTable(
        title="What the grid and the metric would gain by each other's ways",
        headings=(
            "task", "method", "ε", "RMSE over as it is", "|bias|", "95 % for f covers",
            "95 % for y covers",
        ),
        rows=list(_rows(scores)),
        caption=(
            f"Over numbers of inputs, rows and {assignment.repeats} repeats; {SIMULATION_NOTE}. "
            "RMSE over that of the same method as it is, a geometric mean over pairs of fits with "
            "its standard error; bias of f in half-widths of the bounds, and coverages, means."
        ),
    )  # fmt: skip


def _rows(scores: Results) -> Iterator[list[str]]:
    """Yield a row for every task, method and ε, over numbers of inputs and rows."""
    groups: dict[tuple[str, str, float], list[Trial]] = {}
    for trial in scores:
        task = trial.task.split(", ")[0]
        groups.setdefault((task, trial.method, trial.epsilon), []).append(trial)
    for (task, method, epsilon), trials in sorted(groups.items()):
        logs = np.concatenate([_log_ratios(scores, trial) for trial in trials])
        error = logs.std(ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else 0.0
        means = [
            np.mean([abs(score[measure]) for trial in trials for score in scores[trial]])
            for measure in MEASURES[1:]
        ]
        ratio = f"{np.exp(logs.mean()):.3f}±{error:.3f}" if error else "1"
        bias, *covers = means
        yield [task, method, f"{epsilon:g}", ratio, f"{bias:.4f}", *(f"{c:.3f}" for c in covers)]


def _log_ratios(scores: Results, trial: Trial) -> Array:
    plain = scores[trial._replace(method=trial.method.split(",")[0])]
    pairs = zip(scores[trial], plain, strict=True)
    return np.array([np.log(changed["rmse"] / as_it_is["rmse"]) for changed, as_it_is in pairs])


@styled
def _draw(scores: Results) -> Figure:
    """Draw how each change moves the error, one point a setting."""
    figure, [[axis]] = panels(1, 1, (6.0, 4.0))
    methods = sorted({trial.method for trial in scores if "," in trial.method})
    for place, method in enumerate(methods):
        logs = [_log_ratios(scores, trial).mean() for trial in scores if trial.method == method]
        axis.plot(np.exp(logs), np.full(len(logs), place), "o", ms=3)
    axis.axvline(1.0, lw=0.8, color=GREY)
    axis.set(xscale="log", xlabel="RMSE over as it is", yticks=range(len(methods)))
    axis.set_yticklabels(methods)
    return figure
