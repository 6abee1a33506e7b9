"""Small seeded models for the tests of the report, each fitted once."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from dpgp import NormalizedKernel, PrivateGPRegressor, ProductKernel
from dpgp.coded_rows import CodedRows
from dpgp.model.fitted import FittedModel

AWKWARD = "</script><b>x</b> \"quoted\" & 'single' Größe 体重 " + "long" * 60

MODELS = {
    "one input": {"columns": 1},
    "two inputs": {"columns": 2},
    "three inputs": {"columns": 3},
    "five inputs": {"columns": 5},
    "additive": {"columns": 3, "features": "additive"},
    "several targets": {"columns": 1, "targets": 2},
    "no warp": {"columns": 2, "warp": False, "calibrate": False},
    "matern 0.5": {"columns": 2, "kernel": ConstantKernel(0.1) * Matern([0.5, 0.7], nu=0.5)},
    "matern 1.5": {"columns": 1, "kernel": Matern(0.5, nu=1.5) * Matern(0.7, nu=2.5)},
    "rational": {
        "columns": 2,
        "kernel": RationalQuadratic(0.5, 2.0) * (ConstantKernel(0.1) + RBF(0.7)) + DotProduct(0.5),
    },
    "periodic": {"columns": 1, "kernel": ExpSineSquared(0.5) + DotProduct(0.2)},
    "others": {
        "columns": 2,
        "kernel": ProductKernel([RBF(0.5) ** 2, Matern(0.5, nu=np.inf)])
        + NormalizedKernel(DotProduct(0.3))
        + WhiteKernel(0.01),
    },
    "categories": {"columns": 3, "categories": {1: ["F", "M"], 2: ["</script>", "b", "c", 4]}},
    "bessel": {"columns": 1, "kernel": Matern(0.5, nu=3.5)},
    "local scale of many": {"columns": 5, "epsilon": 30.0},
    "without noise": {"columns": 1, "epsilon": float("inf")},
}


@lru_cache
def fitted(name: str) -> FittedModel:
    options = dict(MODELS[name])
    columns, targets = options.pop("columns"), options.pop("targets", 1)
    if "kernel" in options:
        options["inducing_points"] = 4
    generator = np.random.default_rng(0)
    X = generator.uniform(0.0, 10.0, (400, columns))
    y = np.sin(X[:, 0]) + 0.1 * generator.standard_normal(400)
    y = y if targets == 1 else np.column_stack([y, -y / 2])
    for column, levels in options.get("categories", {}).items():
        X = X.astype(object)
        X[:, column] = generator.choice(np.array(levels, dtype=object), len(X))
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(-2, 3), stages=1)
    return gp.set_params(random_state=0, **options).fit(X, y).model_


def named(name: str) -> FittedModel:
    """A copy of the model with two inputs whose columns have awkward names."""
    model = fitted("two inputs")
    box = replace(model.options.box, names=(name, "b"))
    target_box = replace(model.options.target_box, names=(name,))
    return replace(
        model,
        options=replace(model.options, box=box, target_box=target_box),
        inputs=replace(model.inputs, box=box),
    )


def predictions(gp: FittedModel, X: np.ndarray, target: int) -> dict[str, np.ndarray]:
    """What Python says, in the names of the page."""
    X = CodedRows(np.asarray(X, dtype=np.float64))
    mean, std = gp.predict(X, return_std=True, latent=True)
    _, observation_std = gp.predict(X, return_std=True)
    lower, upper = gp.predict_interval(X, 0.95)
    function_low, function_high = gp.predict_interval(X, 0.95, latent=True)
    found = {
        "mean": mean,
        "std": std,
        "observationStd": observation_std,
        "lower": lower,
        "upper": upper,
        "functionLow": function_low,
        "functionHigh": function_high,
    }
    return {key: value.reshape(len(X.values), -1)[:, target] for key, value in found.items()}
