"""Histograms of numbers and levels: a row is in one bin of each, so √(2D) holds and is attained."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.categories import read_categories
from dpgp.domain import Box
from dpgp.options import Options
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.sensitivity import histogram_sensitivity
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_histograms
from dpgp.steps import InputHistograms
from dpgp.steps.known import Known

LEVELS = {0: list(range(40)), 2: ["F", "M"]}
BOX = Box.from_bounds([(0, 1)], 3, categories=read_categories(LEVELS, None, 3))
OPTIONS = Options.parse(box=BOX, target_box=Box.from_bounds((0, 1), 1))
QUERY = InputHistograms(0.05).query(Known.before(OPTIONS, 0.2, (), 100))  # 16 bins, 40 levels

row = st.tuples(st.integers(0, 39), st.floats(-1, 2), st.integers(0, 1), st.booleans())


def histograms(rows):
    *columns, usable = zip(*rows, strict=True)
    X = np.column_stack(columns).astype(float)
    X[~np.array(usable)] = np.nan
    counts = exact_histograms(Rows(X, np.zeros((1, len(X))), np.array(usable)), QUERY, 16)
    return (counts // 2**40).astype(float)


def change(one, other):
    return float(np.linalg.norm(histograms(one) - histograms(other)))


@given(st.lists(row, max_size=6), row, row)
def test_a_row_changes_no_more_than_the_sensitivity(rows, one, other):
    most = histogram_sensitivity(3, Neighbours.REPLACE, 1)
    assert change([*rows, one], [*rows, other]) <= most


def test_the_sensitivity_is_attained():
    one, other = (0, 0.1, 0, True), (39, 0.9, 1, True)
    most = histogram_sensitivity(3, Neighbours.REPLACE, 1)
    assert change([one], [other]) == pytest.approx(most, rel=1e-12) == math.sqrt(6)


@given(st.lists(row, min_size=1, max_size=6))
def test_a_category_is_one_histogram_of_its_levels(rows):
    counts = histograms(rows)
    usable = [row for row in rows if row[3]]
    assert counts.shape == (3, 40)
    np.testing.assert_array_equal(counts.sum(axis=1), len(usable))
    for level, *_ in usable:
        assert counts[0, level] == sum(other[0] == level for other in usable)
    np.testing.assert_array_equal(counts[2, 2:], 0)
    assert counts[1, 16:].sum() == 0  # numbers keep to their bins, at the upper bound too
