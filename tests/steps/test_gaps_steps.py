"""Histograms of rows with gaps: which bins they are in, and how far one row moves them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from dpgp.categories import Category
from dpgp.domain import Box
from dpgp.options import Options
from dpgp.privacy.sensitivity import histogram_sensitivity
from dpgp.private.rows import scaled_rows
from dpgp.private.sums import exact_histograms
from dpgp.steps.input_model import InputHistograms
from dpgp.steps.known import Known

BOX = Box.from_bounds([(-1, 1)] * 3, 4, categories=(*[None] * 3, Category(("a", "b", "c"))))
OPTIONS = Options.parse(
    epsilon=1.0,
    delta=1e-6,
    box=BOX,
    target_box=Box.from_bounds((-1, 1), 1, argument="target_bounds"),
    missing="model",
)
UNIT = 2.0**40
STEP = InputHistograms(0.1)
KNOWN = Known.before(OPTIONS, 1.0, (STEP,), 2000)
CELL = st.one_of(st.floats(-1, 1), st.just(np.nan), st.just(np.inf))
ROW = st.tuples(CELL, CELL, CELL, st.sampled_from([0.0, 1.0, 2.0, np.nan]), CELL)


def rows_of(table):
    table = np.array(table)
    return scaled_rows(table[:, :4], table[:, 4:].T, OPTIONS, None)


def counts(table):
    return (exact_histograms(rows_of(table), STEP.query(KNOWN)) / UNIT).astype(float)


@settings(max_examples=40, deadline=None)
@given(st.lists(ROW, min_size=2, max_size=4), ROW)
def test_a_row_moves_the_histograms_no_farther_than_a_complete_one(table, other):
    moved = counts([*table[:-1], other]) - counts(table)
    assert np.linalg.norm(moved) <= histogram_sensitivity(4, OPTIONS.neighbours, 1) * (1 + 1e-12)


def test_the_bound_is_attained_by_complete_rows():
    table = [(-1.0, -1.0, -1.0, 0.0, 0.0), (-1.0, -1.0, -1.0, 0.0, 0.0)]
    moved = counts([table[0], (1.0, 1.0, 1.0, 2.0, 0.0)]) - counts(table)
    assert np.linalg.norm(moved) == pytest.approx(histogram_sensitivity(4, OPTIONS.neighbours, 1))


def test_a_row_counts_where_it_has_inputs_and_nowhere_else():
    found = counts([(0.5, np.nan, np.inf, 1.0, 0.3), (np.nan, np.nan, np.nan, np.nan, 0.3)])
    assert_array_equal(found.sum(axis=1), [1.0, 0.0, 0.0, 1.0])


def test_only_the_target_and_one_input_are_needed():
    nan = np.nan
    table = [(0.1, 0.1, 0.1, 0.0, nan), (nan,) * 4 + (0.1,), (nan, nan, nan, 2.0, 0.1)]
    assert_array_equal(rows_of(table).usable, [False, False, True])


def test_marginals_are_those_of_the_rows_that_have_the_input():
    """Half of the rows lack the second input, and where it is there it is as the first one."""
    rng = np.random.default_rng(0)
    table = np.column_stack([np.tile(rng.uniform(-1, 0, (4000, 1)), 3), np.zeros((4000, 2))])
    table[::2, 1] = np.nan
    release = SimpleNamespace(counts=counts(table), noise_std=1.0)
    known = Known.before(OPTIONS, 1.0, (STEP,), 4000)
    STEP.learn(known, release)
    np.testing.assert_allclose(known.shares_there, [1.0, 0.5, 1.0, 1.0])
    np.testing.assert_allclose(known.marginals.masses[0], known.marginals.masses[1], atol=0.02)
