"""HM21 §5.2: do the predictive intervals cover what they promise?

A function from a Gaussian process of length scale 1, 1024 rows on [−4, 4], half for training and
half for testing, 15 inducing points on [−3.5, 3.5], δ = 1e-4. The 48 scenarios are read as four
noise levels σ (rows of the figure), three levels α (columns) and four ε (the axis); the values of
σ and α are ours, since the paper's text does not give them. R_y = 3·sqrt(1 + σ²), three standard
deviations of an observation under the known model. Test points are noisy observations, so they are
held against the interval for observations, of variance Var f(x) + σ²; coverage of f itself is in
the CSV, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.gaussian_process.kernels import RBF

from dpgp.cli.output import TextTable
from dpgp.paper import SparsePosterior
from dpgp.paper.model import PaperModel
from dpgp.paper.norm_bounds import norm_bound
from dpgp.paper.posterior import CovarianceTerms
from dpgp.privacy.noise import SimulatedNoise
from dpgp.report.style import BLUE, INK, VERMILION, legend_above, panels, styled
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import (
    SIMULATION_NOTE,
    Sample,
    coverage,
    draw_function,
    generator,
    simulation,
)
from dpgp_experiments.simulated_release import posteriors_of_one_release
from dpgp_experiments.tables import Estimate, Record

NOISE_STDS = (0.03, 0.1, 0.3, 1.0)
EPSILONS = (0.3, 1.0, 3.0, 10.0)
LEVELS = (0.5, 0.8, 0.95)
METHODS: dict[str, CovarianceTerms] = {"DP-GP": "complete", "naive": "naive"}
DELTA = 1e-4  # HM21 §5.2, as rows, kernel and inducing points
ROWS = 1024
KERNEL = RBF(1.0)
INDUCING_POINTS = np.linspace(-3.5, 3.5, 15)[:, None]
NODES = np.linspace(-5.0, 5.0, 81)[:, None]  # eight to a length scale, and beyond the data


class Scenario(NamedTuple):
    """One point of the figure."""

    method: str
    noise_std: float
    epsilon: float
    level: float


class Cover(NamedTuple):
    """Shares of the test points whose observation, and whose f, lies in its interval."""

    observation: float
    latent: float


class ShiftedLook(NamedTuple):
    """How a method is drawn, a little to the side so that no error bar hides another."""

    color: str
    marker: str
    shift: float


LOOKS = {"DP-GP": ShiftedLook(BLUE, "o", 1 / 1.03), "naive": ShiftedLook(VERMILION, "s", 1.03)}
Covers = dict[Scenario, list[Cover]]


def model_for(noise_std: float, R_k: float) -> PaperModel:
    """Return the true model, with public bounds of three standard deviations."""
    target_bound = 3.0 * math.sqrt(1.0 + noise_std**2)
    return PaperModel(KERNEL, INDUCING_POINTS, noise_std, target_bound, R_k)


def simulate(noise_std: float, rng: np.random.Generator) -> tuple[Sample, Sample]:
    """Draw a function and noisy observations of it; return a training and a test half."""
    X = rng.uniform(-4.0, 4.0, (ROWS, 1))
    f = draw_function(KERNEL, X, NODES, rng)
    sample = Sample(X, f + noise_std * rng.standard_normal(ROWS), f)
    return sample.part(slice(None, ROWS // 2)), sample.part(slice(ROWS // 2, None))


def posteriors(
    model: PaperModel, train: Sample, epsilon: float, rng: np.random.Generator
) -> dict[str, SparsePosterior]:
    """Release once, and compute every method's posterior from the same release."""
    models = [replace(model, covariance=terms) for terms in METHODS.values()]
    both = posteriors_of_one_release(models, train, epsilon, DELTA, SimulatedNoise(rng))
    return dict(zip(METHODS, both, strict=True))


def covers(posterior: SparsePosterior, test: Sample) -> list[Cover]:
    """Return coverage of the test points at every level."""
    mean, std = posterior.predict(test.X, return_std=True)
    std_y = np.sqrt(std**2 + posterior.noise_std**2)
    return [
        Cover(coverage(test.y, mean, std_y, level), coverage(test.f, mean, std, level))
        for level in LEVELS
    ]


def run(assignment: Assignment) -> Outcome:
    """Fit every (σ, ε) as often as asked, and average coverage at every level."""
    repeats, seed = assignment.repeats, assignment.seed
    results: Covers = {Scenario(*s): [] for s in product(METHODS, NOISE_STDS, EPSILONS, LEVELS)}
    R_k = norm_bound(KERNEL, INDUCING_POINTS, "certified")
    with simulation():
        for repeat, row in assignment.track(list(product(range(repeats), range(len(NOISE_STDS))))):
            _run_one(results, model_for(NOISE_STDS[row], R_k), seed, repeat, row)
    return Outcome(
        [_record(scenario, values) for scenario, values in results.items()],
        _table(results, repeats),
        draw(results),
    )


def _run_one(results: Covers, model: PaperModel, seed: int, repeat: int, row: int) -> None:
    train, test = simulate(model.noise_std, generator(seed, repeat, row))
    for column, epsilon in enumerate(EPSILONS):
        noise = generator(seed, repeat, row, 1 + column)
        for method, posterior in posteriors(model, train, epsilon, noise).items():
            for level, cover in zip(LEVELS, covers(posterior, test), strict=True):
                results[Scenario(method, model.noise_std, epsilon, level)].append(cover)


def _record(scenario: Scenario, values: Sequence[Cover]) -> Record:
    observation, latent = (Estimate.of(shares) for shares in zip(*values, strict=True))
    return {
        **scenario._asdict(),
        "delta": DELTA,
        "repeats": len(values),
        **observation.columns("coverage"),
        **latent.columns("coverage_of_f"),
    }


def _estimate(results: Covers, scenario: Scenario) -> Estimate:
    return Estimate.of(cover.observation for cover in results[scenario])


def _table(results: Covers, repeats: int) -> TextTable:
    columns = list(product(LEVELS, METHODS))
    rows = [
        [f"{std:g}", f"{epsilon:g}"]
        + [
            f"{_estimate(results, Scenario(m, std, epsilon, level)).mean:.2f}"
            for level, m in columns
        ]
        for std, epsilon in product(NOISE_STDS, EPSILONS)
    ]
    largest = max(_estimate(results, scenario).error for scenario in results)
    return TextTable(
        title="Share of test points in the interval (HM21 §5.2)",
        headings=("σ", "ε", *(f"{100 * level:g} %\n{method}" for level, method in columns)),
        rows=rows,
        caption=f"Means of {repeats} repeats, standard errors at most {largest:.3f}; "
        f"{SIMULATION_NOTE}.",
    )


@styled
def draw(results: Covers) -> Figure:
    """Draw coverage against ε: rows are noise levels, columns are interval levels."""
    figure, axes = panels(len(NOISE_STDS), len(LEVELS), (8.4, 8.2))
    for (row, noise_std), (column, level) in product(enumerate(NOISE_STDS), enumerate(LEVELS)):
        _draw_panel(axes[row][column], results, noise_std, level)
    for axis, level in zip(axes[0], LEVELS, strict=True):
        axis.set_title(f"{100 * level:g} % intervals")
    for line, noise_std in zip(axes, NOISE_STDS, strict=True):
        line[0].set_ylabel(f"σ = {noise_std:g}")
    for axis in axes[-1]:
        axis.set_xlabel("privacy parameter ε")
    figure.supylabel("share of test points within the interval", fontsize=10)
    legend_above(figure, axes[0][0])
    return figure


def _draw_panel(axis: Axes, results: Covers, noise_std: float, level: float) -> None:
    axis.axhline(level, color=INK, lw=1.1, ls=(0, (4, 3)), label="reference")
    for method, look in LOOKS.items():
        scenarios = [Scenario(method, noise_std, epsilon, level) for epsilon in EPSILONS]
        estimates = [_estimate(results, scenario) for scenario in scenarios]
        axis.errorbar(
            [look.shift * epsilon for epsilon in EPSILONS], [e.mean for e in estimates],
            yerr=[2 * e.error for e in estimates], color=look.color, marker=look.marker,
            ms=4.5, capsize=2.5, elinewidth=1.2, label=f"{method} ± two standard errors",
        )  # fmt: skip
    axis.set(xscale="log", ylim=(0.0, 1.03), xticks=EPSILONS)
    axis.set_xticklabels([f"{epsilon:g}" for epsilon in EPSILONS])
    axis.minorticks_off()
