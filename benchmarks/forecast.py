"""Forecast against realised error: functions from the prior and from outside it, fitted for real.

Ratios are forecast over realised: above one the forecast was cautious. "given θ" knows the kernel's
hyperparameters and the noise, as the fit does not; "plan" is what `dpgp.plan` says without them.
"""

import argparse
import time
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
from rich.console import Console
from rich.table import Table

import dpgp
from dpgp.inference.priors import default_kernel, hyper_prior
from dpgp.planning import design
from dpgp.planning.design import Layout, layouts
from dpgp.planning.prior_functions import Functions
from dpgp.privacy.noise import SeededNoiseWarning

DELTA = 1e-6
CELLS = [
    (1, 300, 0.3), (1, 1000, 1.0), (1, 10_000, 3.0), (1, 30_000, 10.0),
    (2, 300, 1.0), (2, 3000, 0.3), (2, 3000, 1.0), (2, 30_000, 3.0),
    (3, 1000, 1.0), (3, 10_000, 3.0),
]  # fmt: skip
CONTESTS = [(1, 300, 0.3), (1, 3000, 1.0), (2, 500, 0.5), (2, 5000, 1.0)]
MANY_CELLS = [
    (5, 1000, 1.0), (5, 5000, 1.0), (5, 5000, 3.0),
    (10, 1000, 1.0), (10, 5000, 1.0), (10, 5000, 3.0),
]  # fmt: skip
SD, EXPLAINED = 0.25, 0.8  # of a target of many inputs, in half-widths of its bounds
FINER = {2: Layout(("grid",), 9, 0.28)}  # more than a fit may take by default
SEED = 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few cells, two functions in each")
    parser.add_argument("--functions", type=int, default=6, help="how many in each cell")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", SeededNoiseWarning)
    quick, count = arguments.quick, 2 if arguments.quick else arguments.functions
    start = time.process_time()
    console = Console(width=120)
    console.print(prior_table(CELLS[::4] if quick else CELLS, count))
    console.print(outside_table(count))
    console.print(many_table(MANY_CELLS[::5] if quick else MANY_CELLS, count))
    console.print(hindsight_table(CONTESTS[::3] if quick else CONTESTS, count))
    console.print(f"{time.process_time() - start:.0f} s of CPU")


def prior_table(cells, count):
    table = Table(
        "inputs",
        "n",
        "ε",
        "forecast",
        "realised",
        "given θ",
        "plan",
        title="Functions of the prior: forecast / realised, quartiles",
    )
    every = []
    for columns, n, epsilon in cells:
        rows = np.array([prior_case(columns, n, epsilon, SEED + k) for k in range(count)])
        every.append(rows)
        forecast, realised = np.median(rows[:, 1]), np.median(rows[:, 2])
        table.add_row(
            str(columns),
            f"{n:,}",
            f"{epsilon:g}",
            f"{forecast:.4f}",
            f"{realised:.4f}",
            quartiles(rows[:, 0] / rows[:, 2]),
            quartiles(rows[:, 1] / rows[:, 2]),
        )
    rows = np.concatenate(every)
    table.add_row(
        "all",
        "",
        "",
        "",
        "",
        quartiles(rows[:, 0] / rows[:, 2]),
        quartiles(rows[:, 1] / rows[:, 2]),
    )
    return table


def prior_case(columns, n, epsilon, seed):
    """Forecast given θ, forecast of the plan, realised error."""
    rng = np.random.default_rng(seed)
    theta, f = prior_draw(columns, rng)
    X = rng.uniform(-1, 1, (n, columns))
    y = f(X) + np.exp(theta[-1]) * rng.standard_normal(n)
    question = question_of(columns, n)
    known = replace(question, functions=Functions(default_kernel(columns), theta[None], columns))
    given = known.answer(n, epsilon).errors.rmse[0]
    planned = np.median(question.answer(n, epsilon).errors.rmse)
    U = rng.uniform(-1, 1, (1000, columns))
    return given, planned, realised_error(fit(X, y, epsilon, seed), U, f)


@cache
def question_of(columns, n):
    bounds = [(-1.0, 1.0)] * columns
    return dpgp.plan(
        n=max(n, 1000), bounds=bounds, target_bounds=(-1, 1), epsilon=10.0, delta=DELTA
    ).question


def prior_draw(columns, rng):
    """θ of the weak prior and a function of it whose data respect the bounds."""
    prior = hyper_prior(default_kernel(columns), columns)
    while True:
        theta = prior.mean + prior.sd * rng.standard_normal(len(prior.mean))
        f = random_function(theta, columns, rng)
        y = f(rng.uniform(-1, 1, (400, columns))) + np.exp(theta[-1]) * rng.standard_normal(400)
        if np.mean(np.abs(y) > 1) <= 0.01:
            return theta, f


def random_function(theta, columns, rng, size=1000):
    """Random Fourier features of the smooth part, a constant and a line."""
    variance, lengths, slope = np.exp(theta[0]), np.exp(theta[1 : 1 + columns]), np.exp(theta[-2])
    W, phase = rng.standard_normal((size, columns)) / lengths, rng.uniform(0, 2 * np.pi, size)
    amplitudes = rng.standard_normal(size) * np.sqrt(2 * variance / size)
    constant = 0.5 * rng.standard_normal()
    line = np.sqrt(slope) * rng.standard_normal(columns)

    def f(X):
        blocks = np.array_split(X, max(1, len(X) // 2000))
        smooth = np.concatenate([np.cos(block @ W.T + phase) @ amplitudes for block in blocks])
        return smooth + constant + X @ line

    return f


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


def sinc(X):
    return np.sinc(8 * X[:, 0] / np.pi) / 1.5


def steps(X):
    return 0.4 * np.sign(X[:, 0] - 0.2) + 0.2 * (X[:, 0] > -0.5)


def bowl(X):
    return 0.8 * np.exp(-2 * (X[:, 0] + 0.7) ** 2) - 0.4 * X[:, 1]


def gaussian(rng, n):
    return 0.067 * rng.standard_normal(n)


def student(rng, n):
    return 0.04 * rng.standard_t(3, n)


def uniform(rng, shape):
    return rng.uniform(-1, 1, shape)


def corner(rng, shape):
    return 2 * rng.beta(1.5, 6, shape) - 1


OUTSIDE = {
    "sin(2x)/2x": (1, sinc, gaussian, uniform),
    "steps": (1, steps, gaussian, uniform),
    "heavy-tailed noise": (1, sinc, student, uniform),
    "inputs in a corner": (2, bowl, gaussian, corner),
}


def outside_table(count):
    table = Table(
        "case",
        "n",
        "ε",
        "forecast",
        "low to high",
        "realised",
        "forecast / realised",
        title="Functions, noise and inputs that the forecast does not expect",
    )
    for name, (columns, f, noise, inputs) in OUTSIDE.items():
        for n, epsilon in ((1000, 1.0), (5000, 3.0)):
            errors = []
            for k in range(count):
                rng = np.random.default_rng(SEED + k)
                X = inputs(rng, (n, columns))
                gp = fit(X, f(X) + noise(rng, n), epsilon, SEED + k)
                errors.append(realised_error(gp, inputs(rng, (1000, columns)), f))
            rmse = question_of(columns, n).answer(n, epsilon).errors.rmse
            low, middle, high = np.quantile(rmse, (0.1, 0.5, 0.9))
            table.add_row(
                name,
                f"{n:,}",
                f"{epsilon:g}",
                f"{middle:.4f}",
                f"{low:.4f} to {high:.4f}",
                f"{np.median(errors):.4f}",
                quartiles(middle / np.array(errors)),
            )
    return table


def friedman(X, rng):
    U = (X + 1) / 2
    bends = 10 * np.sin(np.pi * U[:, 0] * U[:, 1]) + 20 * (U[:, 2] - 0.5) ** 2
    return bends + 10 * U[:, 3] + 5 * U[:, 4]


def ridge(X, rng):
    direction = rng.normal(size=X.shape[1])
    z = np.sqrt(3) * X @ direction / np.linalg.norm(direction)
    return np.sin(2 * z) + 0.5 * z


def additive(X, rng):
    a = rng.normal(size=(3, X.shape[1]))
    return (a[0] * X + a[1] * np.sin(np.pi * X) + a[2] * X**2).sum(axis=1)


def interactions(X, rng):
    return np.sin(np.pi * X[:, 0]) * (1 + X[:, 1]) + (X[:, 2] > 0) * X[:, 3] + 0.5 * X[:, 4]


MANY = {"Friedman": friedman, "ridge": ridge, "additive": additive, "interactions": interactions}


def correlated(rng, shape):
    common = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    return np.tanh((common + rng.standard_normal(shape)) / 2)


def many_table(cells, count):
    table = Table(
        "inputs",
        "n",
        "ε",
        "forecast",
        "low to high",
        *MANY,
        "forecast / realised",
        "in range",
        "f covered",
        title="Many inputs: error of f, uniform and correlated inputs in turn",
    )
    every, covered = [], []
    for columns, n, epsilon in cells:
        rmse = question_of(columns, n).answer(n, epsilon).errors.rmse
        low, middle, high = np.quantile(rmse, (0.1, 0.5, 0.9))
        runs = [[many_case(f, columns, n, epsilon, k) for k in range(count)] for f in MANY.values()]
        errors, coverage = np.moveaxis(np.array(runs), 2, 0)
        every.append(middle / errors.ravel())
        covered.append(coverage.ravel())
        table.add_row(
            str(columns),
            f"{n:,}",
            f"{epsilon:g}",
            f"{middle:.4f}",
            f"{low:.4f} to {high:.4f}",
            *(f"{np.median(row):.4f}" for row in errors),
            quartiles(every[-1]),
            f"{np.mean((low <= errors) & (errors <= high)):.2f}",
            f"{coverage.mean():.3f}",
        )
    ratios = np.concatenate(every)
    within = f"{np.mean((ratios > 0.5) & (ratios < 2)):.2f} within a factor of two"
    table.add_row("all", "", "", "", "", *[""] * len(MANY), quartiles(ratios), within,
                  f"{np.concatenate(covered).mean():.3f}")  # fmt: skip
    return table


def many_case(function, columns, n, epsilon, k):
    """Realised error of f, and how often its 95 % intervals hold it; two functions a seed."""
    rng = np.random.default_rng(SEED + k)
    X = (correlated if k % 2 else uniform)(rng, (n + 2000, columns))
    f = function(X, rng)
    f = SD * np.sqrt(EXPLAINED) * (f - f.mean()) / f.std()
    y = f + SD * np.sqrt(1 - EXPLAINED) * rng.standard_normal(len(f))
    gp = fit(X[:n], y[:n], epsilon, SEED + k)
    low, high = gp.predict_interval(X[n:], latent=True)
    return np.sqrt(np.mean((gp.predict(X[n:]) - f[n:]) ** 2)), np.mean(
        (low <= f[n:]) & (f[n:] <= high)
    )


def hindsight_table(cells, count):
    table = Table(
        "inputs",
        "n",
        "ε",
        "planned",
        "best",
        "planned / best",
        "planned / best of each",
        "finer",
        title="The planned layout against the best, over the functions of a cell and for each",
    )
    typical, single = [], []
    for columns, n, epsilon in cells:
        planned = question_of(columns, n).answer(n, epsilon).design.layout
        options = [planned, *(o for o in layouts(columns) if o != planned)]
        finer = [FINER[columns]] if columns in FINER else []
        tried = options + finer
        errors = np.array(
            [layout_errors(columns, n, epsilon, SEED + k, tried) for k in range(count)]
        )
        mean = np.exp(np.mean(np.log(errors), axis=0))
        best = int(np.argmin(mean[: len(options)]))
        typical.append(mean[0] / mean[best])
        single.append(errors[:, 0] / errors[:, : len(options)].min(axis=1))
        table.add_row(
            str(columns),
            f"{n:,}",
            f"{epsilon:g}",
            label(planned),
            label(options[best]),
            f"{typical[-1]:.2f}",
            quartiles(single[-1]),
            f"{mean[-1] / mean[0]:.2f}" if finer else "",
        )
    table.add_row(
        "median", "", "", "", "", f"{np.median(typical):.2f}", quartiles(np.concatenate(single)), ""
    )
    return table


def layout_errors(columns, n, epsilon, seed, options):
    rng = np.random.default_rng(seed)
    theta, f = prior_draw(columns, rng)
    X = rng.uniform(-1, 1, (n, columns))
    y = f(X) + np.exp(theta[-1]) * rng.standard_normal(n)
    U = rng.uniform(-1, 1, (1000, columns))
    return [realised_error(fit_layout(X, y, epsilon, seed, option), U, f) for option in options]


def fit_layout(X, y, epsilon, seed, layout):
    original = design.best_layout
    design.best_layout = lambda *_: layout
    try:
        return fit(X, y, epsilon, seed)
    finally:
        design.best_layout = original


def label(layout):
    if layout.families == ("grid",):
        return f"{layout.points} an axis"
    return f"{'+'.join(layout.families)}, s = {layout.target_weight:g}"


def quartiles(values):
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
