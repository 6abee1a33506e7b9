"""What rows with missing inputs are worth: left out, filled in, or averaged over the input model.

    python benchmarks/missing_inputs.py [--repeats 5] [--rows 3000 10000] [--epsilon 1 3] [--paid]

Simulates tables of six correlated inputs in which a share of the rows lacks one or two of them, at
random or where another input is high, and prints the error of the mean, over that of a fit to the
complete rows alone: at complete new rows, and at new rows that lack inputs too.

``median``: the gap is filled with the median of the released marginal. ``expected``: with its
expectation given the other inputs, by the Gaussian copula of the released input model.
``averaged``: the features of the row are their averages over 16 draws of that copula given the
other inputs. All three take the input model of a fit to the complete rows, for which they do not
pay: what they gain here is more than they would gain in a fit.

With ``--paid`` the budget pays for it: a tenth, a quarter of μ² buys a fit to the complete rows, of
which the input model alone is kept, and the rest a fit to all rows with averaged features. So all
of it is private, and what is bought twice (where rows are) makes it gain less than a fit would that
learned its input model once. 95 % intervals of f are counted besides, at complete rows.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from dpgp import PrivateGPRegressor
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.calibration import epsilon_of_mu
from dpgp.private import sums
from dpgp.private.rows import Rows
from dpgp.types import Array

INPUTS, CORRELATION, NOISE = 6, 0.5, 0.5
DRAWS, TEST_ROWS = 16, 2000
METHODS = ("median", "expected", "averaged")
CASES = ((0.2, "random"), (0.4, "random"), (0.4, "dependent"))
PAID_CASES = ((0.1, "random"), (0.3, "random"), (0.3, "dependent"))
PARTS = (0.1, 0.25)  # of μ², for the input model
DELTA = 1e-6


def table(rows: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return inputs in [0, 1]⁶, half of them skewed, f, and f with noise."""
    R = CORRELATION ** np.abs(np.subtract.outer(np.arange(INPUTS), np.arange(INPUTS)))
    X = ndtr(rng.multivariate_normal(np.zeros(INPUTS), R, rows))
    X[:, 1::2] **= 2
    f = np.sin(5 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + X[:, 3] - (2 * X[:, 4] - 1) ** 2
    return X, f, f + rng.normal(0, NOISE, rows)


def with_holes(X: Array, share: float, how: str, rng: np.random.Generator) -> Array:
    """Return a copy in which about a share of the rows lacks one or two inputs."""
    chance = np.full(len(X), share)
    if how == "dependent":  # on the last input, which is never missing then
        chance = share * X[:, -1] / X[:, -1].mean()
    holes = np.zeros(X.shape, dtype=bool)
    order = rng.random((len(X), INPUTS - 1)).argsort(axis=1)
    both = rng.random(len(X)) < 0.5
    lacking = rng.random(len(X)) < chance
    rows = np.arange(len(X))
    holes[rows, order[:, 0]] = lacking
    holes[rows, order[:, 1]] |= lacking & both
    return np.where(holes, np.nan, X)


@dataclass(frozen=True)
class Copula:
    """The Gaussian copula of released synthetic rows: what a row lacks, given what it has."""

    sorted: Array  # (rows, D)
    R: Array
    normal: Array  # (DRAWS, D)

    @classmethod
    def of(cls, model: Any) -> Copula:
        """Read the released model of the inputs."""
        density = model.density
        rng, weights = np.random.default_rng(0), density.weights / density.weights.sum()
        X = density.points[rng.choice(len(density.points), 4096, p=weights)]
        X = X + rng.uniform(-1e-6, 1e-6, X.shape)  # no ties
        ranks = (X.argsort(axis=0).argsort(axis=0) + 0.5) / len(X)
        R = np.corrcoef(ndtri(ranks), rowvar=False)
        normal = ndtri(np.clip(qmc.Sobol(INPUTS, seed=0).random(DRAWS), 1e-4, 1 - 1e-4))
        return cls(np.sort(X, axis=0), R, normal)

    def draws(self, row: Array) -> Array:
        """Return a row as often as there are draws, its gaps filled by each of them."""
        gaps, n = np.isnan(row), len(self.sorted)
        places = [np.searchsorted(self.sorted[:, k], row[k]) for k in np.flatnonzero(~gaps)]
        z = ndtri((np.clip(places, 0, n - 1) + 0.5) / n)
        C = np.linalg.solve(self.R[np.ix_(~gaps, ~gaps)], self.R[np.ix_(~gaps, gaps)])
        V = self.R[np.ix_(gaps, gaps)] - self.R[np.ix_(gaps, ~gaps)] @ C
        drawn = z @ C + self.normal[:, : gaps.sum()] @ np.linalg.cholesky(V).T
        filled = np.tile(row, (DRAWS, 1))
        levels = np.minimum((ndtr(drawn) * n).astype(int), n - 1)
        filled[:, gaps] = np.take_along_axis(self.sorted[:, gaps], levels, axis=0)
        return filled


def averaging(draws: dict[bytes, Array]) -> Any:
    """Return what lets rows that have draws count with the averages of their features."""
    whole = sums.real_columns

    def real_columns(block: Rows, features: Any, residuals: Any = None, out: Any = None) -> Array:
        psi = whole(block, features, residuals, out)
        some = [k for k, row in enumerate(block.inputs) if row.tobytes() in draws]
        for part in np.array_split(some, len(some) // 256 + 1) if some else ():
            inputs = np.concatenate([draws[block.inputs[k].tobytes()] for k in part])
            targets = np.repeat(block.targets[:, part], DRAWS, axis=1)
            each = Rows(inputs, targets, np.ones(len(inputs), dtype=bool))
            averages = whole(each, features, residuals).reshape(len(psi), len(part), DRAWS)
            psi[:, part] = averages.mean(axis=2)
        return psi

    return mock.patch.object(sums, "real_columns", real_columns)


def fitted(X: Array, y: Array, epsilon: float, seed: int, missing: str = "error") -> Any:
    """Return a model of rows whose gaps are filled, or are to be ignored."""
    gp = PrivateGPRegressor(
        epsilon, DELTA, bounds=[(0, 1)] * INPUTS, target_bounds=(-3, 5), missing=missing,
        random_state=seed, n_jobs=1,
    )  # fmt: skip
    return gp.fit(X, y).model_


def errors(n: int, epsilon: float, share: float, how: str, seed: int) -> dict[str, list[float]]:
    """Return the error of every method at complete rows and at rows with gaps."""
    rng = np.random.default_rng([seed, n, round(100 * share)])
    X, _, y = table(n, rng)
    new, f, _ = table(TEST_ROWS, rng)
    holed, new_holed = with_holes(X, share, how, rng), with_holes(new, share, how, rng)
    lacking, new_lacking = (np.isnan(some).any(axis=1) for some in (holed, new_holed))
    dropped = fitted(holed, y, epsilon, seed, "ignore")
    copula = Copula.of(dropped)
    draws = {k: copula.draws(holed[k]) for k in np.flatnonzero(lacking).tolist()}
    new_draws = np.concatenate([copula.draws(row) for row in new_holed[new_lacking]])

    def filled(values: dict[int, Array]) -> Array:
        whole = holed.copy()
        for k, row in values.items():
            whole[k] = row
        return whole

    expected = filled({k: rows.mean(axis=0) for k, rows in draws.items()})
    medians = np.where(np.isnan(holed), np.median(copula.sorted, axis=0), holed)
    by_row = {expected[k].tobytes(): rows for k, rows in draws.items()}
    models = {"left out": dropped}
    models["median"] = fitted(medians, y, epsilon, seed)
    models["expected"] = fitted(expected, y, epsilon, seed)
    with averaging(by_row):
        models["averaged"] = fitted(expected, y, epsilon, seed)

    def rmse(model: Any) -> list[float]:
        complete = model.predict(new) - f
        with_gaps = model.predict(new_draws).reshape(-1, DRAWS).mean(axis=1) - f[new_lacking]
        return [float(np.sqrt(np.mean(part**2))) for part in (complete, with_gaps)]

    return {name: rmse(model) for name, model in models.items()}


def paid_errors(n: int, epsilon: float, share: float, how: str, seed: int) -> Array:
    """Return error at complete rows and at rows with gaps, and coverage: left out, then paid."""
    rng = np.random.default_rng([seed, n, round(100 * share)])
    X, _, y = table(n, rng)
    new, f, _ = table(TEST_ROWS, rng)
    holed, new_holed = with_holes(X, share, how, rng), with_holes(new, share, how, rng)
    lacking, new_lacking = (np.isnan(some).any(axis=1) for some in (holed, new_holed))

    def told(model: Any, copula: Copula) -> list[float]:
        draws = np.concatenate([copula.draws(row) for row in new_holed[new_lacking]])
        gaps = model.predict(draws).reshape(-1, DRAWS).mean(axis=1) - f[new_lacking]
        low, high = model.predict_interval(new, 0.95, latent=True)
        whole = model.predict(new) - f
        held = np.mean((low <= f) & (f <= high))
        return [*(float(np.sqrt(np.mean(part**2))) for part in (whole, gaps)), float(held)]

    dropped = fitted(holed, y, epsilon, seed, "ignore")
    found, mu = [told(dropped, Copula.of(dropped))], mu_of_guarantee(epsilon, DELTA)
    for part in PARTS:
        first, second = (epsilon_of_mu(mu * root, DELTA) for root in (part**0.5, (1 - part) ** 0.5))
        copula = Copula.of(fitted(holed, y, first, seed + 100, "ignore"))
        draws = {k: copula.draws(holed[k]) for k in np.flatnonzero(lacking).tolist()}
        whole = holed.copy()
        for k, rows in draws.items():
            whole[k] = rows.mean(axis=0)
        with averaging({whole[k].tobytes(): rows for k, rows in draws.items()}):
            found.append(told(fitted(whole, y, second, seed), copula))
    return np.array(found)


def print_paid(rows: list[int], epsilons: list[float], repeats: int) -> None:
    """Print error over that of rows left out, and coverage, for both parts of the budget."""
    for n, epsilon, (share, how) in product(rows, epsilons, PAID_CASES):
        found = np.array([paid_errors(n, epsilon, share, how, seed) for seed in range(repeats)])
        left_out = found[:, 0].mean(axis=0).round(3)
        print(f"{n:,}  ε = {epsilon:g}  {share:.0%} {how} | left out:", left_out)
        for k, part in enumerate(PARTS, start=1):
            ratio = found[:, k, :2] / found[:, 0, :2]
            error = ratio.std(axis=0, ddof=1) / np.sqrt(repeats)
            words = [f"{m:.3f} ± {s:.3f}" for m, s in zip(ratio.mean(axis=0), error, strict=True)]
            held = found[:, k, 2].mean()
            print(f"    {part:.0%} of μ²  {words[0]}    {words[1]}    held {held:.3f}", flush=True)


def main() -> None:
    """Print a row for every setting."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=[3000, 10000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 3.0])
    parser.add_argument("--paid", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.paid:
        print_paid(asked.rows, asked.epsilon, asked.repeats)
        return
    print("rows, ε, rows with gaps | error where they are left out, at complete rows and at others")
    print("then, over it: mean ± standard error, of " + ", ".join(METHODS))
    for n, epsilon, (share, how) in product(asked.rows, asked.epsilon, CASES):
        found = [errors(n, epsilon, share, how, seed) for seed in range(asked.repeats)]
        left_out = np.array([each["left out"] for each in found])
        print(f"{n:,}  ε = {epsilon:g}  {share:.0%} {how} |", left_out.mean(axis=0).round(3))
        for name in METHODS:
            ratio = np.array([each[name] for each in found]) / left_out
            std = ratio.std(axis=0, ddof=1) / np.sqrt(len(ratio)) if len(ratio) > 1 else [0, 0]
            words = [f"{m:.3f} ± {s:.3f}" for m, s in zip(ratio.mean(axis=0), std, strict=True)]
            print(f"    {name:10} {words[0]}    {words[1]}", flush=True)


if __name__ == "__main__":
    main()
