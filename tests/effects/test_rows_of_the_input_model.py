"""The private model of the inputs, as rows and as marginals."""

from dataclasses import replace

import numpy as np
import pytest
from effect_models import fitted
from numpy.testing import assert_allclose, assert_array_equal

from dpgp.model.input_model import (
    InputDensity,
    independent_rows,
    nodes_of,
    quantiles,
    representative_rows,
    sample_size,
)


def with_density(points, weights):
    return replace(fitted("two"), density=InputDensity(np.array(points), np.array(weights)))


def test_rows_stand_for_the_weights_of_the_density():
    model = with_density([[0.0, 1.0], [5.0, 2.0], [9.0, 3.0]], [10.0, 20.0, 10.0])
    assert_array_equal(representative_rows(model)[:, 0], [0.0, 5.0, 9.0])
    heavy = with_density([[0.0, 1.0], [5.0, 2.0], [9.0, 3.0]], [0.0, 40.0, 0.0])
    assert_array_equal(representative_rows(heavy)[:, 0], [5.0, 5.0, 5.0])


def test_few_values_are_taken_with_their_own_shares():
    model = with_density([[0.0, 1.0], [1.0, 2.0], [1.0, 3.0]], [9.0, 0.5, 0.5])
    nodes = nodes_of(model, 0, 16)
    assert_array_equal(nodes.values, [0.0, 1.0])
    assert_allclose(nodes.shares, [0.9, 0.1])


def test_many_values_are_taken_as_quantiles():
    x = np.linspace(0, 10, 400)
    model = with_density(np.column_stack([x, x]), np.ones(400))
    nodes = nodes_of(model, 1, 16)
    assert_allclose(nodes.values, 10 * (np.arange(16) + 0.5) / 16, atol=0.03)
    assert nodes.shares.sum() == pytest.approx(1.0)


def test_without_a_density_inputs_have_the_marginals_of_the_warp():
    model = fitted("fixed features")
    assert model.inputs.warp is not None
    model = replace(model, density=None)
    middle = quantiles(model, 0, np.array([0.0, 0.5, 1.0]))
    assert_allclose(middle, [0.0, 5.0, 10.0], atol=1.0)
    assert sample_size(model) == 600


def test_where_nothing_was_released_inputs_are_uniform():
    model = replace(fitted("nothing released of the inputs"), density=None)
    assert_allclose(quantiles(model, 2, np.array([0.25])), [2.5])
    rows = representative_rows(model)
    assert_allclose(rows.mean(axis=0), 5.0, atol=0.05)


def test_independent_rows_have_the_marginals_and_no_correlation():
    x = np.linspace(0, 10, 400)
    model = with_density(np.column_stack([x, x]), np.ones(400))
    rows = independent_rows(model, 256)
    assert rows.shape == (256, 2)
    assert_allclose(np.corrcoef(rows.T) - np.eye(2), 0.0, atol=0.1)
    assert_allclose(rows.mean(axis=0), 5.0, atol=0.1)
