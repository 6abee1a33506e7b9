"""HM21 §5.1 with hyperparameters learned, beside Algorithm 1 with the true ones.

Our public bounds of the target are ±1.5. With HM21's ±1 the noise is cut off where f is near 1;
how ours does with them is a variant of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import inf

from dpgp.paper.norm_bounds import norm_bound
from dpgp.regressor import PrivateGPRegressor
from dpgp_experiments import illustration
from dpgp_experiments.illustration import DELTA, EPSILONS, GRID, simulate, true_function
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.simulated import generator
from dpgp_experiments.successor_results import (
    OUR_NOISE,
    Fitted,
    Measures,
    Trial,
    Trials,
    score_function,
)

TASK = "§5.1"
OURS, NARROW, HM21 = "ours", "ours, bounds ±1", "HM21"
TARGET_BOUNDS = {OURS: (-1.5, 1.5), NARROW: (-1.0, 1.0)}
PAPER_EPSILONS = (*EPSILONS, 30.0, 100.0, 300.0)  # on to where HM21 is near ours
BOUNDS = (-4.0, 4.0)


def jobs(assignment: Assignment) -> list[Trials]:
    """Return one job a repeat."""
    R_k = norm_bound(illustration.KERNEL, illustration.INDUCING_POINTS, "certified")
    return [partial(_run_one, assignment.seed, repeat, R_k) for repeat in range(assignment.repeats)]


def _run_one(seed: int, repeat: int, R_k: float) -> Iterator[tuple[Trial, Measures]]:
    data, f = simulate(generator(seed, repeat)), true_function(GRID[:, 0])
    for method, target_bounds in TARGET_BOUNDS.items():
        for column, epsilon in enumerate((*EPSILONS, inf)):
            gp = PrivateGPRegressor(
                epsilon, DELTA, bounds=BOUNDS, target_bounds=target_bounds, n_jobs=1,
                random_state=generator(seed, repeat, OUR_NOISE + column),
            ).fit(data.X, data.y)  # fmt: skip
            yield Trial(TASK, method, epsilon, DELTA), score_function(Fitted.of(gp), GRID, f)
    for column, epsilon in enumerate(PAPER_EPSILONS):
        noise = generator(seed, repeat, 1 + column)
        posterior = illustration.fit(data, epsilon, noise, norm_bound=R_k)
        yield Trial(TASK, HM21, epsilon, DELTA), illustration.score(posterior)._asdict()
