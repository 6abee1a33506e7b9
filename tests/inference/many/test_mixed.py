"""Synthetic rows of numbers and categories: valid levels, their shares, and what goes together."""

import numpy as np
import pytest

from dpgp.categories import read_categories
from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.marginals import estimate_marginals
from dpgp.inference.many.mixed import EVEN, level_masses, mixed_pool
from dpgp.inference.many.synthetic import ROWS, InputMoments

SHARES = np.array([0.5, 0.3, 0.15, 0.05])
N = 20_000


def table(seed=0):
    """A number, a category of four levels that goes with it, and one of two that follows."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=N)
    region = np.argmax(
        np.log(SHARES) + rng.gumbel(size=(N, 4)) + np.outer(z, [0.8, 0.0, -0.8, 0.0]), axis=1
    )
    sex = (rng.random(N) < np.where(region == 0, 0.7, 0.4)) * 1.0
    return np.column_stack([np.clip(0.3 * z, -1, 1), region, sex])


BOX = Box.from_bounds(
    [(-1, 1)], 3, categories=read_categories({1: list("abcd"), 2: [0, 1]}, None, 3)
)


def moments_of(U, noise=1e-4):
    return InputMoments(U.mean(axis=0), U.T @ U / len(U), noise, noise)


@pytest.mark.parametrize("is_bought", [True, False])
def test_synthetic_rows_are_like_the_table(is_bought):
    X = table()
    inputs, marginals, levels = UnitInputs(BOX), None, ()
    if is_bought:
        counts = np.histogram(X[:, 0], 32, (-1, 1))[0][None].astype(float)
        marginals = estimate_marginals(counts, 1.0, N, Box(BOX.low[:1], BOX.high[:1]))
        levels = tuple(
            level_masses(np.bincount(X[:, k].astype(int)).astype(float), 1.0, N) for k in (1, 2)
        )
        inputs = UnitInputs(BOX, marginals.warp_among(BOX.is_numeric))
    U = inputs(X)
    pool = mixed_pool(inputs.coordinates, marginals, levels, moments_of(U), N)
    assert pool.shape == (2 * ROWS, 6)
    assert set(np.unique(pool[:, 1:])) == {-1.0, 1.0}
    np.testing.assert_array_equal((pool[:, 1:5] > 0).sum(axis=1), 1)
    np.testing.assert_allclose(pool.mean(axis=0), U.mean(axis=0), atol=0.08)
    ours, theirs = np.corrcoef(pool.T), np.corrcoef(U.T)
    assert abs(theirs[0, 1]) > 0.3
    np.testing.assert_allclose(ours[0, 1:], theirs[0, 1:], atol=0.08)
    np.testing.assert_allclose(ours[5, 1:5], theirs[5, 1:5], atol=0.08)


def test_masses_follow_counts_that_stand_out_of_the_noise():
    counts = N * SHARES
    np.testing.assert_allclose(
        level_masses(counts, 1.0, N), (1 - EVEN) * SHARES + EVEN / 4, atol=1e-4
    )
    np.testing.assert_allclose(level_masses(counts, 1e6, N), 0.25, atol=1e-5)
    np.testing.assert_allclose(level_masses(counts, 1e9, N), 0.25)


@pytest.mark.parametrize("noise", [0.0, 10.0, 1e3])
def test_masses_are_positive_and_add_up(noise):
    counts = np.random.default_rng(0).normal(0.0, 300.0, 64)
    masses = level_masses(counts, noise, 1000.0)
    assert masses.min() > 0.0
    assert masses.sum() == pytest.approx(1.0)


def test_a_table_of_categories_alone_has_synthetic_rows():
    box = Box.from_bounds(None, 2, categories=read_categories({0: list("abc"), 1: [0, 1]}, None, 2))
    inputs = UnitInputs(box)
    rng = np.random.default_rng(1)
    U = inputs(np.column_stack([rng.integers(0, 3, 500), rng.integers(0, 2, 500)]).astype(float))
    none = estimate_marginals(np.empty((0, 16)), 1.0, 500, Box(np.empty(0), np.empty(0)))
    for marginals in (None, none):
        pool = mixed_pool(inputs.coordinates, marginals, (), moments_of(U), 500)
        np.testing.assert_allclose(pool.mean(axis=0), U.mean(axis=0), atol=0.05)
