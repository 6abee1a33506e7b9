"""Small seeded models for the tests of effects, each fitted once."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from dpgp import PrivateGPRegressor
from dpgp.model.fitted import FittedModel

LOW, HIGH = 0.0, 10.0

MODELS = {
    "one": {"columns": 1},
    "two": {"columns": 2},
    "three": {"columns": 3},
    "fixed features": {"columns": 4, "features": "additive"},
    "nothing released of the inputs": {"columns": 4, "features": "linear", "warp": False},
    "own kernel": {"columns": 2, "kernel": ConstantKernel(0.1) * Matern(0.5, nu=3.5)},
    "exported kernel": {"columns": 2, "kernel": ConstantKernel(0.1) * RBF([0.5, 0.7])},
    "two targets": {"columns": 2, "targets": 2},
}


@lru_cache
def fitted(name: str) -> FittedModel:
    options = dict(MODELS[name])
    columns, targets = options.pop("columns"), options.pop("targets", 1)
    if "kernel" in options:
        options["inducing_points"] = 4
    generator = np.random.default_rng(0)
    X = generator.uniform(LOW, HIGH, (600, columns))
    y = np.sin(X[:, 0] / 2) + 0.1 * generator.standard_normal(600)
    y = y if targets == 1 else np.column_stack([y, X[:, -1] / 10])
    gp = PrivateGPRegressor(5.0, 1e-5, bounds=(LOW, HIGH), target_bounds=(-2, 3), stages=1)
    return gp.set_params(random_state=0, **options).fit(X, y).model_


def with_function(model: FittedModel, f) -> FittedModel:
    """The model with a posterior that is sure of a function of inputs in [−1, 1]^D: w = P f(Z)."""
    (posterior,) = model.posteriors
    features = posterior.features
    w = features.projection @ f(features.anchors)
    sure = replace(posterior.moments, w=w, V=np.zeros_like(posterior.moments.V))
    warp = replace(model.inputs, warp=None)
    return replace(model, posteriors=(replace(posterior, moments=sure),), inputs=warp)
