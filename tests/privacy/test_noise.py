import inspect

import numpy as np
import pytest
from scipy.stats import kstest

from dpgp.privacy import noise
from dpgp.privacy.noise import (
    SecureNoise,
    SeededNoiseWarning,
    SimulatedNoise,
    noise_source,
)

SCALE = 2.0**41


@pytest.mark.parametrize("source", [SecureNoise(), SimulatedNoise(1)])
def test_draws_follow_the_gaussian_of_the_given_scale(source):
    draws = np.array(source.draw(SCALE, 4000), dtype=float) / SCALE
    assert kstest(draws, "norm").pvalue > 1e-7


@pytest.mark.parametrize("source", [SecureNoise(), SimulatedNoise(1)])
def test_draws_are_python_integers(source):
    assert all(type(draw) is int for draw in source.draw(SCALE, 3))


@pytest.mark.parametrize("scale", [2.0**30 - 1, 1.0, 0.0, 2.0**57 + 32, float("nan")])
@pytest.mark.parametrize("source", [SecureNoise(), SimulatedNoise(1)])
def test_scales_outside_the_analysis_are_refused(source, scale):
    with pytest.raises(ValueError, match=r"between 2\^30 and 2\^57"):
        source.draw(scale, 1)


@pytest.mark.parametrize("source", [SecureNoise(), SimulatedNoise(1)])
def test_scales_up_to_the_ends_of_the_analysis_are_drawn(source):
    assert len(source.draw(2.0**30, 2)) == len(source.draw(2.0**57, 2)) == 2


@pytest.mark.parametrize("source", [SecureNoise(), SimulatedNoise(1)])
def test_noise_is_centred_on_zero_and_rounded_to_the_nearest_integer(source, monkeypatch):
    monkeypatch.setattr(noise, "MIN_SCALE", 0.0)  # to see single integers
    assert source.draw(0.01, 50) == [0] * 50
    # P(0) is 0.383 for the rounded Gaussian, 0.399 for the discrete one, 0.683 where cut towards 0
    assert 0.33 < np.mean(np.equal(source.draw(1.0, 4000), 0)) < 0.45


def test_uniform_numbers_fill_the_unit_interval():
    for source in (SecureNoise(), SimulatedNoise(1)):
        draws = [source.uniform() for _ in range(2000)]
        assert kstest(draws, "uniform").pvalue > 1e-7


def test_secure_noise_never_repeats():
    assert SecureNoise().draw(SCALE, 5) != SecureNoise().draw(SCALE, 5)


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 2000])
def test_threads_draw_as_many_as_asked_and_never_the_same(count, monkeypatch):
    monkeypatch.setattr(noise, "PORTION", 50)
    draws = SecureNoise().draw(2.0**40, count)
    assert len(draws) == count
    assert len(set(draws)) == count  # of 2^41 likely values, two agree once in a million runs
    if count > 1000:
        assert kstest(np.array(draws) / 2.0**40, "norm").pvalue > 1e-6


def test_a_seed_warns_repeats_and_is_not_private():
    with pytest.warns(SeededNoiseWarning, match="not private"):
        source = noise_source(3)
    assert not source.is_private
    assert source.draw(SCALE, 5) == SimulatedNoise(3).draw(SCALE, 5)


def test_the_warning_points_at_who_gave_the_seed():
    def fit(random_state):
        return noise_source(random_state)

    with pytest.warns(SeededNoiseWarning) as caught:
        fit(random_state=3)
    place = inspect.currentframe().f_lineno - 1
    assert (caught[0].filename, caught[0].lineno) == (__file__, place)


def test_without_a_seed_the_noise_is_secure():
    assert noise_source(None).is_private
