import numpy as np
import pytest
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from dpgp.inference.hyperparameters import default_kernel
from dpgp.kernels.formula import batch_diag, batch_gram

RNG = np.random.default_rng(0)
X, Y = RNG.uniform(-1, 1, (7, 2)), RNG.uniform(-1, 1, (5, 2))
KERNELS = {
    "rbf": RBF(0.7),
    "rbf per input": RBF([0.4, 0.9]),
    "rbf fixed": RBF([0.4, 0.9], "fixed"),
    "rbf fixed, one length": RBF(0.4, "fixed"),
    "matern 0.5": Matern(0.6, nu=0.5),
    "matern 1.5 per input": Matern([0.6, 0.3], nu=1.5),
    "matern 2.5": Matern(0.6, nu=2.5),
    "matern 2.5 fixed": Matern(0.6, "fixed", nu=2.5),
    "matern 0.7": Matern(0.6, nu=0.7),
    "matern infinite": Matern(0.6, nu=np.inf),
    "rational quadratic": RationalQuadratic(0.7, 1.3),
    "rational quadratic, part fixed": RationalQuadratic(0.7, 1.3, alpha_bounds="fixed"),
    "periodic": ExpSineSquared(0.9, 1.4),
    "linear": DotProduct(0.5),
    "linear fixed": DotProduct(0.5, "fixed"),
    "constant": ConstantKernel(0.3),
    "constant fixed": ConstantKernel(0.3, "fixed"),
    "sum": RBF(0.5) + Matern([0.5, 0.6], nu=1.5),
    "product": ConstantKernel(0.3) * RBF(0.5),
    "fixed and free": ConstantKernel(0.3, "fixed") * RBF(0.5) + RBF(0.2, "fixed") * DotProduct(0.3),
    "power": RBF(0.5) ** 2,
    "white": RBF(0.5) + WhiteKernel(0.1),
    "default": default_kernel(2),
    "nested": (RBF(0.5) + ConstantKernel(0.2)) * (DotProduct(0.4) + RationalQuadratic(0.5, 2.0)),
}


@pytest.fixture(params=KERNELS, ids=list(KERNELS))
def kernel(request):
    return KERNELS[request.param]


def thetas_of(kernel, count=4):
    return kernel.theta + np.random.default_rng(1).normal(0, 0.5, (count, kernel.n_dims))


def test_gram_matches_one_kernel_at_a_time(kernel):
    thetas = thetas_of(kernel)
    expected = np.stack([kernel.clone_with_theta(theta)(X, Y) for theta in thetas])
    batch = np.broadcast_to(batch_gram(kernel, thetas, X, Y), expected.shape)
    np.testing.assert_allclose(batch, expected, rtol=1e-10, atol=1e-12)


def test_variances_match_one_kernel_at_a_time(kernel):
    thetas = thetas_of(kernel)
    expected = np.stack([kernel.clone_with_theta(theta).diag(X) for theta in thetas])
    np.testing.assert_allclose(batch_diag(kernel, thetas, X), expected, rtol=1e-10)


def test_every_theta_has_its_own_matrix():
    thetas = np.log([[0.2], [0.9]])
    first, second = batch_gram(RBF(0.5), thetas, X, Y)
    assert not np.allclose(first, second)
