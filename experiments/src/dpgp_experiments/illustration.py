"""HM21 §5.1: one function inferred at four levels of privacy.

f(x) = sin(2x)/2x, N = 1024 rows on [−4, 4], σ = 0.1, nine inducing points on [−3, 3], length scale
1, δ = 1e-4, R_y = 1. Errors are to the true function on a grid of [−4, 4], intervals those of f.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.gaussian_process.kernels import RBF

from dpgp.cli.output import TextTable
from dpgp.paper import SparsePosterior, dp_gp_inference
from dpgp.paper.model import PaperModel
from dpgp.paper.norm_bounds import norm_bound
from dpgp.report.style import BLUE, GREEN, INK, PALE, legend_above, panels, styled
from dpgp.types import Array
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import (
    SIMULATION_NOTE,
    Sample,
    coverage,
    generator,
    rmse,
    simulation,
)
from dpgp_experiments.simulated_release import NoNoise, posteriors_of_one_release
from dpgp_experiments.tables import Estimate, Record

EPSILONS = (0.3, 1.0, 3.0, 10.0)
DELTA = 1e-4  # HM21 §5.1, as everything but the grid
ROWS = 1024
NOISE_STD = 0.1
TARGET_BOUND = 1.0
KERNEL = RBF(1.0)
INDUCING_POINTS = np.linspace(-3.0, 3.0, 9)[:, None]
GRID = np.linspace(-4.0, 4.0, 401)[:, None]  # fifty points a length scale

Fit = Callable[[Sample, float, np.random.Generator], SparsePosterior]


class FunctionScore(NamedTuple):
    """How one posterior did against the true function."""

    rmse: float
    coverage_50: float
    coverage_95: float


FunctionScores = dict[tuple[str, float], list[FunctionScore]]


def true_function(x: Array) -> Array:
    """Return sin(2x)/2x, and 1 at zero."""
    return np.asarray(np.sinc(2.0 * x / np.pi))


def simulate(rng: np.random.Generator) -> Sample:
    """Draw a data set: inputs uniform on [−4, 4], Gaussian noise."""
    X = rng.uniform(-4.0, 4.0, (ROWS, 1))
    f = true_function(X[:, 0])
    return Sample(X, f + NOISE_STD * rng.standard_normal(ROWS), f)


def fit(data: Sample, epsilon: float, rng: np.random.Generator, **options: Any) -> SparsePosterior:
    """Run Algorithm 1 on simulated data, with seeded noise."""
    return dp_gp_inference(
        data.X, data.y, INDUCING_POINTS, KERNEL,
        noise_std=NOISE_STD, target_bound=TARGET_BOUND, epsilon=epsilon, delta=DELTA,
        random_state=rng, n_jobs=1, **options,
    )  # fmt: skip


def score(posterior: SparsePosterior) -> FunctionScore:
    """Compare a posterior with the true function on the grid."""
    mean, std = posterior.predict(GRID, return_std=True)
    f = true_function(GRID[:, 0])
    return FunctionScore(rmse(f, mean), coverage(f, mean, std, 0.5), coverage(f, mean, std, 0.95))


def fit_without_noise(data: Sample, epsilon: float, model: PaperModel) -> SparsePosterior:
    """Do all that Algorithm 1 does at ε, λ included, and draw no noise."""
    return posteriors_of_one_release([model], data, epsilon, DELTA, NoNoise())[0]


def variants() -> dict[str, Fit]:
    """Return the ways to fit that are compared, with bounds computed once."""
    certified, centre = (
        norm_bound(KERNEL, INDUCING_POINTS, rule) for rule in ("certified", "grid-centre")
    )
    printed: dict[str, Any] = {
        "norm_bound": centre,
        "sensitivity": "printed",
        "covariance": "printed",
    }
    model = PaperModel(KERNEL, INDUCING_POINTS, NOISE_STD, TARGET_BOUND, certified)
    return {
        "corrected": partial(fit, norm_bound=certified),
        "as printed": partial(fit, **printed),
        "λ, no noise": lambda data, epsilon, rng: fit_without_noise(data, epsilon, model),
    }


def run(assignment: Assignment) -> Outcome:
    """Fit every ε of every variant as often as asked; draw the first repeat."""
    repeats, seed = assignment.repeats, assignment.seed
    fits = variants()
    scores: FunctionScores = {key: [] for key in product(fits, EPSILONS)}
    with simulation():
        for repeat in assignment.track(range(repeats)):
            data = simulate(generator(seed, repeat))
            for variant, fitted in fits.items():
                posteriors = _fit_all(fitted, data, seed, repeat)
                for epsilon, posterior in zip(EPSILONS, posteriors, strict=True):
                    scores[variant, epsilon].append(score(posterior))
        first = simulate(generator(seed, 0))
        figure = draw(first, _fit_all(fits["corrected"], first, seed, 0))
    records = [_record(*key, repeats, values) for key, values in scores.items()]
    return Outcome(records, _table(scores, repeats), figure)


def _fit_all(fitted: Fit, data: Sample, seed: int, repeat: int) -> list[SparsePosterior]:
    """Fit once for every ε; the noise is the same for every variant."""
    return [
        fitted(data, epsilon, generator(seed, repeat, 1 + column))
        for column, epsilon in enumerate(EPSILONS)
    ]


def _record(variant: str, epsilon: float, repeats: int, scores: Iterable[FunctionScore]) -> Record:
    record: dict[str, str | int | float] = {
        "variant": variant, "epsilon": epsilon, "delta": DELTA, "repeats": repeats,
    }  # fmt: skip
    for name, values in zip(FunctionScore._fields, zip(*scores, strict=True), strict=True):
        record |= Estimate.of(values).columns(name)
    return record


def _table(scores: FunctionScores, repeats: int) -> TextTable:
    rows = [
        [variant, f"{epsilon:g}", *(str(Estimate.of(v)) for v in zip(*values, strict=True))]
        for (variant, epsilon), values in scores.items()
    ]
    return TextTable(
        title="sin(2x)/2x under differential privacy (HM21 §5.1)",
        headings=("variant", "ε", "RMSE to f", "50 % interval covers", "95 % interval covers"),
        rows=rows,
        caption=f"Means of {repeats} repeats ± one standard error; {SIMULATION_NOTE}.",
    )


@styled
def draw(data: Sample, posteriors: list[SparsePosterior]) -> Figure:
    """Draw one panel for every ε: data, function, posterior and inducing means."""
    figure, axes = panels(2, 2, (8.4, 5.6))
    panel_axes = [axis for row in axes for axis in row]
    for axis, epsilon, posterior in zip(panel_axes, EPSILONS, posteriors, strict=True):
        _draw_panel(axis, data, posterior)
        axis.set_title(f"ε = {epsilon:g}")
    axes[0][0].set(xlim=(-4.0, 4.0), ylim=(-0.85, 1.45))
    for left, bottom in zip((row[0] for row in axes), axes[-1], strict=True):
        left.set_ylabel("y")
        bottom.set_xlabel("x")
    legend_above(figure, axes[0][0])
    return figure


def _draw_panel(axis: Axes, data: Sample, posterior: SparsePosterior) -> None:
    x, Z = GRID[:, 0], posterior.inducing_points[:, 0]
    mean, std = posterior.predict(GRID, return_std=True)
    axis.plot(data.X[:, 0], data.y, ".", color=PALE, ms=3, mew=0, rasterized=True, zorder=1)
    axis.plot([], [], "o", color=PALE, ms=4, mew=0, label="data (simulated)")
    axis.fill_between(
        x, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.22, lw=0, label="two sd"
    )
    axis.plot(x, true_function(x), color=INK, lw=1.4, label="true function")
    axis.plot(x, mean, color=BLUE, label="posterior mean")
    axis.plot(Z, posterior.mean, "o", color=GREEN, ms=5, mec="white", mew=0.8,
              label="inducing means")  # fmt: skip
