from functools import cache

import numpy as np
import pytest

from dpgp.inference import clipping
from dpgp.inference.noisy_law import believe
from dpgp.inference.residual_families import GRID, outcome_candidates
from dpgp.inference.residual_law import (
    CLIPS,
    LARGEST_SHARE,
    LAW_EDGES,
    SMALLEST_SHARE,
    _biases,
    gaussian_law,
    law_share,
    measured_law,
)

LAWS = {
    "gaussian": lambda n, rng: rng.normal(size=n),
    "exponential": lambda n, rng: rng.exponential(size=n) - 1,
    "lognormal": lambda n, rng: (np.exp(rng.normal(size=n)) - 1.6487) / 2.1612,
    "5 % ones": lambda n, rng: np.where(rng.random(n) < 0.05, 0.95, -0.05) / np.sqrt(0.0475),
    "20 % ones": lambda n, rng: np.where(rng.random(n) < 0.2, 2.0, -0.5),
    "many zeros": lambda n, rng: (
        rng.exponential(size=n) * (rng.random(n) < 0.3) - 0.3
    ) / np.sqrt(0.51),
}  # fmt: skip


@cache
def found(name, n, noise_std, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    rows = scale * LAWS[name](n, rng)
    counts = np.histogram(rows, LAW_EDGES)[0] + noise_std * rng.normal(size=len(LAW_EDGES) - 1)
    return measured_law(believe(counts, noise_std, n, outcome_candidates(tuple(LAW_EDGES))), 12.0)


@cache
def truth(name, a, n=400_000):
    """Slope, clipped second moment, bias and uneven bias of the law clipped at a sds."""
    rows = LAWS[name](n, np.random.default_rng(1))
    g = np.mean(np.abs(rows) < a)
    above, below = (np.mean(np.maximum(side * rows - a, 0)) for side in (1, -1))
    return g, np.mean(np.minimum(rows**2, a * a)), (above - below) / g, (above + below) / g


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("a", [1.0, 1.5, 3.0])
def test_with_little_noise_the_tables_are_those_of_the_law(name, a):
    law = found(name, 100_000, 50.0)
    g, m2, b, u = truth(name, a)
    mean, sd, uneven = law.bias_at(a)
    assert law.slope(a, 1.0) == pytest.approx(g, abs=0.06)
    assert law.second_moment(a, 1.0) == pytest.approx(m2, abs=0.1)
    assert mean == pytest.approx(b, abs=4 * sd + 0.02)
    assert uneven <= u + 4 * sd + 0.02
    if name != "gaussian":
        assert uneven >= u - 4 * sd - 0.02


def test_both_sides_of_a_clip_are_believed_together():
    """(gb)² and (gu)² are of above − below and above + below, whose masses are correlated."""
    rng = np.random.default_rng(2)
    counts = np.histogram(rng.normal(size=400), LAW_EDGES)[0] + 20 * rng.normal(size=22)
    belief = believe(counts, 20.0, 400, outcome_candidates(tuple(LAW_EDGES))).only(
        slice(0, None, 50)
    )
    z, suspect = (GRID[1:] + GRID[:-1]) / 2, np.arange(len(belief.weights)) % 3 > 0
    below, above = (np.maximum(side * z[:, None] - CLIPS, 0.0) for side in (-1.0, 1.0))
    sides = [belief.functionals(x) for x in (above - below, above + below, below, above)]
    squares = [belief.mean(x) ** 2 + belief.covariance(x, x) for x in sides]
    expected = [belief.mean(sides[0]), *squares]
    weights = [belief.weights * (suspect if k == 2 else 1.0) for k in range(5)]
    for row, w, values in zip(_biases(belief, z, suspect), weights, expected, strict=True):
        np.testing.assert_allclose(row, w @ values, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("n", "noise_std"), [(2000, 90.0), (5000, 90.0)])
def test_noisy_counts_know_how_little_they_say_of_the_bias(name, n, noise_std):
    surprises = []
    for seed in range(6):
        mean, sd, uneven = found(name, n, noise_std, seed).bias_at(1.5)
        surprises.append((truth(name, 1.5, 50_000)[2] - mean) / np.hypot(sd, uneven))
    assert np.sqrt(np.mean(np.square(surprises))) < 1.5


def test_a_bell_is_not_suspected_of_uneven_skewness_and_others_are():
    bell, other = found("gaussian", 50_000, 50.0), found("20 % ones", 50_000, 50.0)
    assert bell.bias_at(1.0)[2] < 0.02
    assert other.bias_at(1.0)[2] > 0.2


def test_residuals_end_where_the_bounds_do():
    rng = np.random.default_rng(0)
    counts = np.histogram(LAWS["lognormal"](50_000, rng), LAW_EDGES)[0].astype(float)
    law = measured_law(believe(counts, 30.0, 50_000, outcome_candidates(tuple(LAW_EDGES))), 3.0)
    assert law.bias_at(3.01 / np.exp(law.log_sd)) == pytest.approx((0.0, 0.0, 0.0), abs=1e-3)


@pytest.mark.parametrize("scale", [0.6, 1.0, 1.8])
def test_the_sd_is_found_in_units_of_the_histogram(scale):
    law = found("gaussian", 20_000, 50.0, scale=scale)
    assert np.exp(law.log_sd) == pytest.approx(scale, rel=0.05)
    assert law.log_sd_error < 0.05


def test_shapes_of_unit_sd_keep_the_whole_second_moment():
    for name in LAWS:
        assert found(name, 5000, 90.0).second_moment(1e9, 1.0) == pytest.approx(1.0, abs=0.01)


def test_before_a_histogram_residuals_are_gaussian():
    law = gaussian_law()
    for a in (0.7, 1.3, 4.0):
        assert law.slope(a, 1.0) == clipping.slope(a, 1.0)
        assert law.second_moment(a, 1.0) == clipping.second_moment(a, 1.0)
        g, m2, m4, inside = (np.interp(a, CLIPS, row) for row in law.moments)
        assert g == pytest.approx(clipping.slope(a, 1.0), abs=0.02)
        assert m2 == pytest.approx(clipping.second_moment(a, 1.0), abs=2e-3)
        assert m4 == pytest.approx(clipping.fourth_moment(a, 1.0), rel=0.01)
        assert inside == pytest.approx(clipping.second_moment_slope(a, 1.0), abs=0.02)


def test_the_share_makes_a_bin_noisy_by_three_in_two_hundred_within_limits():
    signal = 600.0
    share = law_share(signal)
    assert np.sqrt(2) / (signal * np.sqrt(share)) == pytest.approx(0.015)
    assert law_share(10.0) == LARGEST_SHARE
    assert law_share(1e6) == SMALLEST_SHARE
