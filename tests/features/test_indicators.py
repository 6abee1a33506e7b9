"""Categories as coordinates of the cube: ±1 indicators, in every library, and back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from dpgp.arithmetic import NUMPY
from dpgp.categories import read_categories
from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs, unit_inputs
from dpgp.inference.warp import Warp

LEVELS = {0: ["F", "M"], 2: ["a", "b", "c"]}
BOX = Box.from_bounds([(0, 10)], 3, categories=read_categories(LEVELS, None, 3))
WARP = Warp(
    np.array([-1.0, 0.0, 1.0]), np.array([[-1.0, 0.0, 1.0], [-1.0, 0.5, 1.0], [-1.0, 0, 1]])
)

codes = st.tuples(st.integers(0, 1), st.floats(-5, 15), st.integers(0, 2))
rows = st.lists(codes, min_size=1, max_size=5).map(np.array)


def test_two_levels_have_one_indicator_and_more_have_one_each():
    X = np.array([[0.0, 0.0, 1.0], [1.0, 10.0, 2.0]])
    expected = [[-1, -1, -1, 1, -1], [1, 1, -1, -1, 1]]
    assert_array_equal(UnitInputs(BOX)(X), expected)
    assert UnitInputs(BOX).dimension == 5


def test_only_numbers_are_warped():
    X = np.array([[0.0, 5.0, 0.0]])
    assert_array_equal(UnitInputs(BOX, WARP)(X), [[-1.0, 0.5, 1.0, -1.0, -1.0]])


@given(rows)
def test_coordinates_stay_in_the_cube_and_lead_back(X):
    inputs = UnitInputs(BOX, WARP)
    U = inputs(X)
    assert np.abs(U).max() <= 1.0
    back = inputs.invert(U)
    assert_array_equal(back[:, [0, 2]], X[:, [0, 2]])
    np.testing.assert_allclose(back[:, 1], np.clip(X[:, 1], 0, 10), atol=1e-9)


@given(rows)
def test_the_formula_of_exports_is_the_same(X):
    inputs = UnitInputs(BOX, WARP)
    np.testing.assert_allclose(unit_inputs(inputs.specify(), X, NUMPY), inputs(X), atol=1e-12)


@given(rows)
def test_a_row_stands_alone(X):
    inputs = UnitInputs(BOX, WARP)
    assert_array_equal(inputs(X), np.vstack([inputs(row[None]) for row in X]))


def test_without_categories_nothing_is_added():
    plain = UnitInputs(Box.from_bounds((0, 1), 2))
    assert plain.dimension == 2
    assert set(plain.specify()) == {"low", "high", "edges", "values"}


def test_points_of_the_box_are_moved_to_levels():
    assert_array_equal(BOX.with_whole_levels(np.array([[0.4, 0.4, 1.6]])), [[0.0, 0.4, 2.0]])
