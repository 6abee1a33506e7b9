"""What all comparisons of forecasts with fits share."""

from functools import cache

import numpy as np

import dpgp

DELTA = 1e-6
SEED = 1000


@cache
def question_of(columns, n):
    bounds = [(-1.0, 1.0)] * columns
    return dpgp.plan(
        n=max(n, 1000), bounds=bounds, target_bounds=(-1, 1), epsilon=10.0, delta=DELTA
    ).question


def fit(X, y, epsilon, seed, **options):
    gp = dpgp.PrivateGPRegressor(
        epsilon,
        DELTA,
        bounds=(-1, 1),
        target_bounds=(-1, 1),
        random_state=seed,
        n_jobs=1,
        **options,
    )
    return gp.fit(X, y)


def realised_error(gp, U, f):
    return np.sqrt(np.mean((gp.predict(U) - f(U)) ** 2))


def quartiles(values):
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"
