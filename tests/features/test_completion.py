"""A row with gaps is an average of complete rows, which are a function of that row alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr, ndtri
from sklearn.gaussian_process.kernels import RBF

from dpgp.categories import Category
from dpgp.domain import Box
from dpgp.features.gaps import DRAWS
from dpgp.features.inducing import DictionaryValues, InducingFeatures, ProjectedFeatures
from dpgp.features.inputs import BoxFeatures, CutDistances, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures

BLOCK = 4 * DRAWS
R = np.array([[1.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.0]])
NORMAL = np.random.default_rng(0).multivariate_normal(np.zeros(3), R, 4096)
INPUTS = UnitInputs(Box.from_bounds((-1, 1), 3)).completed_by(2.0 * ndtr(NORMAL) - 1.0)
LEVELS = UnitInputs(
    Box.from_bounds([(-1, 1)], 2, categories=(None, Category(("a", "b", "c"))))
).completed_by(
    np.column_stack(
        [
            np.linspace(-1, 1, 4096),
            np.where(np.arange(3) == (3 * np.arange(4096) // 4096)[:, None], 1.0, -1.0),
        ]
    )
)
ASKED = ProjectedFeatures(
    InducingFeatures(RBF(0.8), np.random.default_rng(1).uniform(-1, 1, (12, 3))),
    np.random.default_rng(2).normal(size=(12, 5)),
    0.3,
)
FEATURES = BoxFeatures(INPUTS, ASKED)
VALUES = DictionaryValues(ASKED.inner)
RESIDUALS = Residuals(
    BoxFeatures(INPUTS, VALUES), VALUES.weights(np.ones((1, 12))), np.array([2.0])
)
CELLS = st.one_of(st.floats(-1, 1), st.just(np.nan))


def blocks_of(columns):
    rows = st.tuples(*[CELLS] * columns)
    return st.lists(rows, min_size=BLOCK, max_size=BLOCK).map(np.array)


def drawn_rows(V):
    """Return the complete rows that stand for one, (draws, coordinates)."""
    return INPUTS.completion.drawn(V[None])[:, 0]


@settings(max_examples=25, deadline=None)
@given(blocks_of(3), st.integers(0, BLOCK - 1), st.integers(0, BLOCK - 1))
def test_columns_are_a_function_of_the_row_alone(X, here, there):
    moved = np.array(X[np.random.default_rng(3).permutation(BLOCK)])
    moved[there] = X[here]
    targets = np.full((1, BLOCK), 0.25)
    both = []
    for block, place in ((X, here), (moved, there)):
        out = np.empty((5, BLOCK))
        r = RESIDUALS.beside(FEATURES, block, targets, out)
        q = CutDistances(RESIDUALS).beside(FEATURES, block, targets, np.empty((5, BLOCK)))
        both.append(np.concatenate([out, r, q, RESIDUALS.of(block, targets)])[:, place])
    assert_array_equal(*both)


@settings(max_examples=25, deadline=None)
@given(blocks_of(3))
def test_the_norm_is_never_above_one(X):
    assert np.linalg.norm(FEATURES.evaluate(X), axis=0).max() <= 1.0


def test_the_norm_is_attained_where_all_draws_have_the_same_features():
    constant = BoxFeatures(INPUTS, LinearFeatures(3, 1.0))
    X = np.full((BLOCK, 3), np.nan)
    assert_array_equal(np.linalg.norm(constant.evaluate(X), axis=0), 1.0)


def test_columns_are_the_averages_over_the_draws():
    X = np.zeros((BLOCK, 3))
    X[7] = [0.4, np.nan, -0.2]
    rows = np.vstack([drawn_rows(X[7])] * (BLOCK // DRAWS))
    expected = FEATURES.evaluate(rows)[:, :DRAWS].mean(axis=1)
    assert_allclose(FEATURES.evaluate(X)[:, 7], expected, rtol=0, atol=1e-14)


def test_complete_rows_are_as_if_none_had_gaps():
    X = np.random.default_rng(4).uniform(-1, 1, (BLOCK, 3))
    plain = BoxFeatures(UnitInputs(INPUTS.box), ASKED).evaluate(X)
    X[3, 1] = np.nan
    found = np.delete(FEATURES.evaluate(X), 3, axis=1)
    assert_allclose(found, np.delete(plain, 3, axis=1), rtol=0, atol=1e-14)


def test_draws_have_the_conditional_law_of_the_copula():
    """Of a normal law given two of three coordinates, by solving for all of them at once."""
    z = np.array([1.1, -0.4])
    weights = np.linalg.solve(R[:2, :2], R[:2, 2])
    mean, sd = weights @ z, np.sqrt(R[2, 2] - weights @ R[:2, 2])
    drawn = drawn_rows(np.append(2.0 * ndtr(z) - 1.0, np.nan))
    assert_array_equal(drawn[:, :2], np.tile(2.0 * ndtr(z) - 1.0, (DRAWS, 1)))
    normal = ndtri((drawn[:, 2] + 1.0) / 2.0)
    assert normal.mean() == pytest.approx(mean, abs=0.15 * sd)
    assert normal.std() == pytest.approx(sd, rel=0.2)


def test_a_category_that_is_missing_is_one_level_in_every_draw():
    V = np.array([[0.9, np.nan, np.nan, np.nan], [-0.9, np.nan, np.nan, np.nan]])
    drawn = LEVELS.completion.drawn(V)[..., 1:]
    assert_array_equal(np.sort(drawn, axis=-1), np.tile([-1.0, -1.0, 1.0], (DRAWS, 2, 1)))
    first, last = (drawn[:, k].argmax(axis=-1) for k in range(2))
    assert first.mean() > 1.0 + last.mean()  # levels rise with the number here


def test_a_distance_over_a_gap_is_that_of_a_complete_row():
    """The function spreads over the gap, and residuals are made as much smaller."""
    X, draws = np.zeros((BLOCK, 3)), np.random.default_rng(5).integers(0, DRAWS, BLOCK)
    X[:, 2] = np.nan
    f = RESIDUALS.features.sums_at(RESIDUALS.weights, drawn_rows(X[0]))[0]
    targets = (f[draws] + np.random.default_rng(6).normal(0, 0.1, BLOCK))[None]
    sd = np.sqrt(f.var() + 0.1**2)
    q = CutDistances(RESIDUALS, 0.0, np.array([[0.1]]))
    found = (q.beside(FEATURES, X, targets, np.empty((5, BLOCK))) + 1.0) / 2.0 * 2.0
    expected = np.abs(targets - f.mean()) * 0.1 / sd
    assert_allclose(found, np.minimum(expected, 2.0), rtol=1e-9)
