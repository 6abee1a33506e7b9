"""Exported models of GPflow and GPyTorch predict the same from raw inputs."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern

from dpgp import PrivateGPRegressor, export

pytestmark = pytest.mark.external

MATERN = ConstantKernel(0.1) * Matern(0.5, nu=1.5) + DotProduct(0.3) + Matern([0.5, 1], nu=2.5)
MODELS = {
    "one input": (1, {}),
    "two inputs, Matern": (2, {"kernel": MATERN, "inducing_points": 5}),
    "five inputs": (5, {}),
    "no warp": (2, {"warp": False, "features": ["linear", "joint"]}),
}


def fitted(columns: int, options: dict) -> PrivateGPRegressor:
    generator = np.random.default_rng(columns)
    X = generator.uniform(0.0, 10.0, (400, columns))
    y = 150.0 + 30.0 * np.sin(X[:, 0]) + generator.standard_normal(400)
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(100, 220), stages=2)
    return gp.set_params(random_state=0, **options).fit(X, y)


@pytest.mark.parametrize("library", ["gpflow", "gpytorch"])
def test_exported_models_predict_the_same(library, request):
    models = {name: fitted(*model) for name, model in MODELS.items()}
    question = {
        name: {
            "specification": export.specification(gp),
            "X": np.random.default_rng(9).uniform(-1.0, 11.0, (25, gp.n_features_in_)),
        }
        for name, gp in models.items()
    }
    worker = request.getfixturevalue(library)
    text = json.dumps(question, default=np.ndarray.tolist)
    answer = worker("export", SimpleNamespace(), question=np.array(text))
    for name, gp in models.items():
        X = question[name]["X"]
        mean, std = gp.predict(X, return_std=True, latent=True)
        _, cov = gp.predict(X, return_cov=True, latent=True)
        # they have one noise for all x, without the local scale
        scale = float(gp.model_.options.target_box.half_width[0])
        y_variance = std**2 + (scale * gp.model_.posteriors[0].moments.noise) ** 2
        ours = {"mean": mean, "variance": std**2, "cov": cov}
        ours |= {"y_mean": mean, "y_variance": y_variance}
        for key, value in ours.items():
            theirs = answer[f"{name}/{key}"]
            assert_allclose(theirs, value, rtol=1e-9, atol=1e-9, err_msg=f"{name}, {key}")
