"""Classes of one target: what a row moves, through the wall and in exact integers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpgp.categories import Category
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.outcomes.labels import class_box
from dpgp.privacy.exact_sums import UNIT
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.sensitivity import gram_sensitivity
from dpgp.private.rows import scaled_rows
from dpgp.private.sums import exact_gram
from dpgp.private.wall import Wall
from dpgp.steps.base import GramQuery, noise_of_gram

REPLACE, ADD_REMOVE = Neighbours.REPLACE, Neighbours.ADD_REMOVE
BOUND = {kind: gram_sensitivity(math.sqrt(2.0), kind) * UNIT**2 for kind in (REPLACE, ADD_REMOVE)}


def options(classes, **asked):
    box = Box.from_bounds((-1, 1), 2)
    target_box = class_box(Category(tuple(range(classes))))
    return Options.parse(box=box, target_box=target_box, epsilon=1.0, delta=1e-6, **asked)


def gram(X, y, classes, weights, clip):
    """Return the exact Gram matrix of linear features and residuals of some rows."""
    asked = options(classes)
    line = BoxFeatures(UnitInputs(asked.box), LinearFeatures(2, 0.5))
    residuals = Residuals(line, weights, np.full(classes, clip))
    rows = scaled_rows(np.array(X, dtype=float), np.array([y], dtype=float), asked, None)
    return exact_gram(rows, line, residuals, joint=True)


def moved(before, after):
    return math.sqrt(float(np.sum((before - after).astype(object) ** 2)))


@settings(deadline=None, max_examples=60)
@given(data=st.data(), classes=st.integers(3, 9), clip=st.floats(1e-3, 10.0))
def test_no_row_moves_more_than_one_target_would(data, classes, clip):
    number = st.floats(-3.0, 3.0)
    row = st.tuples(number, number)
    labels = st.integers(0, classes - 1) | st.just(math.nan)
    flat = data.draw(st.lists(st.floats(-5.0, 5.0), min_size=3 * classes, max_size=3 * classes))
    weights = np.array(flat).reshape(classes, 3)
    X, y = data.draw(st.lists(row, min_size=2, max_size=2)), [data.draw(labels), data.draw(labels)]
    other, label = data.draw(row), data.draw(labels)
    before = gram(X, y, classes, weights, clip)
    replaced = gram([X[0], other], [y[0], label], classes, weights, clip)
    added = gram([*X, other], [*y, label], classes, weights, clip)
    assert moved(before, replaced) <= BOUND[REPLACE]
    assert moved(before, added) <= BOUND[ADD_REMOVE]


def test_the_bound_is_attained_but_for_rounding():
    """Opposite corners of the box have orthogonal features, and so have their residuals here."""
    classes, none = 4, np.zeros((4, 3))
    # φ = (√½, ½u): at opposite corners ⟨φ, φ'⟩ = ½ − ½ = 0, and p₀ = 0 leaves e_y
    weights = none.copy()
    weights[:, 0] = -2.0 / classes / math.sqrt(0.5)  # f₀ = −2/K is p₀ = 0
    corners, labels = [[1, 1], [-1, -1]], [0, 1]
    one, other = (
        gram([x], [y], classes, weights, 2.0) for x, y in zip(corners, labels, strict=True)
    )
    assert moved(one, other) == pytest.approx(BOUND[REPLACE], rel=1e-4)
    assert moved(one, 0 * one) == pytest.approx(BOUND[ADD_REMOVE], rel=1e-4)


@pytest.mark.parametrize("classes", [3, 7, 40])
def test_noise_does_not_grow_with_classes(classes):
    one = noise_of_gram(options(2), 0.5)
    assert noise_of_gram(options(classes), 0.5) == one


def test_a_question_that_is_bounded_otherwise_is_refused():
    """The sensitivity counts on it: values that are bounded one by one could be √K of it."""
    asked = options(3)
    line = BoxFeatures(UnitInputs(asked.box), LinearFeatures(2, 0.5))
    query = GramQuery(line, Residuals(line, np.zeros((3, 3)), np.ones(3)), joint=False)

    class Books:
        def share(self, share):
            return share

        def about(self, part):
            return self

    rows = scaled_rows(np.zeros((2, 2)), np.zeros((1, 2)), asked, None)
    wall = Wall(rows, asked, Books(), None)
    with pytest.raises(ValueError, match="bounded together, or one by one"):
        wall.release(query, 0.5, "a stage")


def test_what_adds_up_loses_noise_and_nothing_else():
    from dpgp.privacy.mechanism import GramRelease

    rng = np.random.default_rng(0)
    exact = rng.standard_normal((5, 4))
    exact -= exact.mean(axis=1, keepdims=True)
    noisy = exact + rng.standard_normal((2000, 5, 4))
    found = [GramRelease(np.eye(5), each, np.eye(4), 1.0, 1.0, 1.0).adding_up() for each in noisy]
    errors = np.array([each.cross - exact for each in found])
    assert np.abs(errors.sum(axis=2)).max() < 1e-12
    assert errors.std() == pytest.approx(math.sqrt(3 / 4), rel=0.02)
    assert found[0].cross_std == pytest.approx(math.sqrt(3 / 4))
