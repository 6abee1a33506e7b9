"""Kernels that no rule knows are called as they are, or refused before anything is released."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as sk

from dpgp import PrivateGPRegressor, export
from dpgp.checked_values import ModelFileError
from dpgp.kernels.bounds import (
    check_kernel,
    envelope,
    is_gaussian_mixture,
    product_factors,
    variance_bound,
)
from dpgp.kernels.envelopes import BoxCells
from dpgp.kernels.formula import batch_diag, batch_gram
from dpgp.kernels.known import as_kernel, kernel_to_json

X = np.random.default_rng(0).uniform(-1, 1, (6, 2))


class Halved(sk.RBF):
    """A user's kernel that inherits from RBF and is half as large."""

    def __call__(self, X, Y=None, eval_gradient=False):
        return 0.5 * super().__call__(X, Y)

    def diag(self, X):
        return 0.5 * super().diag(X)


class Declared(Halved):
    variance_bound = 0.5


class Liar(Halved):
    variance_bound = 0.1


class Slope(sk.RBF):
    """No covariance: it has negative eigenvalues."""

    variance_bound = 1.0

    def __call__(self, X, Y=None, eval_gradient=False):
        Y = X if Y is None else Y
        return 1.0 - 3.0 * np.abs(X[:, None, 0] - Y[None, :, 0]) ** 0.5


def test_a_subclass_with_its_own_formula_is_not_computed_as_its_parent():
    thetas = np.log([[0.3], [0.9]])
    for kernel in (Halved(0.5), Halved(0.5) + sk.RBF(0.4, "fixed")):
        expected = np.stack([kernel.clone_with_theta(theta)(X, X[:3]) for theta in thetas])
        assert_allclose(batch_gram(kernel, thetas, X, X[:3]), expected, rtol=1e-13)
    assert_allclose(batch_diag(Halved(0.5), thetas, X), 0.5)


def test_what_is_known_of_the_parent_is_not_known_of_it():
    kernel = Declared([0.5, 0.7])
    assert product_factors(kernel, 2) is None
    assert not is_gaussian_mixture(kernel)
    assert as_kernel(kernel).part == "Declared part"
    assert {each.words for each in as_kernel(kernel).learned()} == {
        "length_scale of the Declared part"
    }
    cells = BoxCells(X - 0.1, X + 0.1, X[:2])
    assert_allclose(envelope(kernel, cells).high, 0.5)
    with pytest.raises(ModelFileError, match="of type Declared cannot be saved"):
        kernel_to_json(sk.ConstantKernel(2.0) * kernel)


def test_its_variance_is_bounded_by_what_it_declares_alone():
    assert variance_bound(Declared(0.5)) == 0.5
    with pytest.raises(ValueError, match="attribute `variance_bound`"):
        variance_bound(Halved(0.5))


def rows():
    generator = np.random.default_rng(0)
    X = generator.uniform(0, 10, (300, 1))
    return X, np.sin(X[:, 0]) + 0.1 * generator.standard_normal(300)


def model(kernel):
    return PrivateGPRegressor(
        2.0,
        1e-5,
        bounds=(0, 10),
        target_bounds=(-2, 2),
        kernel=kernel,
        inducing_points=6,
        stages=1,
        random_state=0,
    )


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Halved(0.5), "attribute `variance_bound`"),
        (sk.RBF(0.5) + Halved(0.5), "attribute `variance_bound`"),
        (Liar(0.5), "exceeds its `variance_bound` 0.1"),
        (Slope(0.5), "must be positive definite"),
        (sk.DotProduct(0.0), "positive, finite hyperparameters"),
    ],
    ids=repr,
)
def test_what_cannot_be_used_is_refused_before_anything_is_released(kernel, message, monkeypatch):
    monkeypatch.setattr("dpgp.privacy.mechanism.publish", None)
    gp = model(kernel)
    with pytest.raises(ValueError, match=message):
        gp.fit(*rows())
    assert not hasattr(gp, "certificate_")


def test_periodic_functions_have_one_input():
    check_kernel(sk.ExpSineSquared(0.5, 0.7), 1)
    with pytest.raises(ValueError, match="one input alone; with several, give"):
        check_kernel(sk.RBF(0.5) + sk.ExpSineSquared(0.5, 0.7), 2)


def test_it_predicts_and_is_not_exported():
    gp = model(Declared(0.5)).fit(*rows())
    X = np.linspace(0, 10, 5)[:, None]
    known = model(sk.ConstantKernel(0.5, "fixed") * sk.RBF(0.5)).fit(*rows())
    assert np.abs(gp.predict(X) - known.predict(X)).max() < 0.5
    with pytest.raises(ValueError, match="cannot be exported"):
        export.specification(gp)
