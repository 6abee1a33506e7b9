"""The layout that a plan chooses, against the best in hindsight."""

import numpy as np
from forecast_functions import prior_draw
from forecast_tools import SEED, fit, quartiles, question_of, realised_error
from rich.table import Table

from dpgp.planning import design
from dpgp.planning.design import Layout, layouts

CONTESTS = [(1, 300, 0.3), (1, 3000, 1.0), (2, 500, 0.5), (2, 5000, 1.0)]
FINER = {2: Layout(("grid",), 9, 0.28)}  # more than a fit may take by default


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
    return "+".join(layout.families)
