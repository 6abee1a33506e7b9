"""HM21 §5.2: coverage of test observations by our intervals, beside HM21's on the same rows.

Ours learns all hyperparameters and is told public bounds of ±3·sqrt(1 + σ²), HM21's R_y; HM21 knows
the model. "Own" intervals are mean ± z·std, without the private calibration of `predict_interval`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from dpgp.paper.model import PaperModel
from dpgp.paper.norm_bounds import norm_bound
from dpgp.regressor import PrivateGPRegressor
from dpgp_experiments import calibration
from dpgp_experiments.calibration import DELTA, EPSILONS, KERNEL, LEVELS, NOISE_STDS
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.simulated import Sample, coverage, generator
from dpgp_experiments.successor_results import OUR_NOISE, Measures, Trial, Trials, score_intervals

OURS, OWN, HM21 = "predict_interval", "mean ± z·std", "HM21"
METHODS = (OURS, OWN, HM21)


def task(noise_std: float) -> str:
    """Return the name of the scenarios with this noise."""
    return f"§5.2, σ = {noise_std:g}"


TASKS = tuple(task(noise_std) for noise_std in NOISE_STDS)


def jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every repeat and noise level."""
    R_k = norm_bound(KERNEL, calibration.INDUCING_POINTS, "certified")
    models = [calibration.model_for(noise_std, R_k) for noise_std in NOISE_STDS]
    return [
        partial(_run_one, model, assignment.seed, repeat, row)
        for repeat, (row, model) in product(range(assignment.repeats), enumerate(models))
    ]


def _run_one(
    model: PaperModel, seed: int, repeat: int, row: int
) -> Iterator[tuple[Trial, Measures]]:
    train, test = calibration.simulate(model.noise_std, generator(seed, repeat, row))
    name, bound = task(model.noise_std), model.target_bound
    for column, epsilon in enumerate(EPSILONS):
        gp = PrivateGPRegressor(
            epsilon, DELTA, bounds=(-4.0, 4.0), target_bounds=(-bound, bound), n_jobs=1,
            random_state=generator(seed, repeat, row, OUR_NOISE + column),
        ).fit(train.X, train.y)  # fmt: skip
        yield Trial(name, OURS, epsilon, DELTA), score_intervals(gp, test.X, test.y, LEVELS)
        yield Trial(name, OWN, epsilon, DELTA), _own_intervals(gp, test)
        noise = generator(seed, repeat, row, 1 + column)
        posterior = calibration.posteriors(model, train, epsilon, noise)["DP-GP"]
        shares = [cover.observation for cover in calibration.covers(posterior, test)]
        yield Trial(name, HM21, epsilon, DELTA), _by_level(shares)


def _own_intervals(gp: PrivateGPRegressor, test: Sample) -> Measures:
    mean, std = gp.predict(test.X, return_std=True)
    return _by_level([coverage(test.y, mean, std, level) for level in LEVELS])


def _by_level(shares: Sequence[float]) -> Measures:
    named = zip(LEVELS, shares, strict=True)
    return {f"coverage_{100 * level:g}": share for level, share in named}
