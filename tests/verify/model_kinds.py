"""Small fits of every kind: together they take every step that there is."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.gaussian_process.kernels import RBF

import dpgp

REGRESSION = {"bounds": (0, 1), "epsilon": 3.0, "delta": 1e-6}


def table(rows, columns, targets=1):
    random = np.random.default_rng(columns)
    X = random.uniform(0.0, 1.0, (rows, columns))
    waves = [np.sin(3 * X.sum(axis=1) + k) / 2 for k in range(targets)]
    y = np.stack(waves, axis=1) + 0.1 * random.exponential(size=(rows, targets))
    return X, y[:, 0] if targets == 1 else y


def regression(rows, columns, targets=1, units=None, **options):
    X, y = table(rows, columns, targets)
    asked = {**REGRESSION, "target_bounds": [(-1, 2)] * targets, **options}
    owners = None if units is None else np.arange(rows) // units
    return dpgp.PrivateGPRegressor(**asked).fit(X, y, owners)


def levels(**options):
    random = np.random.default_rng(0)
    categories = {"region": ["north", "south", "west"], "member": ["yes", "no"]}
    X = pd.DataFrame({name: random.choice(found, 700) for name, found in categories.items()})
    X["age"] = random.uniform(0.0, 1.0, 700)
    asked = {**REGRESSION, "bounds": {"age": (0, 1)}, "target_bounds": (0, 1), **options}
    return dpgp.PrivateGPRegressor(**asked, categories=categories).fit(X, X["age"] / 2)


def yes_no(columns, weights=None, **options):
    X, _ = table(500, columns)
    y = np.where(X[:, 0] > 0.4, "ill", "well")
    asked = {"classes": ["well", "ill"], **REGRESSION, **options}
    return classifier(X, y, weights, asked)


def classes(columns, weights=None, **options):
    X, _ = table(900, columns)
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [0.3, 0.7])]
    asked = {"classes": ["low", "middle", "high"], **REGRESSION, **options}
    return classifier(X, y, weights, asked)


def classifier(X, y, bound, asked):
    """Fit with weights up to a bound, or without."""
    weights = None if bound is None else np.linspace(bound / 10, bound, len(X))
    return dpgp.PrivateGPClassifier(**asked, weight_bound=bound).fit(X, y, sample_weight=weights)


def weighted(**options):
    X, y = table(500, 1)
    asked = {**REGRESSION, "target_bounds": (-1, 2), "weight_bound": 4.0, **options}
    weights = np.linspace(0.5, 4.0, len(X))
    return dpgp.PrivateGPRegressor(**asked).fit(X, y, sample_weight=weights)


def counts(**options):
    X, _ = table(400, 1)
    y = np.random.default_rng(0).poisson(1.0 + X[:, 0])
    asked = {**REGRESSION, "target_bounds": (0, 12), "counts": True, **options}
    return dpgp.PrivateGPRegressor(**asked).fit(X, y)


KINDS = {
    "one input": lambda: regression(300, 1),
    "two inputs": lambda: regression(300, 2, stages=[1, 3]),
    "three inputs, additive": lambda: regression(200, 3, features=["linear", "additive"], stages=1),
    "own kernel, given points": lambda: regression(
        200, 2, kernel=RBF(0.5), inducing_points=[[0.2, 0.2], [0.5, 0.9], [0.9, 0.4]], stages=2
    ),
    "two targets": lambda: regression(400, 2, 2, features="linear", stages=2),
    "no warp, no calibration": lambda: regression(200, 1, warp=False, calibrate=False),
    "little budget": lambda: regression(60, 1, epsilon=0.05, delta=1e-9),
    "much budget": lambda: regression(60, 1, epsilon=30.0, stages=3),
    "people who come and go": lambda: regression(
        600, 1, units=3, neighbours="add-remove", max_rows_per_unit=3, missing="ignore"
    ),
    "people": lambda: regression(300, 1, units=2, stages=2, max_rows_per_unit=2),
    "incomplete rows": lambda: regression(300, 1, stages=2, missing="ignore"),
    "gaps": lambda: regression(300, 2, stages=2, missing="model"),
    "four inputs": lambda: regression(800, 4),
    "four inputs, two targets, people": lambda: regression(
        900, 4, 2, units=2, neighbours="add-remove", max_rows_per_unit=2, stages=[1, 2, 3]
    ),
    "four inputs, little budget": lambda: regression(100, 4, epsilon=0.5),
    "four inputs on a line": lambda: regression(200, 4, features="linear", stages=2),
    "levels": levels,
    "yes or no": lambda: yes_no(1),
    "yes or no of four inputs": lambda: yes_no(4, stages=2),
    "classes": lambda: classes(1),
    "classes of four inputs": lambda: classes(4, stages=2, neighbours="add-remove"),
    "ordered classes": lambda: classes(1, ordered=True),
    "counts": counts,
    "weights": lambda: weighted(),
    "classes and weights": lambda: classes(1, weights=5.0, missing="ignore"),
    "yes or no and weights": lambda: yes_no(1, weights=2.0),
}


@cache
def fitted(name):
    return KINDS[name]()
