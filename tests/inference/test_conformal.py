import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from dpgp.inference.conformal import (
    EDGES,
    FINE_EDGES,
    Calibration,
    calibrate,
    calibration_edges,
    calibration_share,
)
from dpgp.inference.residual_families import both_sides

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
LAWS = {
    "gaussian": lambda n, rng: rng.normal(size=n),
    "overconfident": lambda n, rng: 1.7 * rng.normal(size=n),
    "cautious": lambda n, rng: 0.6 * rng.normal(size=n),
    "t3": lambda n, rng: rng.standard_t(3, n),
    "exponential": lambda n, rng: rng.exponential(size=n) - 1,
    "heteroscedastic": lambda n, rng: rng.normal(size=n) * np.exp(0.5 * rng.normal(size=n)),
}


def histogram(rows, edges, noise_std, rng):
    return np.histogram(rows, edges)[0] + noise_std * rng.normal(size=len(edges) - 1)


def coverage_error(law, n, noise_std, repeats, seed=0):
    """How often central intervals cover, beyond what they promise; law is of any skewness."""
    rng = np.random.default_rng(seed)
    test = np.sort(law(100_000, rng))
    edges, covered = calibration_edges(noise_std, n), []
    for _ in range(repeats):
        fitted = calibrate(histogram(law(n, rng), edges, noise_std, rng), noise_std, n, edges)
        ends = np.searchsorted(test, [fitted.ends(c) for c in LEVELS]) / len(test)
        covered.append(ends[:, 1] - ends[:, 0])
    return np.array(covered) - LEVELS


@pytest.mark.parametrize("law", LAWS)
def test_many_rows_and_little_noise_give_the_right_coverage(law):
    errors = coverage_error(LAWS[law], 20_000, 20.0, repeats=3)
    assert np.abs(errors).max() < 0.03
    assert np.abs(errors[:, 2:]).max() < 0.015


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_two_per_cent_noise(law):
    # ε = 0.3, n = 2600
    errors = coverage_error(LAWS[law], 2600, 50.0, repeats=40)
    assert np.abs(errors[:, 2:]).mean() < 0.02
    assert errors[:, 3].mean() > -0.025


def test_hopeless_noise_falls_back_to_a_cautious_prior():
    flat = calibrate(np.zeros(2 * len(EDGES) - 2), 1e9, 300)
    assert 0.5 < flat.factor(0.5) < 0.9
    assert norm.ppf(0.975) < flat.factor(0.95) < 4.0


@settings(deadline=None, max_examples=50)
@given(arrays(np.float64, 2 * len(EDGES) - 2, elements=st.floats(-300, 3000)), st.floats(0, 300))
def test_quantiles_never_cross_whatever_the_counts(counts, noise_std):
    fitted = calibrate(counts, noise_std, 2600)
    assert (np.diff(fitted.cdf) > 0).all()
    assert fitted.cdf[0] >= 0
    assert fitted.cdf[-1] <= 1
    levels = np.linspace(0.01, 0.99, 50)
    quantiles = fitted.quantiles(levels)
    assert (np.diff(quantiles) >= 0).all()
    within = np.abs(quantiles) < 60
    np.testing.assert_allclose(fitted.level(quantiles[within]), levels[within], atol=1e-6)
    lower, upper = np.transpose([fitted.ends(c) for c in LEVELS])
    assert (lower <= upper).all()
    assert [fitted.factor(c) for c in LEVELS] == pytest.approx((upper - lower) / 2)


def test_scale_equivariance():
    # a model standard deviation that is too small by a half asks for factors twice as large
    rng = np.random.default_rng(1)
    rows = rng.normal(size=20_000)
    one, two = (
        calibrate(
            histogram(k * rows, both_sides(FINE_EDGES), 0.0, rng),
            0.0,
            20_000,
            both_sides(FINE_EDGES),
        )
        for k in (1, 2)
    )
    for c in LEVELS[:4]:
        assert two.factor(c) == pytest.approx(2 * one.factor(c), rel=0.03)


def test_noisy_number_of_rows():
    # counts of 2600 rows, of which a tenth could not be used
    rng = np.random.default_rng(2)
    counts = histogram(rng.normal(size=2340), both_sides(EDGES), 30.0, rng)
    fitted = calibrate(counts, 30.0, max(counts.sum(), 1.0), n_std=30.0 * np.sqrt(len(counts)))
    assert fitted.factor(0.9) == pytest.approx(norm.ppf(0.95), rel=0.12)


def test_gaussian():
    assert Calibration.gaussian().factor(0.95) == pytest.approx(norm.ppf(0.975), abs=1e-3)


def test_share_makes_a_bin_noisy_by_one_in_a_hundred_within_limits():
    n, mu = 2600, 0.27
    share = calibration_share(n, mu)
    assert np.sqrt(2) / (mu * np.sqrt(share)) == pytest.approx(0.01 * n)
    assert calibration_share(100, 0.01) == 0.10
    assert calibration_share(10**6, 1.0) == 0.01


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.1, np.nan])
def test_impossible_coverage(coverage):
    with pytest.raises(ValueError, match="coverage"):
        Calibration.gaussian().factor(coverage)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"counts": np.ones(3)}, "counts"),
        ({"edges": np.linspace(-1, 1, 15)}, "edges"),
        ({"n": 0.0}, "n"),
        ({"noise_std": -1.0}, "noise_std"),
    ],
)
def test_bad_input(change, word):
    good = {"counts": np.ones(14), "noise_std": 1.0, "n": 7.0, "edges": both_sides(EDGES)}
    with pytest.raises(ValueError, match=word):
        calibrate(**(good | change))


def test_the_scale_is_the_root_mean_square_of_the_law():
    gaussian = Calibration.gaussian()
    assert gaussian.scale == pytest.approx(1.0, rel=1e-3)
    wider = gaussian.widened(2.0)
    assert wider.scale == pytest.approx(2.0 * gaussian.scale)
    assert wider.factor(0.9) == pytest.approx(2.0 * gaussian.factor(0.9))


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_both_tails_of_skewed_residuals_are_right(mirror):
    rng, edges = np.random.default_rng(3), both_sides(FINE_EDGES)
    rows = mirror * (rng.exponential(size=20_000) - 1)
    fitted = calibrate(histogram(rows, edges, 100.0, rng), 100.0, 20_000, edges)
    test = np.sort(mirror * (rng.exponential(size=100_000) - 1))
    below = np.searchsorted(test, fitted.quantiles(np.array([0.05, 0.5, 0.95]))) / len(test)
    # three sds of 100 rows in a bin are 0.015 of all; a symmetric law misses by 0.05
    np.testing.assert_allclose(below, [0.05, 0.5, 0.95], atol=0.015)


def test_a_law_of_absolute_values_becomes_a_symmetric_one():
    factors = np.linspace(0, 6, 61)
    law = Calibration.of_absolute(factors, 2 * norm.cdf(factors) - 1)
    assert law.ends(0.95) == pytest.approx((-norm.ppf(0.975), norm.ppf(0.975)), abs=5e-3)
    assert law.quantile(0.5) == pytest.approx(0.0, abs=1e-9)
    assert (np.diff(law.factors) > 0).all()
