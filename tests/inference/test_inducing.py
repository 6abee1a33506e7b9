"""The equations of sparse Gaussian processes, given (Z, m, S) and k̃, return the model itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

from dpgp.features.base import WhitenedMap
from dpgp.features.inducing import InducingFeatures
from dpgp.inference.posterior import EffectiveKernel, Moments, Posterior, inducing_points
from dpgp.planning.design import Layout, asked_layout, layouts

KERNEL = ConstantKernel(0.1) * RBF(0.5) + DotProduct(0.3) + Matern(0.4, nu=1.5)


def posterior_of(features: WhitenedMap) -> Posterior:
    generator = np.random.default_rng(0)
    d = features.dimension
    root = generator.standard_normal((d, d)) / np.sqrt(d)
    thetas = 0.3 * generator.standard_normal((5, KERNEL.n_dims + 1)) - 0.5
    moments = Moments(generator.standard_normal(d), root @ root.T, 0.2)
    return Posterior(features, KERNEL, moments, thetas, np.ones(5), 0.0)


MAPS = {
    "grid": layouts(2)[0].features(2),
    "one input": layouts(1)[0].features(1),
    "joint": asked_layout(2, ("joint",), None).features(2),
    "linear": asked_layout(3, ("linear",), None).features(3),
    "additive": asked_layout(2, ("additive",), None).features(2),
    "mixture": asked_layout(5, ("linear", "additive", "joint"), None).features(5),
}


@pytest.fixture(params=MAPS)
def posterior(request: pytest.FixtureRequest) -> Posterior:
    return posterior_of(MAPS[request.param])


def inputs(posterior: Posterior) -> np.ndarray:
    anchors = posterior.features.anchors
    inside = np.random.default_rng(1).uniform(-1.0, 1.0, (30, anchors.shape[1]))
    return np.vstack([inside, anchors[:20]])


def test_standard_equations_return_the_posterior(posterior):
    U, kernel = inputs(posterior), posterior.effective_kernel()
    Z, m, S = posterior.inducing()
    K_zz, K_xz = kernel(Z, Z), kernel(U, Z)
    A = np.linalg.solve(K_zz, K_xz.T)
    mean, std = posterior.predict(U, latent=True)
    assert_allclose(K_xz @ np.linalg.solve(K_zz, m), mean, rtol=0, atol=1e-8)
    # k(x, x) − k(x, Z) K⁻¹ (K − S) K⁻¹ k(Z, x)
    reduction = np.einsum("zn,zn->n", A, (K_zz - S) @ A)
    assert_allclose(kernel.diag(U) - reduction, std**2, rtol=0, atol=1e-8)
    covariance = kernel(U) - A.T @ (K_zz - S) @ A
    assert_allclose(covariance, posterior.covariance(U), rtol=0, atol=1e-8)


def test_q_is_about_the_function_at_the_inducing_points(posterior):
    Z, m, S = posterior.inducing()
    d = posterior.features.dimension
    assert Z.shape == (d, posterior.features.anchors.shape[1])
    assert np.abs(Z).max() <= 1.0
    assert_allclose(m, posterior.predict(Z)[0], rtol=0, atol=1e-12)
    missing = posterior.missing_covariance(Z)
    assert_allclose(S + missing, posterior.covariance(Z), rtol=0, atol=1e-10)


def test_effective_kernel_is_a_kernel(posterior):
    U, kernel = inputs(posterior), posterior.effective_kernel()
    K = kernel(U)
    assert isinstance(kernel, EffectiveKernel)
    assert_allclose(K, K.T, rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-9
    assert_allclose(kernel.diag(U), np.diag(K), rtol=0, atol=1e-9)
    assert_allclose(kernel(U, U[:7]), K[:, :7], rtol=0, atol=1e-12)
    assert not kernel.is_stationary()


def test_features_that_are_too_much_alike_are_refused():
    points = np.linspace(-1.0, 1.0, 40)[:, None]
    posterior = posterior_of(InducingFeatures(RBF(1.0), points))
    with pytest.raises(ValueError, match=r"too much alike for inducing points.*`dpgp\.export`"):
        posterior.inducing()


def test_rounding_does_not_choose_among_points_that_serve_alike(monkeypatch):
    features, rng = Layout(("linear", "joint")).features(4), np.random.default_rng(0)
    Z, exact = inducing_points(features), type(features).evaluate

    def rounded(self, X, out=None):
        phi = exact(self, X, out)
        return phi * (1 + 1e-14 * rng.standard_normal(phi.shape))

    monkeypatch.setattr(type(features), "evaluate", rounded)
    for _ in range(5):
        assert np.array_equal(inducing_points(features), Z)
