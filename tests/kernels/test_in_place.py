import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

from dpgp.blas import single_threaded_blas
from dpgp.inference.many.metric import REFERENCE, kernel_of
from dpgp.kernels.formula import gram_in_place, specify, weighted_gram
from dpgp.kernels.linear import AdditiveRBF, BrokenLines, constant, straight
from dpgp.kernels.stationary import MetricRBF
from dpgp.privacy.exact_sums import MAX_BLOCK_ROWS, check_even

GENERATOR = np.random.default_rng(0)
X, Y = GENERATOR.uniform(-1, 1, (16, 3)), GENERATOR.uniform(-1, 1, (32, 3))
KERNELS = {
    "constant": ConstantKernel(0.3),
    "constants": ConstantKernel(0.3) * ConstantKernel(2.0) + ConstantKernel(0.1),
    "leaf": RBF(0.5),
    "sum": RBF(0.5) + DotProduct(0.2),
    "factor behind": RBF(0.5) * ConstantKernel(0.7) + ConstantKernel(0.1),
    "no closed form": ConstantKernel(0.3) * Matern(0.5, nu=0.7),
    "many inputs": kernel_of(GENERATOR.normal(size=(3, 3)), np.eye(3), REFERENCE),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_numbers_are_those_of_the_kernel(kernel):
    before = kernel(X, Y)
    np.testing.assert_allclose(gram_in_place(kernel, X, Y), before, rtol=1e-12)
    np.testing.assert_array_equal(kernel(X, Y), before)


@pytest.mark.parametrize(
    "kernel",
    [constant(0.3), constant(0.7) * straight(), AdditiveRBF(), AdditiveRBF() + constant(0.2)],
    ids=str,
)
def test_thin_factors_make_the_kernel(kernel):
    np.testing.assert_allclose(
        kernel.factor(X) @ kernel.factor(Y).T, kernel(X, Y), rtol=1e-10, atol=1e-12
    )


def test_a_smooth_kernel_has_no_thin_factor():
    smooth = MetricRBF(np.eye(3))
    assert smooth.factor(X) is None
    assert (smooth + constant(0.2)).factor(X) is None
    assert (constant(0.2) * smooth).factor(X) is None


@single_threaded_blas()
@pytest.mark.parametrize("inputs", [5, 200, 217, 250, 301])
def test_covariances_of_a_row_of_many_inputs_do_not_depend_on_its_place(inputs):
    """BLAS computes the last rows of a product otherwise, from some hundred inputs on."""
    root = GENERATOR.normal(size=(inputs, inputs)) / inputs
    knots = np.sort(GENERATOR.uniform(-1, 1, (inputs, 9)))
    tails = BrokenLines(knots, GENERATOR.normal(size=(inputs, 9)))
    sds = np.append(REFERENCE, 0.7)
    kernel = kernel_of(root, np.eye(inputs) / np.sqrt(inputs), sds, tails)
    anchors = GENERATOR.uniform(-1, 1, (48, inputs))
    rows = np.repeat(GENERATOR.uniform(-1, 1, (1, inputs)), MAX_BLOCK_ROWS, axis=0)
    check_even(gram_in_place(kernel, anchors, rows))
    check_even(weighted_gram(specify(kernel, kernel.theta[None]), np.ones(1), anchors, rows))
