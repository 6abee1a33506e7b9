import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpgp.inference.warp import (
    MIX,
    STEEPEST,
    Warp,
    estimate_density,
    fit_warp,
    warp_bins,
    warp_share,
)

noisy_counts = arrays(np.float64, (2, 16), elements=st.floats(-500, 3000))


@settings(deadline=None, max_examples=50)
@given(noisy_counts, st.floats(0, 300))
def test_map_is_increasing_bounded_and_fixes_the_ends(counts, noise_std):
    warp = fit_warp(counts, noise_std, 2600.0)
    slopes = warp.slopes()
    assert slopes.min() >= (1 - MIX) * (1 - 1e-9)
    assert slopes.max() <= (1 - MIX + MIX * STEEPEST) * (1 + 1e-9)
    np.testing.assert_array_equal(warp.values[:, [0, -1]], [[-1, 1], [-1, 1]])


@settings(deadline=None, max_examples=50)
@given(noisy_counts, arrays(np.float64, (9, 2), elements=st.floats(-1, 1)))
def test_inverse(counts, U):
    warp = fit_warp(counts, 50.0, 2600.0)
    np.testing.assert_allclose(warp.invert(warp.apply(U)), U, atol=1e-14)
    knots = np.column_stack([warp.edges, warp.edges])
    np.testing.assert_array_equal(warp.invert(warp.apply(knots)), knots)


def test_is_deterministic_and_a_pure_function_of_each_row():
    rng = np.random.default_rng(0)
    counts, U = rng.normal(160, 60, (2, 16)), rng.uniform(-1, 1, (50, 2))
    warp = fit_warp(counts, 60.0, 2600.0)
    np.testing.assert_array_equal(warp.values, fit_warp(counts, 60.0, 2600.0).values)
    one_by_one = np.vstack([warp.apply(row[None]) for row in U])
    np.testing.assert_array_equal(warp.apply(U), one_by_one)


def test_without_noise_it_is_the_half_way_mix():
    counts = np.array([[600.0, 200.0, 100.0, 100.0]])
    warp = fit_warp(counts, 0.0, 1000.0)
    expected = 0.5 * np.linspace(-1, 1, 5) + 0.5 * (2 * np.array([0, 0.6, 0.8, 0.9, 1.0]) - 1)
    np.testing.assert_allclose(warp.values[0], expected, atol=1e-5)


def test_much_noise_gives_nearly_the_identity():
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(50):
        warp = fit_warp(17.0 + 80.0 * rng.normal(size=(1, 16)), 80.0, 272.0)
        errors.append(np.abs(warp.values[0] - warp.edges).max())
    assert np.mean(errors) < 0.15


def test_better_than_the_identity_on_a_corner():
    rng, edges = np.random.default_rng(2), np.linspace(-1, 1, 9)
    rows = np.clip(rng.normal(-0.7, 0.15, 2600), -1, 1)
    counts = np.histogram(rows, edges)[0]
    truth = counts * 8 / 2600
    noisy = counts + 80.0 * rng.normal(size=8)
    ours = estimate_density(noisy, 80.0, 2600.0)
    assert np.linalg.norm(ours - truth) < 0.2 * np.linalg.norm(1 - truth)
    assert ours.mean() == pytest.approx(1.0)


def test_identity():
    U = np.random.default_rng(3).uniform(-1, 1, (20, 3))
    np.testing.assert_allclose(Warp.identity(3).apply(U), U, atol=1e-15)


def test_share_says_no_with_few_rows_and_falls_with_many():
    assert warp_share(272, 2, 0.09) == 0.0
    shares = [warp_share(n, 2, 0.27) for n in (1000, 2600, 20_000, 10**6)]
    assert shares == sorted(shares, reverse=True)
    assert 0 < shares[-1] <= shares[0] <= 0.1


def test_more_signal_means_more_bins():
    assert [warp_bins(n, 2, 0.1) for n in (1000, 10_000, 100_000)] == [8, 16, 32]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"counts": np.ones(4)}, "counts"),
        ({"n": 0.0}, "n"),
        ({"noise_std": -1.0}, "noise_std"),
    ],
)
def test_bad_input(change, word):
    with pytest.raises(ValueError, match=word):
        fit_warp(**({"counts": np.ones((1, 4)), "noise_std": 1.0, "n": 4.0} | change))


def test_wrong_number_of_inputs():
    with pytest.raises(ValueError, match="shape"):
        Warp.identity(2).apply(np.zeros((3, 1)))


@pytest.mark.parametrize("edges", [np.linspace(-1, 1, 33), np.array([-1.0, -0.9, 0.4, 1.0])])
def test_bins_that_are_computed_are_those_that_are_looked_for(edges):
    rng = np.random.default_rng(0)
    values = np.sort(rng.uniform(-1, 1, (2, len(edges))), axis=1)
    U = np.column_stack([np.append(edges, rng.uniform(-1, 1, 4000))] * 2)
    expected = [np.interp(u, edges, row) for u, row in zip(U.T, values, strict=True)]
    np.testing.assert_allclose(Warp(edges, values).apply(U).T, expected, rtol=0, atol=4e-16)


def test_what_is_no_number_stays_none():
    warp = fit_warp(np.array([[9.0, 3.0, 1.0, 1.0]]), 0.0, 14.0)
    found = warp.apply(np.array([[0.5], [np.nan]]))
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()
