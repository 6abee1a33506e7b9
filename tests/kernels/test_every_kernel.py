"""What must hold of every kernel in the registry: one test, all kernels."""

import json
from contextlib import closing

import numpy as np
import pytest
from numpy.testing import assert_allclose
from py_mini_racer import MiniRacer
from sklearn.gaussian_process import kernels as sk

from dpgp import NormalizedKernel, ProductKernel
from dpgp.arithmetic import NUMPY
from dpgp.checked_values import ModelFileError
from dpgp.kernels.bounds import check_kernel, envelope, product_factors, variance_bound
from dpgp.kernels.envelopes import BoxCells
from dpgp.kernels.formula import (
    batch_diag,
    batch_gram,
    diagonal,
    exported_tree,
    gram,
    mean_diagonal,
    mean_gram,
    specify,
    weighted_gram,
)
from dpgp.kernels.known import (
    FORMULAS,
    KERNELS,
    as_kernel,
    is_sklearn_kernel,
    kernel_from_json,
    kernel_to_json,
    own_kernel_from_json,
)
from dpgp.kernels.linear import AdditiveRBF, BrokenLines, constant, straight
from dpgp.kernels.stationary import RBF, MetricRBF
from dpgp.report.html.browser import plain, posterior_script

EXAMPLES = [
    sk.ConstantKernel(0.7),
    sk.ConstantKernel(0.7, "fixed"),
    sk.DotProduct(0.4),
    sk.ExpSineSquared(0.8, 1.3),
    sk.ExpSineSquared(0.8, 1.3, length_scale_bounds="fixed"),
    sk.RBF(0.7),
    sk.RBF([0.7, 0.4]),
    sk.RBF([0.7, 0.4], "fixed"),
    sk.Matern(0.6, nu=0.5),
    sk.Matern([0.6, 0.9], nu=1.5),
    sk.Matern(0.6, nu=2.5),
    sk.Matern(0.6, nu=np.inf),
    sk.RationalQuadratic(0.5, 1.7),
    sk.RationalQuadratic(0.5, 1.7, alpha_bounds="fixed"),
    sk.WhiteKernel(0.2),
    sk.RBF(0.5) + sk.DotProduct(0.3),
    sk.ConstantKernel(0.3) * sk.RBF([0.4, 0.8]),
    (sk.RBF(0.6) * sk.ConstantKernel(1.5)) ** 1.5,
    NormalizedKernel(sk.DotProduct(0.3) + sk.RBF(0.4)),
    AdditiveRBF(0.5, 4),
    BrokenLines(
        np.array([[-1.0, 0.2, 0.9], [-1.0, -0.5, 0.7]]),
        np.array([[-0.3, 0.1, 2.5], [0.0, 0.0, 0.0]]),
    ),
    MetricRBF(np.array([[1.0, 0.3], [-0.2, 0.6]]), 0.8),
    MetricRBF(np.array([[1.0, 0.3], [-0.2, 0.6]]), 0.8, fixed=("length_scale",)),
    constant(0.3) * AdditiveRBF() + MetricRBF(np.eye(2)),
    (constant(0.2) * RBF(np.array([0.7, 0.4])) + straight()) ** 2.0,
    ProductKernel([sk.ExpSineSquared(0.8, 0.9), sk.ConstantKernel(0.4) * sk.Matern(0.7, nu=1.5)]),
]
GENERATOR = np.random.default_rng(3)
X, Y = GENERATOR.uniform(-1, 1, (9, 2)), GENERATOR.uniform(-1, 1, (7, 2))
Y[0] = X[0]
BOX = (np.full(2, -1.0), np.ones(2))
every_kernel = pytest.mark.parametrize("kernel", EXAMPLES, ids=repr)


def thetas_of(kernel, count=3):
    return kernel.theta + np.random.default_rng(1).normal(0, 0.4, (count, kernel.n_dims))


def one_by_one(kernel):
    return [kernel.clone_with_theta(theta) for theta in thetas_of(kernel)]


def test_every_kernel_of_the_registry_has_an_example():
    assert {type(as_kernel(kernel)) for kernel in EXAMPLES} == set(KERNELS.values())


@every_kernel
def test_every_tree_has_the_formula_of_its_kernel(kernel):
    ours = as_kernel(kernel)
    assert FORMULAS[ours.tree()["type"]] is type(ours)


@every_kernel
def test_matrices_for_many_hyperparameters_are_those_of_each(kernel):
    expected = np.stack([each(X, Y) for each in one_by_one(kernel)])
    found = batch_gram(kernel, thetas_of(kernel), X, Y)
    assert_allclose(np.broadcast_to(found, expected.shape), expected, rtol=1e-12, atol=1e-14)


@every_kernel
def test_variances_for_many_hyperparameters_are_those_of_each(kernel):
    expected = np.stack([each.diag(X) for each in one_by_one(kernel)])
    assert_allclose(batch_diag(kernel, thetas_of(kernel), X), expected, rtol=1e-12)


@every_kernel
def test_no_variance_exceeds_the_bound(kernel):
    U = np.random.default_rng(5).uniform(-1, 1, (300, 2))
    corners = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    bound = variance_bound(kernel, BOX)
    assert kernel.diag(np.vstack([U, corners])).max() <= bound * (1 + 1e-15)


@every_kernel
def test_factors_multiply_to_the_whole(kernel):
    factors = product_factors(kernel, 2)
    if factors is not None:
        product = np.prod([f(X[:, [n]], Y[:, [n]]) for n, f in enumerate(factors)], axis=0)
        assert_allclose(product, kernel(X, Y), rtol=1e-12)


@every_kernel
def test_values_stay_within_the_envelope(kernel):
    if isinstance(kernel, sk.Sum | sk.DotProduct):
        return  # no bound over everything, and none is asked for
    generator = np.random.default_rng(7)
    low = generator.uniform(-1, 0.5, (20, 2))
    cells = BoxCells(low, low + 0.5, Y)
    found = envelope(kernel, cells)
    inside = low[:, None, :] + 0.5 * generator.uniform(size=(20, 15, 2))
    values = kernel(inside.reshape(-1, 2), Y).reshape(20, 15, -1)
    assert (values <= found.high[:, None] + 1e-12).all()
    assert (values >= found.low[:, None] - 1e-12).all()


@every_kernel
def test_files_bring_it_back(kernel):
    tree = json.loads(json.dumps(kernel_to_json(kernel)))
    again = kernel_from_json(tree, "kernel", 2)
    assert kernel_to_json(again) == tree
    assert again.n_dims == kernel.n_dims
    assert np.array_equal(again.theta, kernel.theta)
    for ours, theirs in ((again(X, Y), kernel(X, Y)), (again(X), kernel(X))):
        assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    assert_allclose(again.diag(X), kernel.diag(X), rtol=1e-12)


@every_kernel
def test_a_kernel_that_was_given_comes_back_as_it_was(kernel):
    if not is_sklearn_kernel(kernel):  # a fit makes it by itself
        return
    again = own_kernel_from_json(kernel_to_json(kernel), "kernel", 2)
    assert type(again) is type(kernel)
    assert np.array_equal(again.theta, kernel.theta)
    assert np.array_equal(again(X, Y), kernel(X, Y))


@pytest.mark.parametrize("kernel", [AdditiveRBF(), constant(0.3) * MetricRBF(np.eye(2))], ids=repr)
def test_a_file_cannot_say_that_a_kernel_of_ours_was_given(kernel):
    with pytest.raises(ModelFileError, match="no kernel that can be given"):
        own_kernel_from_json(kernel_to_json(kernel), "kernel", 2)


@every_kernel
def test_its_text_is_that_of_scikit_learn(kernel):
    again = kernel_from_json(kernel_to_json(kernel), "kernel", 2)
    assert repr(again) == repr(kernel)
    assert again == kernel_from_json(kernel_to_json(kernel), "kernel", 2)


@every_kernel
def test_exported_numbers_give_the_same_matrices(kernel):
    thetas = thetas_of(kernel)
    tree = arrays(json.loads(json.dumps(plain(exported_tree(kernel, thetas)))))
    expected = np.stack([each(X, Y) for each in one_by_one(kernel)])
    assert_allclose(
        np.broadcast_to(gram(tree, X, Y, NUMPY), expected.shape), expected, rtol=1e-12, atol=1e-14
    )
    assert_allclose(mean_gram(tree, X, Y, NUMPY), expected.mean(axis=0), rtol=1e-12, atol=1e-14)
    variances = np.stack([each.diag(X) for each in one_by_one(kernel)])
    found = np.broadcast_to(diagonal(tree, X, NUMPY), variances.shape)
    assert_allclose(found, variances, rtol=1e-12)
    assert_allclose(mean_diagonal(tree, X, NUMPY), variances.mean(axis=0), rtol=1e-12)


def arrays(tree):
    if isinstance(tree, dict):
        return {name: arrays(part) for name, part in tree.items()}
    if isinstance(tree, list):
        return [arrays(p) for p in tree] if isinstance(tree[0], dict) else np.array(tree)
    return tree


@every_kernel
def test_the_page_computes_the_same(kernel):
    tree = plain(exported_tree(kernel, thetas_of(kernel)))
    grid = np.array([[a, b] for a in (-0.5, 0.1, 0.7) for b in (-0.8, 0.2)])
    grams = np.stack([each(X, grid) for each in one_by_one(kernel)])
    variances = np.stack([each.diag(X) for each in one_by_one(kernel)])
    found = in_javascript(
        f"const tree = {json.dumps(tree)}, Z = {json.dumps(grid.tolist())};",
        f"const points = {json.dumps(X.tolist())}.map((x) => Float64Array.from(x));",
        "const list = (f) => points.map((x) => Array.from(f(x)));",
        "const mean = meanGram(tree, Z);",
        "({gram: list(gram(tree, Z)), diagonal: list(diagonal(tree)), mean: list(mean)})",
    )
    shape = (len(X), len(grams), len(grid))
    assert_allclose(
        np.reshape(found["gram"], shape), np.swapaxes(grams, 0, 1), rtol=1e-10, atol=1e-14
    )
    assert_allclose(found["diagonal"], variances.T, rtol=1e-12)
    assert_allclose(found["mean"], grams.mean(axis=0), rtol=1e-10, atol=1e-14)


def in_javascript(*lines):
    with closing(MiniRacer()) as engine:
        engine.eval(posterior_script())
        for line in lines[:-1]:
            engine.eval(line)
        return json.loads(engine.eval(f"JSON.stringify({lines[-1]})"))


@every_kernel
def test_every_learned_number_has_a_prior_and_words(kernel):
    ours = as_kernel(kernel)
    learned = ours.learned()
    assert ours.part
    assert len(learned) == kernel.n_dims
    assert all(each.words and each.name for each in learned)
    columns = 1 if isinstance(kernel, sk.ExpSineSquared) else 2
    priors = ours.log_priors(columns)
    assert len(priors) == kernel.n_dims
    assert all(np.isfinite(mean) and sd > 0 for mean, sd in priors)


@every_kernel
def test_every_kernel_passes_the_check_before_a_fit(kernel):
    columns = 1 if isinstance(kernel, sk.ExpSineSquared) else 2
    check_kernel(kernel, columns)


@every_kernel
@pytest.mark.parametrize("on_a_grid", [True, False])
def test_a_weighted_sum_over_hyperparameters_is_that_of_the_matrices(
    kernel, on_a_grid, monkeypatch
):
    monkeypatch.setattr("dpgp.kernels.base.MOST_AT_ONCE", 2000)
    monkeypatch.setattr("dpgp.kernels.stationary.IN_CACHE", 100)
    axes = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 7), indexing="ij")
    grid = np.stack(axes, axis=-1).reshape(-1, 2)
    Z, weights = grid if on_a_grid else grid[::-1] + 0.01, np.array([0.2, 0.5, 0.4])
    grams = np.broadcast_to(batch_gram(kernel, thetas_of(kernel), Z, Y), (3, 35, 7))
    found = weighted_gram(specify(kernel, thetas_of(kernel)), weights, Z, Y)
    assert_allclose(found, np.einsum("t,tnm->nm", weights, grams), rtol=1e-12, atol=1e-15)
