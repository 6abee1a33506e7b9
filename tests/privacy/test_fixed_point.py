import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpgp.privacy.exact_sums import UNIT, round_columns, round_targets, shrinkage


def integer_norms(columns):
    return [sum(int(value) ** 2 for value in column) for column in columns.T]


def unit_columns(rng, dimension, count):
    columns = rng.normal(size=(dimension, count))
    return columns / np.linalg.norm(columns, axis=0)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 30), st.integers(1, 5)),
        elements=st.floats(width=64, allow_nan=True, allow_infinity=True),
    )
)
def test_no_column_is_longer_than_one_whatever_goes_in(columns):
    with np.errstate(all="ignore"):
        round_columns(columns)
    assert all(norm <= int(UNIT) ** 2 for norm in integer_norms(columns))
    assert np.array_equal(columns, np.rint(columns))


@pytest.mark.parametrize("dimension", [1, 2, 25, 400])
def test_unit_columns_keep_their_norm_up_to_the_public_factor(dimension):
    columns = unit_columns(np.random.default_rng(dimension), dimension, 500)
    exact = columns * shrinkage(dimension) * UNIT
    round_columns(columns)
    assert np.abs(columns - exact).max() <= 0.5 + 1e-6
    assert all(norm <= int(UNIT) ** 2 for norm in integer_norms(columns))


def test_rounding_alone_would_break_the_bound():
    columns = unit_columns(np.random.default_rng(0), 25, 500)
    broken = [norm > int(UNIT) ** 2 for norm in integer_norms(np.rint(columns * UNIT))]
    assert 0.3 < np.mean(broken) < 0.7


def test_the_bound_is_attained_up_to_the_public_factor():
    columns = np.array([[1.0], [0.0]])
    round_columns(columns)
    assert columns[0, 0] == math.floor(shrinkage(2) * UNIT + 0.5)


@pytest.mark.parametrize("dimension", [1, 25, 400])
def test_the_factor_leaves_twice_the_room_that_rounding_can_take(dimension):
    # every entry moves by half a step at most, the norm by √d/2 of them
    assert (1.0 - shrinkage(dimension)) * UNIT == pytest.approx(math.sqrt(dimension))


def test_a_column_exactly_as_long_as_allowed_is_left_alone():
    columns = np.array([[1.0 / shrinkage(1)]])
    round_columns(columns)
    assert columns.tolist() == [[UNIT]]


def test_long_columns_are_scaled_back_and_short_ones_left_alone():
    columns = np.array([[3.0, 0.3], [4.0, 0.4]])
    round_columns(columns)
    scale = shrinkage(2) * UNIT
    assert np.allclose(columns / scale, [[0.6, 0.3], [0.8, 0.4]], atol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_columns_that_cannot_be_shortened_become_zero(value):
    columns = np.array([[value, 0.6], [0.5, 0.8]])
    with np.errstate(all="ignore"):
        round_columns(columns)
    assert columns[:, 0].tolist() == [0.0, 0.0]
    assert columns[:, 1].all()


def test_targets_are_rounded_to_the_grid_and_gaps_to_zero():
    targets = np.array([[-3.0, -1.0, 0.25, 1.4 / UNIT, 1.6 / UNIT, 1.0, 7.0, np.nan]])
    round_targets(targets)
    assert targets.tolist() == [[-UNIT, -UNIT, UNIT / 4, 1.0, 2.0, UNIT, UNIT, 0.0]]


@given(arrays(np.float64, (2, 5), elements=st.floats(width=64)))
def test_targets_become_integers_of_at_most_one(targets):
    with np.errstate(all="ignore"):
        round_targets(targets)
    assert np.all(np.abs(targets) <= UNIT)
    assert np.array_equal(targets, np.rint(targets))


def test_norms_are_taken_of_whole_blocks_whose_layout_is_known(monkeypatch):
    shapes, einsum = [], np.einsum

    def recorded(formula, *operands):
        shapes.extend(operand.shape for operand in operands)
        return einsum(formula, *operands)

    monkeypatch.setattr(np, "einsum", recorded)
    round_columns(np.pad(np.full((3, 2), 5.0), ((0, 0), (0, 6))))
    assert set(shapes) == {(3, 8)}


@pytest.mark.parametrize("long", [False, True])
def test_a_columns_integers_do_not_depend_on_its_place(long):
    rng = np.random.default_rng(1)
    column, block = rng.normal(size=25), rng.normal(size=(25, 256))
    column, block = (
        x / np.linalg.norm(x, axis=0) * (3.0 if long else 0.9) for x in (column, block)
    )
    results = set()
    for position in range(256):
        copy = block.copy()
        copy[:, position] = column
        round_columns(copy)
        results.add(copy[:, position].tobytes())
    assert len(results) == 1
