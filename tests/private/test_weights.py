"""Rows with weights: no neighbour moves a sum by more than one of whole rows does."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpgp.choices import Missing
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.privacy.exact_sums import UNIT
from dpgp.privacy.mechanism import LEVELS_WEIGHT, noise_of_counts
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.sensitivity import count_sensitivity, gram_sensitivity, histogram_sensitivity
from dpgp.private.rows import Rows, scaled_rows
from dpgp.private.sums import exact_count, exact_gram, exact_histograms
from dpgp.steps.base import CountQuery, HistogramQuery

BOX = Box.from_bounds((-1, 1), 2)
LINE = BoxFeatures(UnitInputs(BOX), LinearFeatures(2, 0.5))
RESIDUALS = Residuals(LINE, np.zeros((1, LINE.dimension)), np.array([1.0]))
HALVES = HistogramQuery(lambda X, y: X.T, 2, np.array([0.0]), np.zeros(2))
COUNTS = CountQuery(columns=2, squares=True)
SMALL = 2.0**-20  # of rounding to a grid of features, which may move a sum by a last bit

VALUES = st.floats(-1, 1) | st.sampled_from([-1.0, 1.0, 1e300, -1e12])
WEIGHTS = st.floats() | st.floats(0, 1) | st.sampled_from([0.0, 1.0, 1.0 + 2**-50, 1e300])
ROW = st.tuples(VALUES, VALUES, VALUES, WEIGHTS, st.booleans(), st.booleans(), st.booleans())
UNITS = st.lists(ROW, min_size=0, max_size=3)  # rows of one person, of which three count


def rows_of(units):
    """Return rows as a reader would hand them on, but for their weights, which are anything."""
    made = [row for unit in units for row in unit]
    x, z, y, weights, usable, first, second = (list(column) for column in zip(*made, strict=True))
    return Rows(
        np.column_stack([x, z]).astype(float),
        np.array([y], dtype=float),
        np.array(usable),
        np.array([first, second]),
        np.array(weights, dtype=float),
    )


def counts_of(rows):
    """Return counts as if all had the noise of the first: §7 of the proof."""
    weight = math.sqrt(LEVELS_WEIGHT / (COUNTS.numbers - 1))
    return exact_count(rows, COUNTS).astype(float) * np.array([1.0, *[weight] * 3])


QUERIES = {
    "gram": (
        lambda rows: exact_gram(rows, LINE, RESIDUALS, block_rows=16).astype(float),
        lambda neighbours, m: gram_sensitivity(math.sqrt(2.0), neighbours, m),
    ),
    "histograms": (
        lambda rows: exact_histograms(rows, HALVES, block_rows=16).astype(float),
        lambda neighbours, m: histogram_sensitivity(2, neighbours, m),
    ),
    "counts": (counts_of, lambda neighbours, m: count_sensitivity(1.0 + LEVELS_WEIGHT, m)),
}
OTHERS = [(0.3, -0.2, 0.5, 0.7, True, True, True)]


def moved(query, one, other):
    """Return how far a sum moves where one unit is replaced by another, or by nobody."""
    ask = QUERIES[query][0]
    return float(np.linalg.norm(ask(rows_of([OTHERS, one])) - ask(rows_of([OTHERS, other]))))


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=150, deadline=None)
@given(one=UNITS, other=UNITS)
def test_no_weight_moves_a_sum_by_more_than_whole_rows_do(query, one, other):
    m = max(len(one), len(other), 1)
    bound = QUERIES[query][1]
    assert moved(query, one, other) <= bound(Neighbours.REPLACE, m) * UNIT**2
    assert moved(query, one, []) <= bound(Neighbours.ADD_REMOVE, m) * UNIT**2


WHOLE = (1.0, 1.0, 1.0, 1.0, True, True, True)
OPPOSITE = {
    "gram": (1.0, 1.0, -1.0, 1.0, True, True, True),  # ψ = (φ, 1) and (φ, −1) are orthogonal
    "histograms": (-1.0, -1.0, 0.0, 1.0, True, True, True),
    "counts": (0.0, 0.0, 0.0, 0.0, False, False, False),
}


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("query", QUERIES)
def test_whole_rows_attain_the_bounds(query, m):
    one, bound = [WHOLE] * m, QUERIES[query][1]
    found = moved(query, one, [OPPOSITE[query]] * m)
    assert found == pytest.approx(bound(Neighbours.REPLACE, m) * UNIT**2, rel=4 * SMALL)
    found = moved(query, one, [])
    assert found == pytest.approx(bound(Neighbours.ADD_REMOVE, m) * UNIT**2, rel=4 * SMALL)


@pytest.mark.parametrize("query", QUERIES)
@given(weight=st.floats(0, 1))
def test_a_row_moves_sums_by_its_weight(query, weight):
    light, none = (*WHOLE[:3], weight, True, True, True), (*WHOLE[:3], 0.0, True, True, True)
    found = QUERIES[query][0](rows_of([[light]])) - QUERIES[query][0](rows_of([[none]]))
    whole = QUERIES[query][0](rows_of([[WHOLE]])) - QUERIES[query][0](rows_of([[none]]))
    expected = weight * whole
    if query == "counts":
        expected[1] = weight**2 * whole[1]
    # √v is rounded to 2⁻²⁰ of the grid: of v that is 2√v 2⁻²¹ and less than half a step squared
    assert np.abs(found - expected).max() <= (2 * math.sqrt(weight) + SMALL) * SMALL * UNIT**2


def test_counts_are_rounded_down():
    rows = rows_of([[(0.0, 0.0, 0.0, 1 / 3, True, True, True)]])
    assert exact_count(rows, COUNTS).tolist() == [2**40 // 3, 2**40 // 9, 2**40 // 3, 2**40 // 3]
    assert exact_histograms(rows, HALVES).tolist() == [[0, 2**40 // 3]] * 2


def test_sums_of_many_rows_are_exact():
    n = 2**16 + 7
    rng = np.random.default_rng(0)
    weights = rng.uniform(0, 1, n)
    rows = Rows(rng.uniform(-1, 1, (n, 2)), np.zeros((1, n)), np.ones(n, bool), weights=weights)
    expected = sum(math.floor(weight * 2**40) for weight in weights.tolist())
    assert exact_count(rows).tolist() == [expected]
    assert exact_histograms(rows, HALVES).sum(axis=1).tolist() == [expected] * 2
    whole, parts = exact_gram(rows, LINE), [rows.chosen(slice(99)), rows.chosen(slice(99, None))]
    assert np.array_equal(sum(exact_gram(part, LINE) for part in parts), whole)


@pytest.mark.parametrize("place", [0, 5, 15])
def test_a_row_is_the_same_at_every_place_of_a_block(place):
    rng = np.random.default_rng(1)
    n = 16
    rows = Rows(
        rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, (1, n)), np.ones(n, bool),
        weights=rng.uniform(0, 1, n),
    )  # fmt: skip
    without = rows.chosen(np.arange(n) != place)
    alone = exact_gram(rows.chosen(np.arange(n) == place), LINE, block_rows=16)
    both = exact_gram(rows, LINE, block_rows=16) - exact_gram(without, LINE, block_rows=16)
    assert np.array_equal(both, alone)


@pytest.mark.parametrize("times", [1, 2, 4])
def test_whole_numbers_of_weight_are_repeated_rows(times):
    rng = np.random.default_rng(2)
    X, y, weights = rng.uniform(-1, 1, (50, 2)), rng.uniform(-1, 1, 50), rng.integers(0, 5, 50)
    weighted = asked_rows(X, y, weights.astype(float) * times, weight_bound=4.0 * times)
    repeated = asked_rows(np.repeat(X, weights, axis=0), np.repeat(y, weights), None)
    assert np.array_equal(
        4 * exact_histograms(weighted, HALVES), exact_histograms(repeated, HALVES)
    )
    assert np.array_equal(4 * exact_count(weighted), exact_count(repeated))
    grams = (4 * exact_gram(weighted, LINE), exact_gram(repeated, LINE))
    np.testing.assert_allclose(*(gram.astype(float) / UNIT**2 for gram in grams), atol=1e-4)


def asked_rows(X, y, weights, **asked):
    options = Options.parse(box=BOX, target_box=Box.from_bounds((-1, 1), 1), **asked)
    return scaled_rows(X, y[None], options, None, weights=weights)


HOSTILE = np.array([1.0, -1.0, np.nan, np.inf, -np.inf, 0.0, 9.0, 5e-324])


def test_what_is_no_weight_makes_a_row_useless_or_an_error():
    X, y = np.zeros((8, 2)), np.zeros(8)
    rows = asked_rows(X, y, HOSTILE, weight_bound=4.0, missing="ignore")
    assert rows.usable.tolist() == [True, False, False, False, False, True, True, True]
    assert rows.weights.tolist() == [0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    for weight in HOSTILE[1:5]:
        with pytest.raises(ValueError, match="`sample_weight` must hold a finite number") as error:
            asked_rows(X[:2], y[:2], np.array([1.0, weight]), weight_bound=4.0)
        assert error.value.__context__ is None


def test_the_number_of_weighted_rows_is_private():
    asked = {"box": BOX, "target_box": BOX, "weight_bound": 2.0}
    options = Options.parse(**asked)
    assert options.table_size_is_public
    assert not options.row_count_is_public
    assert replace(options, weight_bound=None, missing=Missing.ERROR).row_count_is_public
    with pytest.raises(ValueError, match="`weight_bound` must be positive"):
        Options.parse(**asked | {"weight_bound": 0.0})


def test_squares_and_cells_share_a_quarter_of_the_size():
    noise = noise_of_counts(1.0, COUNTS.numbers - 1)
    assert noise.sensitivity == pytest.approx(math.sqrt(1.25))
    assert noise.levels_std == pytest.approx(noise.sigma * math.sqrt(12.0))
