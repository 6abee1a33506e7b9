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

from dpgp.kernels.base import takes_vectors
from dpgp.kernels.bounds import product_factors, variance_bound
from dpgp.kernels.given import NormalizedKernel, ProductKernel

BOX = ([-1.0, 0.0], [2.0, 3.0])
VOCABULARY = [
    RBF(0.7),
    RBF([0.7, 2.0]),
    Matern(0.5, nu=1.5),
    Matern([0.5, 1.0], nu=2.5),
    RationalQuadratic(0.5, 0.3),
    ExpSineSquared(0.8, 1.3),
    DotProduct(0.5),
    ConstantKernel(2.0),
    WhiteKernel(0.1),
    ConstantKernel(2.0) * RBF(1.0) + DotProduct(1.0) * Matern(1.0),
    RBF(1.0) ** 2,
    ProductKernel([Matern(1.0), ConstantKernel(3.0) * ExpSineSquared(1.0, 2.0)]),
    NormalizedKernel(DotProduct(0.0)),
]


def rows(count=200, seed=0):
    return np.random.default_rng(seed).uniform(*BOX, (count, 2))


@pytest.mark.parametrize("kernel", VOCABULARY, ids=str)
def test_no_variance_exceeds_its_bound(kernel):
    corners = np.array([[a, b] for a in (-1.0, 2.0) for b in (0.0, 3.0)])
    X = np.vstack([rows(), corners])
    assert kernel.diag(X).max() <= variance_bound(kernel, BOX) * (1 + 1e-15)


@pytest.mark.parametrize("kernel", VOCABULARY, ids=str)
def test_the_variance_bound_is_attained_in_the_box(kernel):
    corners = np.array([[a, b] for a in (-1.0, 2.0) for b in (0.0, 3.0)])
    assert kernel.diag(corners).max() == pytest.approx(variance_bound(kernel, BOX))


def test_kernels_without_a_bound_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match="give public `bounds`"):
        variance_bound(DotProduct(1.0) + RBF(1.0))
    with pytest.raises(ValueError, match="NormalizedKernel"):
        variance_bound(lambda X, Y: X @ Y.T)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF([0.7, 2.0]),
        ConstantKernel(2.0) * RBF(0.4) * RBF([1.0, 3.0]),
        (ConstantKernel(2.0) * RBF(0.4)) ** 1.5,
        ProductKernel([Matern(1.0), RationalQuadratic(1.0)]),
    ],
    ids=str,
)
def test_factors_multiply_to_the_kernel(kernel):
    X, Z = rows(30), rows(7, seed=1)
    factors = product_factors(kernel, 2)
    product = np.prod([f(X[:, [n]], Z[:, [n]]) for n, f in enumerate(factors)], axis=0)
    assert np.allclose(product, kernel(X, Z), rtol=1e-13)


@pytest.mark.parametrize("kernel", [Matern(1.0), RBF(1.0) + RBF(2.0), DotProduct() * RBF(1.0)])
def test_what_does_not_factorise_has_no_factors(kernel):
    assert product_factors(kernel, 2) is None


def test_every_kernel_factorises_over_one_column():
    kernel = Matern(1.0) + DotProduct(1.0)
    assert product_factors(kernel, 1) == [kernel]


@pytest.mark.parametrize(
    "kernel", [ProductKernel([RBF(0.7), RBF(2.0)]), NormalizedKernel(DotProduct(0.3))], ids=str
)
def test_our_kernels_agree_with_themselves(kernel):
    X = rows(20)
    assert np.allclose(np.diag(kernel(X)), kernel.diag(X))
    assert np.allclose(kernel(X), kernel(X, X))
    assert np.linalg.eigvalsh(kernel(X)).min() > -1e-10


def test_product_kernel_equals_ard():
    X, Z = rows(20), rows(5, seed=3)
    assert np.allclose(ProductKernel([RBF(0.7), RBF(2.0)])(X, Z), RBF([0.7, 2.0])(X, Z))


def test_normalising_meets_a_zero_variance():
    kernel, X = NormalizedKernel(DotProduct(0.0)), np.array([[0.0, 0.0], [1.0, 2.0]])
    assert np.allclose(kernel(X), np.diag([0.0, 1.0]))
    assert np.array_equal(kernel.diag(X), [0.0, 1.0])


def test_vector_kernels_are_told_from_others():
    class OnStrings:
        requires_vector_input = False

    assert takes_vectors(RBF(1.0))
    assert not takes_vectors(OnStrings())
    assert not takes_vectors(NormalizedKernel(OnStrings()))
