"""A specification holds all that predictions need; no other library is asked here."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from dpgp import NormalizedKernel, PrivateGPRegressor, ProductKernel, export
from dpgp.arithmetic import NUMPY
from dpgp.export.specify import Covariances, triangular_root

KERNELS = {
    "default": None,
    "matern 0.5": ConstantKernel(0.1) * Matern([0.5, 0.7], nu=0.5) + ConstantKernel(0.2, "fixed"),
    "matern 1.5": Matern(0.5, nu=1.5) * ConstantKernel(0.1),
    "matern 2.5": Matern(0.5, "fixed", nu=2.5) + DotProduct(0.5),
    "rational": RationalQuadratic(0.5, 2.0) + RationalQuadratic(0.3, alpha_bounds="fixed"),
    "periodic": ProductKernel([ExpSineSquared(0.5, 0.7), RBF(0.5)]) * ConstantKernel(0.1),
    "power": RBF(0.5) ** 2 + Matern(0.5, nu=np.inf) + WhiteKernel(0.1),
    "normalised": NormalizedKernel(DotProduct(0.3)) * ConstantKernel(0.1),
}


def fitted(columns: int, targets: int = 1, **options) -> PrivateGPRegressor:
    generator = np.random.default_rng(0)
    X = generator.uniform(0.0, 10.0, (200, columns))
    y = np.sin(X[:, 0]) + 0.1 * generator.standard_normal(200)
    y = y if targets == 1 else np.column_stack([y, -y / 2])
    gp = PrivateGPRegressor(3.0, 1e-5, bounds=(0, 10), target_bounds=(-2, 3), stages=1)
    return gp.set_params(random_state=0, **options).fit(X, y)


def predictions(specification: dict, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variances and covariances of f, from nothing but the specification."""
    covariances = Covariances(specification, NUMPY)
    S, scale = np.asarray(specification["S"]), specification["scale"]
    U = covariances.unit_inputs(X)
    phi = covariances.evaluate(U)
    mean = specification["centre"] + scale * phi @ np.asarray(specification["m"])
    variance = np.einsum("nd,nd->n", phi @ S, phi) + covariances.missing_variance(U, phi)
    covariance = phi @ S @ phi.T + covariances.missing(U, phi, U, phi)
    return mean, scale**2 * variance, scale**2 * covariance


def check(gp: PrivateGPRegressor, target: int | None = None) -> None:
    plain = json.loads(json.dumps(export.specification(gp, target), default=np.ndarray.tolist))
    X = np.random.default_rng(1).uniform(-1.0, 11.0, (25, gp.n_features_in_))
    mean, variance, covariance = predictions(plain, X)
    column = ... if target is None else (..., target)
    ours, std = gp.predict(X, return_std=True, latent=True)
    assert_allclose(mean, ours[column], rtol=0, atol=1e-10)
    assert_allclose(variance, std[column] ** 2, rtol=0, atol=1e-10)
    _, cov = gp.predict(X, return_cov=True, latent=True)
    assert_allclose(covariance, cov[column], rtol=0, atol=1e-10)
    _, y_std = gp.predict(X, return_std=True)
    noise = plain["scale"] ** 2 * plain["noise_variance"]
    covariances = Covariances(plain, NUMPY)
    c = covariances.local_scale(covariances.unit_inputs(X))
    # of one or two inputs a series states it, to nine digits
    assert_allclose(c**2 * (variance + noise), y_std[column] ** 2, rtol=1e-9)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name):
    check(fitted(2, kernel=KERNELS[name], inducing_points=4))


@pytest.mark.parametrize("features", ["grid", "linear", "additive", "joint"])
def test_features(features):
    check(fitted(2, features=features))


def test_mixtures_without_a_warp():
    check(fitted(5, warp=False))


def test_one_of_several_targets():
    gp = fitted(1, targets=2)
    check(gp, 0)
    check(gp, 1)
    with pytest.raises(ValueError, match="`target` must say which of the 2 targets, from 0 to 1"):
        export.specification(gp)
    with pytest.raises(ValueError, match="must lie between 0 and 1, got 2"):
        export.specification(gp, 2)


class Own(RBF):
    variance_bound = 1.0


@pytest.mark.parametrize("kernel", [Matern(0.5, nu=3.5), RBF(0.5) + Own(0.5)])
def test_other_kernels_are_refused(kernel):
    gp = fitted(1, kernel=kernel, inducing_points=4)
    with pytest.raises(ValueError, match="cannot be exported"):
        export.specification(gp)


def test_triangular_root_of_a_singular_matrix():
    A = np.random.default_rng(0).standard_normal((5, 3))
    L = triangular_root(A @ A.T)
    assert_allclose(L @ L.T, A @ A.T, rtol=0, atol=1e-14)
    assert_allclose(L, np.tril(L), rtol=0, atol=0)


def test_formulas_of_exports_need_no_more_than_numpy_scipy_and_scikit_learn():
    """They run beside GPflow, where dpgp's other dependencies are not."""
    code = (
        "import sys, dpgp.export.specify\n"
        "import dpgp.kernels.known; from dpgp.features.base import maps\n"
        "maps()\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = {"opendp", "dp_accounting", "typer", "matplotlib", "yaml", "onnx"}
    assert not others & set(done.stdout.split())
