"""What a prior probability that f depends on no input is worth: few rows, small ε, known functions.

Every table is fitted once, and its records are read with each probability: the same rows and the
same noise. Errors are those of a new observation, of sd √(E(f − m)² + σ²), over that without the
probability; coverage is that of 95 % intervals of f before any guard.

    python benchmarks/nothing.py
"""

import argparse
import time
import warnings
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import ndtr

from dpgp import PrivateGPRegressor
from dpgp.inference.many import families, final, fit

PROBABILITIES = (0.0, 0.05, 0.1, 0.2)
PLACES = [
    (5, 1000, 0.3), (10, 1000, 0.3), (4, 500, 0.3), (6, 2000, 0.3), (3, 1000, 0.3),
    (8, 500, 1.0), (5, 1000, 1.0), (12, 1000, 1.0), (12, 2000, 0.3), (6, 2000, 1.0),
]  # fmt: skip
"""Inputs, rows and ε: nμ from 40 to 540."""

FUNCTIONS = {
    "nothing": lambda c: 0.0 * c[:, 0],
    "line of two inputs": lambda c: c[:, 0] - 0.5 * c[:, 1],
    "two steps": lambda c: np.sign(c[:, 0] - 0.2) + (c[:, 1] > 0),
    "product and lines": lambda c: c[:, 0] * c[:, 1] + 0.7 * c[:, 1] + 0.3 * c[:, 2],
    "sum of waves": lambda c: np.sin(np.pi * c * (1 + np.arange(c.shape[1]) % 2)).sum(axis=1),
}
LAWS = ("even", "correlated", "crowded")
NOISES = (0.4, 1.2)  # sds, where f has one
TEST_ROWS, DELTA, CORRELATION = 400, 1e-5, 0.7


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=1, help="of all ten places")
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    start, found = time.process_time(), {name: [] for name in FUNCTIONS}
    for repeat in range(repeats):
        for place, case in enumerate(PLACES):
            for number, name in enumerate(FUNCTIONS):
                key = repeat + place + number
                found[name].append(scores(name, case, key, [repeat, place, number]))
    console = Console(width=120)
    console.print(table(found))
    console.print(f"{time.process_time() - start:.0f} s of CPU")


def scores(name, case, key, seed):
    """Return expected squared errors of new observations, and coverages, by probability."""
    inputs, rows, epsilon = case
    noise, rng = NOISES[key % 2], np.random.default_rng(seed)
    X, ranks, bound = drawn(LAWS[key % 3], rows + TEST_ROWS, inputs, rng)
    f = FUNCTIONS[name](ranks)
    f = (f - f.mean()) / (f.std() or 1.0)
    y = f + noise * rng.standard_normal(len(f))
    half = 3.5 * np.sqrt(1.0 + noise**2)
    bounds, centre = [(-bound, bound)] * inputs, 0.2 * half
    kept = []
    with patch.object(fit, "final_of", lambda *given: kept.append(given) or final.final_of(*given)):
        model = PrivateGPRegressor(
            epsilon, DELTA, bounds=bounds, target_bounds=(centre - half, centre + half),
            calibrate=False, random_state=seed[0] * 1000 + seed[1] * 10 + seed[2], n_jobs=1,
        ).fit(X[:rows], y[:rows])  # fmt: skip
    U, truth = model._fitted().unit_inputs(X[rows:]), (f[rows:] - centre) / half
    return [errors(kept[0], p, U, truth, noise / half) for p in PROBABILITIES]


def errors(given, probability, U, truth, noise):
    """Return the expected squared error over the noise's variance, and the coverage of f."""
    with patch.object(families, "PRIOR_OF_NOTHING", probability):
        mean, std = final.final_of(*given).posterior.predict(U, latent=True)
    mean = np.clip(mean, -1.0, 1.0)
    return 1.0 + np.mean((mean - truth) ** 2) / noise**2, np.mean(np.abs(mean - truth) < 1.96 * std)


def drawn(law, rows, inputs, rng):
    """Return inputs, their ranks in [−1, 1], and their public bound."""
    if law == "even":
        X = rng.uniform(-1.0, 1.0, (rows, inputs))
        return X, X, 1.0
    if law == "crowded":
        Z = rng.standard_normal((rows, inputs))
        return np.clip(0.15 * Z - 0.5, -1.0, 1.0), 2.0 * ndtr(Z) - 1.0, 1.0
    places = np.arange(inputs)
    covariance = CORRELATION ** np.abs(places[:, None] - places)
    Z = rng.multivariate_normal(np.zeros(inputs), covariance, rows, method="cholesky")
    Z = np.clip(Z, -3.9, 3.9)
    return Z, 2.0 * ndtr(Z) - 1.0, 4.0


def table(found):
    text = Table("function", "error over the noise's", *(f"p = {p:g}" for p in PROBABILITIES))
    for name, cells in found.items():
        squares, coverages = np.moveaxis(np.array(cells), 2, 0)
        logs = 0.5 * np.log(squares)
        gains = logs - logs[:, :1]
        spread = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        text.add_row(
            name,
            f"{np.exp(logs[:, 0].mean()):.3f}",
            *(
                f"{np.exp(gain):.4f} ± {error:.4f}, {coverage:.1%}"
                for gain, error, coverage in zip(
                    gains.mean(axis=0), spread, coverages.mean(axis=0), strict=True
                )
            ),
        )
    return text


if __name__ == "__main__":
    main()
