import numpy as np
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF

from dpgp.arithmetic import NUMPY
from dpgp.features.base import missing_covariance, missing_variance
from dpgp.features.inducing import InducingFeatures

KERNEL = RBF(0.6)


def matrices(X, Y):
    features = InducingFeatures(KERNEL, np.linspace(-1, 1, 5)[:, None])
    Z = features.anchors
    a_x, a_y = (features.evaluate(U).T @ features.projection for U in (X, Y))
    return KERNEL(X, Y), KERNEL(X, Z), KERNEL(Y, Z), KERNEL(Z), a_x, a_y


def test_the_covariance_is_that_of_the_error_of_interpolation():
    X, Y = np.linspace(-1, 1, 9)[:, None], np.array([[-0.3], [0.8]])
    K_xy, K_xz, K_yz, K_zz, a_x, a_y = matrices(X, Y)
    # r(x) = (1, −a(x))ᵀ (f(x), f(Z)) as naive loops
    expected = np.empty((9, 2))
    for i in range(9):
        for j in range(2):
            joint = np.block(
                [[K_xy[i : i + 1, j : j + 1], K_xz[i : i + 1]], [K_yz[j][:, None], K_zz]]
            )
            expected[i, j] = np.r_[1.0, -a_x[i]] @ joint @ np.r_[1.0, -a_y[j]]
    found = missing_covariance(K_xy, K_xz, K_yz, K_zz, a_x, a_y, NUMPY)
    assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_the_variance_is_its_diagonal():
    X = np.linspace(-1, 1, 9)[:, None]
    K_xx, K_xz, _, K_zz, a, _ = matrices(X, X)
    whole = missing_covariance(K_xx, K_xz, K_xz, K_zz, a, a, NUMPY)
    found = missing_variance(np.diag(K_xx), K_xz, K_zz, a, NUMPY)
    assert_allclose(found, np.maximum(np.diag(whole), 0.0), rtol=0, atol=1e-12)
