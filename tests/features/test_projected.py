import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, DotProduct

from dpgp.domain import Box
from dpgp.features.inducing import (
    DictionaryValues,
    InducingFeatures,
    ProjectedFeatures,
)
from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.inference.many.metric import REFERENCE, kernel_of

GENERATOR = np.random.default_rng(0)
Z = GENERATOR.uniform(-1, 1, (40, 4))
DICTIONARY = InducingFeatures(kernel_of(GENERATOR.normal(size=(4, 4)), np.eye(4), REFERENCE), Z)


def projected(size=12, scale=1.0, seed=1):
    P = scale * np.random.default_rng(seed).normal(size=(40, size))
    return ProjectedFeatures(DICTIONARY, P, 0.3)


@given(st.floats(1e-8, 1e8), st.integers(0, 10**6))
def test_norms_are_at_most_one_whatever_the_projection(scale, seed):
    U = np.random.default_rng(seed).uniform(-1, 1, (50, 4))
    assert np.linalg.norm(projected(scale=scale, seed=seed).evaluate(U), axis=0).max() <= 1.0


def test_the_norm_is_attained():
    U = GENERATOR.uniform(-1, 1, (50, 4))
    assert np.linalg.norm(projected(scale=50.0).evaluate(U), axis=0).max() >= 1.0 - 1e-9


def test_features_are_those_of_the_dictionary_projected():
    U, features = GENERATOR.uniform(-1, 1, (20, 4)), projected(scale=1e-3)
    out = np.empty((12, 20))
    expected = features.P.T @ DICTIONARY.evaluate(U) / 0.3
    assert features.evaluate(U, out) is not None
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-12)


def test_residuals_beside_features_of_the_same_values_are_those_by_themselves():
    inputs = UnitInputs(Box.from_bounds((-1, 1), 4))
    X, targets = GENERATOR.uniform(-1, 1, (700, 4)), GENERATOR.normal(size=(2, 700))
    values, features = DictionaryValues(DICTIONARY), BoxFeatures(inputs, projected())
    weights = values.weights(GENERATOR.normal(size=(2, 40)))
    residuals = Residuals(BoxFeatures(inputs, values), weights, np.array([0.5, 2.0]))
    out = np.empty((12, 700))
    beside = residuals.beside(features, X, targets, out)
    np.testing.assert_array_equal(out, features.evaluate(X))
    np.testing.assert_allclose(beside, residuals.of(X, targets), rtol=1e-9, atol=1e-11)


def test_kernel_values_carry_the_functions_of_the_dictionary():
    values, w = DictionaryValues(DICTIONARY), GENERATOR.normal(size=40)
    U = GENERATOR.uniform(-1, 1, (20, 4))
    np.testing.assert_allclose(
        values.weights(w) @ values.evaluate(U), w @ DICTIONARY.evaluate(U), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(
        values.whitened(values.evaluate(U)), DICTIONARY.evaluate(U), rtol=1e-8, atol=1e-10
    )


def test_parts_with_few_functions_give_these_and_not_their_values_at_every_point():
    thin = 1 + 4 + 6 * 4  # a constant, a line, six functions of each input
    values, U = DictionaryValues(DICTIONARY), GENERATOR.uniform(-1, 1, (20, 4))
    assert values.evaluate(U).shape == (40 + thin, 20) == (values.dimension, 20)
    lines = DictionaryValues(InducingFeatures(DotProduct(1.0), Z))
    np.testing.assert_allclose(
        lines.weights(np.eye(40)) @ lines.evaluate(U), lines.inner.evaluate(U), atol=1e-9
    )


@pytest.mark.parametrize(
    "features", [projected(), DictionaryValues(DICTIONARY)], ids=["P", "values"]
)
def test_a_row_has_the_same_features_wherever_it_stands(features):
    box = BoxFeatures(UnitInputs(Box.from_bounds((-1, 1), 4)), features)
    size, row = 512, GENERATOR.uniform(-1, 1, 4)
    found = set()
    for position in range(0, size, 7):
        X = np.tile(box.filler, (size, 1))
        X[position] = row
        found.add(box.evaluate(X)[:, position].tobytes())
    assert len(found) == 1


def test_a_dictionary_of_one_smooth_kernel_serves_too():
    features = ProjectedFeatures(InducingFeatures(RBF(), Z), np.eye(40)[:, :3], 0.3)
    assert features.evaluate(Z).shape == (features.dimension, 40)
