import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    RationalQuadratic,
)

from dpgp import ProductKernel
from dpgp.inference.hyperparameters import HyperPrior, default_kernel, hyper_prior


def test_log_density_is_a_sum_of_normals():
    prior = HyperPrior(np.array([0.1, -2.0, 3.0]), np.array([0.5, 1.0, 2.0]))
    thetas = np.random.default_rng(0).normal(size=(5, 3))
    expected = [norm.logpdf(theta, prior.mean, prior.sd).sum() for theta in thetas]
    np.testing.assert_allclose(prior.log_density(thetas), expected)


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_one_entry_for_every_free_parameter_and_the_noise(columns):
    kernels = [
        default_kernel(columns),
        RBF(0.3),
        RBF(0.3, "fixed"),
        ConstantKernel(0.5, "fixed") * RBF(np.full(columns, 0.3)) + DotProduct(0.7),
        RationalQuadratic(0.2, 3.0),
        ProductKernel([ExpSineSquared(0.3, 2.0)] * columns),
    ]
    for kernel in kernels:
        prior = hyper_prior(kernel, columns)
        assert prior.mean.shape == prior.sd.shape == (kernel.n_dims + 1,)
        assert (prior.sd > 0).all()


def test_medians_follow_the_table_in_the_order_of_theta():
    kernel = RationalQuadratic(0.2, 3.0) + ConstantKernel(0.5)
    names = [h.name.split("__")[-1] for h in kernel.hyperparameters]
    prior = hyper_prior(kernel, 4)
    medians = dict(zip(names, prior.mean[:-1], strict=True))
    assert medians["alpha"] == pytest.approx(math.log(3.0))  # its value in the kernel
    assert medians["length_scale"] == pytest.approx(math.log(0.5 * math.sqrt(4)))
    assert medians["constant_value"] == pytest.approx(2 * math.log(0.3))
    assert medians == dict(zip(names, hyper_prior(kernel, 4).mean[:-1], strict=True))


def test_the_given_length_scale_does_not_matter_but_other_parameters_do():
    assert np.array_equal(hyper_prior(RBF(0.1), 1).mean, hyper_prior(RBF(7.0), 1).mean)
    first, second = hyper_prior(DotProduct(0.1), 1), hyper_prior(DotProduct(7.0), 1)
    assert second.mean[0] - first.mean[0] == pytest.approx(math.log(70))


@pytest.mark.parametrize("columns", [1, 3])
def test_the_default_kernel_expects_functions_that_fit_the_public_bounds(columns):
    kernel = default_kernel(columns)
    theta = hyper_prior(kernel, columns).mean[:-1]
    variances = kernel.clone_with_theta(theta).diag(
        np.random.default_rng(0).uniform(-1, 1, (9, columns))
    )
    assert (np.sqrt(variances) > 0.3).all()
    assert (np.sqrt(variances) < 1.0).all()
