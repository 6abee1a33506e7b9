import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.features.linear import LinearFeatures, UnitLine

LINE = UnitLine(3, 0.2, 0.25)


@given(st.floats(1e-9, 1.0), st.integers(1, 30), st.integers(0, 10**6))
def test_norms_are_at_most_one_whatever_the_inputs(size, columns, seed):
    U = size * np.random.default_rng(seed).uniform(-1, 1, (40, columns))
    phi = UnitLine(columns, 0.2, 0.25).evaluate(U)
    assert np.linalg.norm(phi, axis=0).max() <= 1.0


@pytest.mark.parametrize("size", [0.3, 1.0])
def test_the_norm_is_attained_by_every_row_that_is_not_small(size):
    U = size * np.array([[1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]])
    np.testing.assert_allclose(np.linalg.norm(LINE.evaluate(U), axis=0), 1.0, atol=1e-9)


def test_small_rows_are_a_line_and_zero_is_the_constant_alone():
    U = 0.1 * np.random.default_rng(0).uniform(-1, 1, (20, 3))
    wide = LinearFeatures(3, 0.2).evaluate(U)
    wide[1:] /= 0.25
    np.testing.assert_allclose(LINE.evaluate(U), wide, atol=1e-10)
    np.testing.assert_allclose(LINE.evaluate(np.zeros((1, 3)))[1:], 0.0)


def test_a_row_has_the_same_features_wherever_it_stands():
    row, found = np.random.default_rng(1).uniform(-1, 1, 3), set()
    for position in range(0, 512, 7):
        U = np.zeros((512, 3))
        U[position] = row
        found.add(LINE.evaluate(U, np.empty((4, 512)))[:, position].tobytes())
    assert len(found) == 1
