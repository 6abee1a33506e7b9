"""Each sensitivity is never exceeded by neighbouring data, and attained by some."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpgp.privacy.mechanism import noise_of_counts
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.sensitivity import (
    bounded_sum_sensitivity,
    count_sensitivity,
    gram_sensitivity,
    histogram_sensitivity,
    moments_sensitivity,
    moments_sensitivity_as_printed,
)

REPLACE, ADD_REMOVE = Neighbours.REPLACE, Neighbours.ADD_REMOVE
RELATIONS = [REPLACE, ADD_REMOVE]
SLACK = 1.0 + 1e-12  # of the sums in the tests, which are in floating point

scales = st.floats(1e-3, 1e3)
relations = st.sampled_from(RELATIONS)
many = settings(max_examples=300, deadline=None)


@st.composite
def rows_in_ball(draw, radius, rows, dimension):
    """Rows of norm at most `radius`, most of them on the sphere."""
    x = draw(arrays(float, (rows, dimension), elements=st.floats(-1.0, 1.0)))
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    length = draw(arrays(float, (rows, 1), elements=st.sampled_from([1.0, 1.0, 0.5, 0.0])))
    return radius * length * x / np.where(norms > 1e-6, norms, 1.0)


def moments(k, y, c):
    """(A, c·B̂) in the paper's own layout: diagonal, then √2 times what is above it."""
    B = k.T @ k
    above = np.triu_indices(len(B), 1)
    return np.concatenate([k.T @ y, c * np.diag(B), c * math.sqrt(2.0) * B[above]])


def histograms(codes, bins):
    """One histogram per column, joined; a code of -1 falls in no bin."""
    counts = [np.bincount(column[column >= 0], minlength=bins) for column in codes.T]
    return np.concatenate(counts)


# --- never exceeded ------------------------------------------------------------------------------


COUNTED = st.lists(st.booleans(), min_size=4, max_size=4)


def weighted_counts(rows, columns):
    """What a unit adds to the count of rows and, divided by their noise, to those of columns."""
    noise = noise_of_counts(1.0, columns)
    stds = np.array(noise.stds) / noise.sigma
    return sum((np.array(row[: 1 + columns]) / stds for row in rows), np.zeros(1 + columns))


@many
@given(st.data(), st.integers(0, 3), st.integers(1, 3))
def test_counts_are_never_exceeded(data, columns, m):
    units = st.lists(COUNTED, max_size=m)
    one, other = (weighted_counts(data.draw(units), columns) for _ in "12")
    noise = noise_of_counts(1.0, columns, m)
    assert np.linalg.norm(one - other) <= noise.sensitivity * SLACK
    assert noise.sensitivity <= m * math.sqrt(1 + columns)


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_counts_are_attained_where_all_of_a_unit_become_unusable(columns):
    m = 2
    unusable = weighted_counts([[False] * 4] * m, columns)
    change = weighted_counts([[True] * 4] * m, columns) - unusable
    noise = noise_of_counts(1.0, columns, m)
    assert np.linalg.norm(change) == pytest.approx(noise.sensitivity, rel=1e-14)
    assert noise.sensitivity == count_sensitivity(1.25 if columns else 1.0, m)


@many
@given(st.data(), scales, relations, st.integers(1, 4), st.integers(1, 4))
def test_gram_is_never_exceeded(data, radius, neighbours, dimension, m):
    kept = data.draw(rows_in_ball(radius, 3, dimension))
    old = data.draw(rows_in_ball(radius, m, dimension))
    new = data.draw(rows_in_ball(radius, m, dimension))
    before = np.vstack([kept, old])
    after = np.vstack([kept, new]) if neighbours is REPLACE else kept
    change = np.linalg.norm(before.T @ before - after.T @ after)
    bound = gram_sensitivity(radius, neighbours, rows_per_unit=m)
    assert change <= bound * SLACK + 1e-13 * radius**2


@many
@given(st.data(), scales, scales, scales, relations, st.integers(1, 4))
def test_moments_are_never_exceeded(data, R_k, R_y, c, neighbours, dimension):
    k = data.draw(rows_in_ball(R_k, 2, dimension))
    y = data.draw(arrays(float, 2, elements=st.sampled_from([-R_y, R_y, 0.3 * R_y])))
    after = moments(k[1:], y[1:], c) if neighbours is REPLACE else 0.0
    change = np.linalg.norm(moments(k[:1], y[:1], c) - after)
    assert change <= moments_sensitivity(R_k, R_y, c, neighbours) * SLACK
    assert change <= moments_sensitivity_as_printed(R_k, R_y, c) * SLACK


@many
@given(st.data(), relations, st.integers(1, 4), st.integers(1, 4), st.integers(2, 5))
def test_histograms_are_never_exceeded(data, neighbours, columns, m, bins):
    codes = arrays(int, (m, columns), elements=st.integers(-1, bins - 1))
    before, after = histograms(data.draw(codes), bins), histograms(data.draw(codes), bins)
    change = np.linalg.norm(before - (after if neighbours is REPLACE else 0))
    assert change <= histogram_sensitivity(columns, neighbours, rows_per_unit=m) * SLACK


@many
@given(scales, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), relations)
def test_bounded_sum_is_never_exceeded(R, old, new, neighbours):
    change = abs(R * old - (R * new if neighbours is REPLACE else 0.0))
    assert change <= bounded_sum_sensitivity(R, neighbours) * SLACK


# --- attained ------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("m", [1, 3])
def test_gram_is_attained_by_orthogonal_rows(neighbours, m):
    radius = 1.7
    old = np.tile([radius, 0.0], (m, 1))
    new = np.tile([0.0, radius], (m, 1)) if neighbours is REPLACE else np.zeros((m, 2))
    change = np.linalg.norm(old.T @ old - new.T @ new)
    assert change == pytest.approx(gram_sensitivity(radius, neighbours, m), rel=1e-14)


@pytest.mark.parametrize(
    ("R_k", "R_y", "c"),
    [
        pytest.param(1.0, 1.0, 2.0, id="interior"),
        pytest.param(3.0, 0.5, 1.0, id="interior, far"),
        pytest.param(2.0, 1.0, 1.0 / math.sqrt(8.0), id="border"),
        pytest.param(1.0, 4.0, 0.5, id="clamped"),
    ],
)
def test_moments_are_attained_when_replaced(R_k, R_y, c):
    t = min(R_k**2, R_y**2 / (2 * c**2))
    angle = math.acos(t / R_k**2)
    k = np.array([[R_k, 0.0], [R_k * math.cos(angle), R_k * math.sin(angle)]])
    change = np.linalg.norm(
        moments(k[:1], np.array([R_y]), c) - moments(k[1:], np.array([-R_y]), c)
    )
    assert change == pytest.approx(moments_sensitivity(R_k, R_y, c, REPLACE), rel=1e-13)


def test_moments_are_attained_when_added():
    R_k, R_y, c = 1.3, 0.7, 1.9
    change = np.linalg.norm(moments(np.array([[0.0, R_k]]), np.array([R_y]), c))
    assert change == pytest.approx(moments_sensitivity(R_k, R_y, c, ADD_REMOVE), rel=1e-14)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_histograms_are_attained(neighbours):
    columns, m = 5, 3
    old = histograms(np.zeros((m, columns), int), 2)
    new = histograms(np.ones((m, columns), int), 2) if neighbours is REPLACE else 0
    expected = histogram_sensitivity(columns, neighbours, m)
    assert np.linalg.norm(old - new) == pytest.approx(expected, rel=1e-14)


def test_bounded_sum_is_attained():
    assert bounded_sum_sensitivity(1.5, REPLACE) == 1.5 - -1.5
    assert bounded_sum_sensitivity(1.5, ADD_REMOVE) == 1.5


# --- the two forms, and a single feature ---------------------------------------------------------


@many
@given(scales, scales, scales)
def test_clamped_moments_never_exceed_the_printed_form(R_k, R_y, c):
    clamped, printed = (
        moments_sensitivity(R_k, R_y, c, REPLACE),
        moments_sensitivity_as_printed(R_k, R_y, c),
    )
    assert clamped <= printed
    # the printed form is a perfect square
    assert printed == pytest.approx(math.sqrt(2) * c * R_k**2 + R_y**2 / (math.sqrt(2) * c))
    if 2 * (c * R_k) ** 2 <= R_y**2:
        assert clamped == pytest.approx(2 * R_k * R_y)


@pytest.mark.parametrize(("c", "exact"), [(0.5, True), (0.7071, True), (0.75, False), (3.0, False)])
def test_single_feature_attains_moments_only_below_the_threshold(c, exact):
    a, b = np.linspace(0.0, 1.0, 2001)[:, None], np.linspace(0.0, 1.0, 2001)[None, :]
    largest = math.sqrt(np.max((a + b) ** 2 * (1.0 + c**2 * (a - b) ** 2)))
    bound = moments_sensitivity(1.0, 1.0, c, REPLACE)
    assert largest <= bound * SLACK
    assert (largest >= bound * (1.0 - 1e-6)) is exact
    # docs/proofs/moments_sensitivity.md, section 4
    inner = 0.5 * (1.0 - math.sqrt(max(0.0, 1.0 - 2.0 / c**2)))
    formula = max(2.0, (1.0 + inner) * math.sqrt(1.0 + c**2 * (1.0 - inner) ** 2))
    assert largest == pytest.approx(formula if c**2 > 2.0 else 2.0, rel=1e-6)


# --- rounding and arguments ----------------------------------------------------------------------


@many
@given(st.floats(1e-60, 1e60), relations, st.integers(1, 1000))
def test_gram_is_rounded_up_and_tight(radius, neighbours, m):
    square = Fraction(gram_sensitivity(radius, neighbours, m)) ** 2
    exact = (2 if neighbours is REPLACE else 1) * m**2 * Fraction(radius) ** 4
    assert exact <= square <= exact * (1 + Fraction(1, 2**50))


def test_exact_values_stay_exact():
    assert gram_sensitivity(1.0, ADD_REMOVE) == 1.0
    assert histogram_sensitivity(2, REPLACE) == 2.0
    assert moments_sensitivity(1.0, 2.0, 0.5, REPLACE) == 4.0


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_bounds_must_be_positive_and_finite(value):
    with pytest.raises(ValueError, match="`norm_bound` must be"):
        gram_sensitivity(value, REPLACE)
    with pytest.raises(ValueError, match="`ratio` must be"):
        moments_sensitivity(1.0, 1.0, value, REPLACE)
    with pytest.raises(ValueError, match="`half_width` must be"):
        bounded_sum_sensitivity(value, REPLACE)


def test_counts_must_be_whole_numbers():
    with pytest.raises(ValueError, match="`rows_per_unit` must be positive, got 0"):
        gram_sensitivity(1.0, REPLACE, rows_per_unit=0)
    with pytest.raises(ValueError, match=r"`columns` must be a whole number, got 1\.5"):
        histogram_sensitivity(1.5, REPLACE)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`norm_bound` must be a number, got str"):
        gram_sensitivity("1", REPLACE)  # type: ignore[arg-type]


def test_neighbours_say_what_may_happen_to_a_unit():
    assert Neighbours.REPLACE.change == "replaced by any other"
    assert Neighbours.ADD_REMOVE.change == "added or removed"
