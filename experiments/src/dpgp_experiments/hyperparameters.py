"""HM21 §5.3: hyperparameters chosen under differential privacy, with two ways to account for it.

f(x) = sin(2x)/2x, N = 2048 rows on [−4, 4] split evenly into training and validation, noise 0.1,
nine inducing points on [−3, 3], δ = 1e-4, R_y = 1, γ = 0.01 (100 draws expected). Candidates are
three noise levels σ times three length scales ℓ. All accountings see the same data; "renyi" draws
the number of runs from the geometric distribution, as Algorithm 2 does, and from the logarithmic
one. Errors are to the true function on a grid of [−4, 4].
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from sklearn.gaussian_process.kernels import RBF

from dpgp.cli.output import TextTable
from dpgp.paper.inference import read_rows
from dpgp.paper.learning import Accounting, candidate_models, learn, selection_budget
from dpgp.paper.model import PaperModel
from dpgp.paper.scoring import PreparedCandidate, prepare
from dpgp.privacy.noise import SimulatedNoise
from dpgp.privacy.selection import LiuTalwarBudget, RenyiBudget
from dpgp.report.style import INK, SEQUENTIAL, panels, styled
from dpgp_experiments.illustration import GRID, INDUCING_POINTS, TARGET_BOUND, true_function
from dpgp_experiments.outcome import Assignment, Outcome
from dpgp_experiments.simulated import SIMULATION_NOTE, Sample, generator, rmse, simulation
from dpgp_experiments.tables import Estimate, Record

EPSILONS = (1.0, 3.0, 10.0, 30.0)
NOISE_STDS = (0.1 / 3.0, 0.1, 0.3)
LENGTH_SCALES = (1.0 / 3.0, 1.0, 3.0)
CANDIDATES = [(RBF(length), std) for std, length in product(NOISE_STDS, LENGTH_SCALES)]
DELTA = 1e-4  # HM21 §5.3, as candidates, γ, rows and noise
GAMMA = 0.01
ROWS = 2048
NOISE_STD = 0.1


class Variant(NamedTuple):
    """A way to account for a selection, and the shape of the law of its number of runs."""

    accounting: Accounting
    shape: float


class Panel(NamedTuple):
    """One panel of the figure."""

    variant: str
    epsilon: float


class Choice(NamedTuple):
    """What one selection chose, and how far it is from the true function."""

    noise_std: float
    length_scale: float
    rmse: float


VARIANTS = {
    "liu-talwar": Variant("liu-talwar", 1.0),
    "renyi, geometric": Variant("renyi", 1.0),
    "renyi, logarithmic": Variant("renyi", 0.0),
}
PANELS = [Panel(*key) for key in product(VARIANTS, EPSILONS)]
Choices = dict[Panel, list[Choice]]


def simulate(rng: np.random.Generator) -> Sample:
    """Draw a data set: inputs uniform on [−4, 4], Gaussian noise."""
    X = rng.uniform(-4.0, 4.0, (ROWS, 1))
    f = true_function(X[:, 0])
    return Sample(X, f + NOISE_STD * rng.standard_normal(ROWS), f)


def prepare_data(models: list[PaperModel], data: Sample) -> list[PreparedCandidate]:
    """Compute what all selections on a data set share: half trains, half validates."""
    half = ROWS // 2
    training, validation = (
        read_rows(part.X, part.y, models[0], centre=0.0, box=None, missing="error")
        for part in (data.part(slice(None, half)), data.part(slice(half, None)))
    )
    return prepare(models, training, validation, n_jobs=1)


def budget_for(panel: Panel) -> LiuTalwarBudget | RenyiBudget:
    """Calibrate the runs of a selection, once for all repeats."""
    accounting, shape = VARIANTS[panel.variant]
    return selection_budget(panel.epsilon, DELTA, accounting, GAMMA, shape)


def choose(
    prepared: list[PreparedCandidate],
    budget: LiuTalwarBudget | RenyiBudget,
    rng: np.random.Generator,
) -> Choice:
    """Run Algorithm 2 once on prepared candidates, with seeded noise."""
    learned = learn(prepared, budget, SimulatedNoise(rng))
    mean, _ = learned.posterior.predict(GRID, return_std=True)
    return Choice(
        noise_std=learned.candidate.noise_std,
        length_scale=learned.candidate.kernel.length_scale,
        rmse=rmse(true_function(GRID[:, 0]), mean),
    )


def run(assignment: Assignment) -> Outcome:
    """Select as often as asked at every ε, with every accounting."""
    repeats, seed = assignment.repeats, assignment.seed
    models = candidate_models(CANDIDATES, INDUCING_POINTS, TARGET_BOUND)
    budgets = {panel: budget_for(panel) for panel in PANELS}
    choices: Choices = {panel: [] for panel in PANELS}
    with simulation():
        for repeat in assignment.track(range(repeats)):
            prepared = prepare_data(models, simulate(generator(seed, repeat)))
            for number, (panel, budget) in enumerate(budgets.items(), start=1):
                rng = generator(seed, repeat, number)
                choices[panel].append(choose(prepared, budget, rng))
    records = [
        _record(panel, *cell, choices[panel])
        for panel, cell in product(PANELS, product(NOISE_STDS, LENGTH_SCALES))
    ]
    return Outcome(records, _table(choices, repeats), draw(choices))


def probability(choices: list[Choice], noise_std: float, length_scale: float) -> Estimate:
    """Return how often a candidate was chosen."""
    return Estimate.of(float(choice[:2] == (noise_std, length_scale)) for choice in choices)


def _error(choices: list[Choice]) -> Estimate:
    return Estimate.of(choice.rmse for choice in choices)


def _record(panel: Panel, noise_std: float, length_scale: float, choices: list[Choice]) -> Record:
    return {
        "accounting": panel.variant,
        "epsilon": panel.epsilon,
        "delta": DELTA,
        "gamma": GAMMA,
        "repeats": len(choices),
        "noise_std": noise_std,
        "length_scale": length_scale,
        **probability(choices, noise_std, length_scale).columns("probability"),
        **_error(choices).columns("rmse"),
    }


def _table(choices: Choices, repeats: int) -> TextTable:
    rows = [
        [
            panel.variant,
            f"{panel.epsilon:g}",
            str(_error(values)),
            _share(choice.length_scale == 1.0 for choice in values),
            _share(choice.noise_std == NOISE_STD for choice in values),
        ]
        for panel, values in choices.items()
    ]
    return TextTable(
        title="Hyperparameters of sin(2x)/2x by private selection (HM21 §5.3)",
        headings=("accounting", "ε", "RMSE to f", "ℓ = 1 chosen", "σ = 0.1 chosen"),
        rows=rows,
        caption=f"Means of {repeats} repeats ± one standard error; {SIMULATION_NOTE}.",
    )


def _share(hits: Iterable[bool]) -> str:
    return f"{Estimate.of(float(hit) for hit in hits).mean:.2f}"


@styled
def draw(choices: Choices) -> Figure:
    """Draw how often each candidate was chosen: rows are accountings, columns are ε."""
    figure, axes = panels(len(VARIANTS), len(EPSILONS), (9.0, 6.9))
    for line, variant in zip(axes, VARIANTS, strict=True):
        for axis, epsilon in zip(line, EPSILONS, strict=True):
            image = _draw_panel(axis, choices[Panel(variant, epsilon)])
            axis.set_title(
                f"ε = {epsilon:g}, RMSE {_error(choices[Panel(variant, epsilon)]).mean:.3f}"
            )
        line[0].set_ylabel(f"{variant}\nobservation noise σ")
    for axis in axes[-1]:
        axis.set_xlabel("length scale ℓ")
    bar = figure.colorbar(image, ax=[axis for line in axes for axis in line], aspect=30, pad=0.015)
    bar.set_label("probability of being chosen")
    bar.outline.set_visible(False)
    return figure


def _draw_panel(axis: Axes, choices: list[Choice]) -> AxesImage:
    shares = np.array(
        [[probability(choices, std, length).mean for length in LENGTH_SCALES] for std in NOISE_STDS]
    )
    image = axis.imshow(shares, origin="lower", cmap=SEQUENTIAL, vmin=0.0, vmax=1.0, aspect="equal")
    for (row, column), share in np.ndenumerate(shares):
        color = INK if share > 0.6 else "white"
        text = f"{share:.2f}" if share else "0"
        axis.text(column, row, text, ha="center", va="center", color=color, fontsize=9)
    axis.set_xticks(range(len(LENGTH_SCALES)), ["1/3", "1", "3"])
    axis.set_yticks(range(len(NOISE_STDS)), ["0.1/3", "0.1", "0.3"])
    axis.tick_params(length=0)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    return image
