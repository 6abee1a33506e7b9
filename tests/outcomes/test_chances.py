import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm, truncnorm

from dpgp.outcomes.chances import chance, chance_interval, chance_std, interval_std
from dpgp.outcomes.labels import named_classes
from dpgp.outcomes.log_odds import LogOdds
from dpgp.outcomes.yes_no import ChanceLaw, YesNo

CASES = [(0.3, 0.1), (0.02, 0.05), (-0.1, 0.02), (0.97, 0.2), (1.3, 0.1), (0.5, 3.0), (0.5, 0.01)]


@pytest.mark.parametrize(("mean", "std"), CASES)
def test_the_chance_is_the_mean_of_the_truncated_law(mean, std):
    p = np.linspace(0.0, 1.0, 2_000_001)
    weights = np.exp(-0.5 * ((p - mean) / std) ** 2 + 0.5 * (min(0.0, mean) / std) ** 2)
    expected = trapezoid(p * weights, p) / trapezoid(weights, p)
    found = chance(np.array([mean]), np.array([std]))[0]
    assert found == pytest.approx(expected, rel=1e-6)


def test_no_outcome_is_ever_impossible():
    means = np.linspace(-50, 51, 2021)
    for std in (1e-4, 1e-2, 1.0, 1e3):
        p = chance(means, np.full_like(means, std))
        assert np.all((p > 0.0) & (p < 1.0))
        assert np.allclose(p, 1.0 - p[::-1], atol=1e-9)
        assert np.all(np.diff(p) >= -1e-12)


def test_intervals_are_those_of_the_truncated_law():
    mean, std = np.array([0.3, -0.1, 0.99]), np.array([0.02, 0.05, 0.1])
    lower, upper = chance_interval(mean, std, 0.9)
    law = truncnorm(-mean / std, (1 - mean) / std, mean, std)
    assert np.allclose(law.cdf(lower), 0.05)
    assert np.allclose(law.cdf(upper), 0.95)
    assert np.all((lower >= 0) & (upper <= 1) & (lower < upper))


def test_far_from_the_bounds_nothing_is_cut():
    mean, std = np.array([0.4]), np.array([0.03])
    lower, upper = chance_interval(mean, std, 0.95)
    assert chance(mean, std) == pytest.approx(0.4)
    assert chance_std(mean, std) == pytest.approx(0.03)
    assert (upper - lower) / 2 == pytest.approx(norm.ppf(0.975) * 0.03)
    assert interval_std((upper - lower) / 2, 0.95) == pytest.approx(0.03)


def test_an_interval_of_outcomes_leaves_out_what_is_too_rare():
    lower, upper = ChanceLaw(np.array([0.01, 0.5, 0.99])).ends(0.95)
    assert lower.tolist() == [0.0, 0.0, 1.0]
    assert upper.tolist() == [0.0, 1.0, 1.0]


def test_the_log_probability_of_a_label():
    p = np.array([0.2, 0.2, 0.2])
    outcome = YesNo(named_classes(("no", "yes")))
    found = outcome.log_density(["no", "yes", "perhaps"], p, p)
    assert found == pytest.approx([np.log(0.8), np.log(0.2), -np.inf])


@pytest.mark.parametrize("coverage", [0.5, 0.95, 0.999])
def test_intervals_are_those_of_a_truncated_normal_law(coverage):
    mean, std = (
        grid.ravel() for grid in np.meshgrid([-0.5, 0.0, 0.02, 0.5, 1.3], [0.01, 0.1, 2.0])
    )
    ends = np.array([(1.0 - coverage) / 2, (1.0 + coverage) / 2])[:, None]
    expected = truncnorm.ppf(ends, -mean / std, (1.0 - mean) / std, loc=mean, scale=std)
    found = chance_interval(mean, std, coverage)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_shift_that_makes_averages_right_draws_no_end_of_an_interval_in():
    """What is believed of f holds it as often as it says, wherever within [0, 1] that is."""
    rng = np.random.default_rng(0)
    f = np.exp(rng.normal(-3.5, 0.7, 20_000)).clip(0, 1)  # rare, and less so for some
    std = np.full_like(f, 0.03)
    mean = f + std * rng.standard_normal(len(f))
    rare = LogOdds(shift=-0.5, level=-0.5, slope=1.0, spread=0.03)
    for coverage in (0.5, 0.95):
        low, high = rare.interval(mean, std, coverage)
        inside = np.mean((low <= f) & (f <= high))
        assert inside > coverage  # 20,000 rows; without what is believed 0.91 of 0.95
        assert np.mean(f > high) < (1 - coverage) / 2 + 0.01
