"""HM21 §5.3: the right length scale and noise among nine candidates, beside Algorithm 2.

Ours is given three kernels of fixed length scale and variance, the paper's, chooses one by evidence
and learns σ, which counts as the nearest of the three candidates by ratio. It needs no validation
rows, so all 2,048 train.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from dpgp.paper.learning import candidate_models
from dpgp.paper.model import PaperModel
from dpgp.privacy.selection import LiuTalwarBudget, RenyiBudget
from dpgp.regressor import PrivateGPRegressor
from dpgp_experiments import hyperparameters
from dpgp_experiments.hyperparameters import (
    CANDIDATES,
    DELTA,
    LENGTH_SCALES,
    NOISE_STD,
    NOISE_STDS,
    simulate,
)
from dpgp_experiments.illustration import GRID, INDUCING_POINTS, TARGET_BOUND, true_function
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.simulated import Sample, generator, rmse
from dpgp_experiments.successor_results import OUR_NOISE, Measures, Trial, Trials, posterior_of

TASK = "§5.3"
OURS = "ours"
ALGORITHM_2 = {"liu-talwar": "Algorithm 2", "renyi, geometric": "Algorithm 2, Rényi"}
EPSILONS = (0.3, 1.0, 3.0, 10.0)
HALF_WIDTH, TARGET_HALF_WIDTH = 4.0, 1.5  # public bounds, those of §5.1

Budgets = dict[hyperparameters.Panel, LiuTalwarBudget | RenyiBudget]


def kernels() -> list[Any]:
    """Return the paper's three kernels of unit variance, on inputs and targets in [−1, 1]."""
    variance = ConstantKernel(TARGET_HALF_WIDTH**-2, "fixed")
    return [variance * RBF(length / HALF_WIDTH, "fixed") for length in LENGTH_SCALES]


def jobs(assignment: Assignment) -> list[Trials]:
    """Return one job a repeat."""
    models = candidate_models(CANDIDATES, INDUCING_POINTS, TARGET_BOUND)
    panels = [s for s in hyperparameters.PANELS if s.variant in ALGORITHM_2]
    budgets = {panel: hyperparameters.budget_for(panel) for panel in panels}
    return [
        partial(_run_one, models, budgets, assignment.seed, repeat)
        for repeat in range(assignment.repeats)
    ]


def _run_one(
    models: list[PaperModel], budgets: Budgets, seed: int, repeat: int
) -> Iterator[tuple[Trial, Measures]]:
    data = simulate(generator(seed, repeat))
    for column, epsilon in enumerate(EPSILONS):
        noise = generator(seed, repeat, OUR_NOISE + column)
        yield Trial(TASK, OURS, epsilon, DELTA), _choose(data, epsilon, noise)
    prepared = hyperparameters.prepare_data(models, data)
    for number, (panel, budget) in enumerate(budgets.items(), start=1):
        choice = hyperparameters.choose(prepared, budget, generator(seed, repeat, number))
        found = is_right(choice.length_scale, choice.noise_std)
        method = ALGORITHM_2[panel.variant]
        score = {"rmse": choice.rmse, "found": float(found)}
        yield Trial(TASK, method, panel.epsilon, DELTA), score


def _choose(data: Sample, epsilon: float, noise: Any) -> Measures:
    gp = PrivateGPRegressor(
        epsilon, DELTA, bounds=(-HALF_WIDTH, HALF_WIDTH), kernel=kernels(), n_jobs=1,
        target_bounds=(-TARGET_HALF_WIDTH, TARGET_HALF_WIDTH), random_state=noise,
    ).fit(data.X, data.y)  # fmt: skip
    posterior = posterior_of(gp)
    length = HALF_WIDTH * posterior.kernel.k2.length_scale
    noise_std = TARGET_HALF_WIDTH * posterior.moments.noise
    return {
        "rmse": rmse(true_function(GRID[:, 0]), gp.predict(GRID)),
        "found": float(is_right(length, noise_std)),
    }


def is_right(length_scale: float, noise_std: float) -> bool:
    """Return whether ℓ = 1 and σ = 0.1 are the nearest candidates, by ratio."""
    return _nearest(length_scale, LENGTH_SCALES) == 1.0 and (
        _nearest(noise_std, NOISE_STDS) == NOISE_STD
    )


def _nearest(value: float, candidates: tuple[float, ...]) -> float:
    return min(candidates, key=lambda candidate: abs(math.log(value / candidate)))
