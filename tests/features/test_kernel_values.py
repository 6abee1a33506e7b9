import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from dpgp.features.inducing import GridKernelFeatures, KernelFeatures, kernel_features
from dpgp.kernels.given import ProductKernel
from dpgp.point_sets import low_discrepancy_points, regular_grid

KERNELS = [
    RBF([0.5, 1.0, 2.0]),
    ConstantKernel(2.0) * RBF(0.7),
    ProductKernel([Matern(0.5), RBF(1.0), Matern(2.0, nu=2.5)]),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_fast_path_equals_the_slow_one(kernel):
    Z = regular_grid([-1.0] * 3, [1.0] * 3, (3, 4, 2)).points
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3))
    fast, slow = kernel_features(kernel, Z, 1.7), KernelFeatures(kernel, Z, 1.7)
    assert isinstance(fast, GridKernelFeatures)
    assert fast.dimension == slow.dimension == 24
    assert np.allclose(fast.evaluate(X), slow.evaluate(X), rtol=1e-13)
    assert np.array_equal(fast.filler, slow.filler)


def test_points_off_a_grid_take_the_slow_path():
    Z = low_discrepancy_points([0.0, 0.0], [1.0, 1.0], 9)
    assert isinstance(kernel_features(RBF(1.0), Z, 1.0), KernelFeatures)


def test_kernels_that_do_not_factorise_take_the_slow_path():
    Z = regular_grid([0.0, 0.0], [1.0, 1.0], 3).points
    assert isinstance(kernel_features(Matern(1.0), Z, 1.0), KernelFeatures)
