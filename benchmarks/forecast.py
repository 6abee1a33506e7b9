"""Forecast against realised error: functions from the prior and from outside it, fitted for real.

Ratios are forecast over realised: above one the forecast was cautious. "given θ" knows the kernel's
hyperparameters and the noise, as the fit does not; "plan" is what `dpgp.plan` says without them.
"""

import argparse
import time
import warnings
from dataclasses import replace

import numpy as np
from forecast_family import FAMILY, FAMILY_CELLS, HELD_OUT, family_case
from forecast_functions import MANY, OUTSIDE, correlated, prior_draw, uniform
from forecast_layouts import CONTESTS, hindsight_table
from forecast_tools import SEED, fit, quartiles, question_of, realised_error
from rich.console import Console
from rich.table import Table

from dpgp.inference.hyperparameters import default_kernel
from dpgp.planning.prior_functions import Functions
from dpgp.privacy.noise import SeededNoiseWarning

CELLS = [
    (1, 300, 0.3), (1, 1000, 1.0), (1, 10_000, 3.0), (1, 30_000, 10.0),
    (2, 300, 1.0), (2, 3000, 0.3), (2, 3000, 1.0), (2, 30_000, 3.0),
    (3, 1000, 1.0), (3, 10_000, 3.0),
]  # fmt: skip
MANY_CELLS = [
    (5, 1000, 1.0), (5, 5000, 1.0), (5, 5000, 3.0),
    (10, 1000, 1.0), (10, 5000, 1.0), (10, 5000, 3.0),
]  # fmt: skip
SD, EXPLAINED = 0.25, 0.8  # of a target of many inputs, in half-widths of its bounds


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
    cells = FAMILY_CELLS[::3] if quick else FAMILY_CELLS
    console.print(family_table("The family that the range was chosen on", FAMILY, cells, count))
    console.print(family_table("A family that it was not chosen on", HELD_OUT, cells, count))
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


def family_table(title, family, cells, count):
    table = Table("inputs", "n", "ε", "forecast", "low to high", *family, "forecast / realised",
                  "in range", title=f"{title}: realised errors, medians")  # fmt: skip
    every = []
    for columns, n, epsilon in cells:
        rmse = question_of(columns, n).answer(n, epsilon).errors.rmse
        low, middle, high = np.quantile(rmse, (0.1, 0.5, 0.9))
        runs = [[family_case(draw, columns, n, epsilon, k, fit) for k in range(count)]
                for draw in family.values()]  # fmt: skip
        errors = np.array(runs)[:, :, 0]
        every.append((low <= errors) & (errors <= high))
        table.add_row(
            str(columns),
            f"{n:,}",
            f"{epsilon:g}",
            f"{middle:.4f}",
            f"{low:.4f} to {high:.4f}",
            *(f"{np.median(row):.4f}" for row in errors),
            quartiles(middle / errors.ravel()),
            f"{np.mean(every[-1]):.2f}",
        )
    table.add_row("all", *[""] * (len(family) + 5), f"{np.mean(every):.2f}")
    return table


if __name__ == "__main__":
    main()
