"""Shares of noise: what honest sites add is never less than what one table would get."""

import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.privacy.noise import SecureNoise, SimulatedNoise
from dpgp.sites.masks import JointNoise


class Recorder(SimulatedNoise):
    """Noise that remembers its scales."""

    def __init__(self):
        super().__init__(0)
        self.scales = []

    def draw(self, scale, count):
        self.scales.append(scale)
        return super().draw(scale, count)


@given(st.floats(2.0**34, 2.0**57), st.integers(1, 100))
def test_honest_shares_add_up_to_the_noise_and_hardly_more(scale, honest):
    own = Recorder()
    noise = JointNoise(own, honest, 100, lambda numbers, scales: numbers)
    noise.add_to(np.array([0], dtype=object), np.array([scale]))
    variance = honest * Fraction(own.scales[0]) ** 2
    assert Fraction(scale) ** 2 <= variance <= Fraction(scale) ** 2 * (1 + Fraction(1, 10**15))


def test_a_share_that_is_too_small_is_refused_before_anything_is_booked():
    noise = JointNoise(SecureNoise(), 4, 4, lambda numbers, scales: numbers)
    noise.check(2.0**31)
    with pytest.raises(ValueError, match="noise scale"):
        noise.check(2.0**30)


@pytest.mark.parametrize("honest", [1, 3])
def test_the_noise_of_three_sites_has_the_variance_that_was_promised(honest):
    sites, size = 3, 4000
    barrier, sent = threading.Barrier(sites), []

    def total(numbers, scales):
        sent.append(numbers)
        barrier.wait()
        return sum(sent)

    def work(seed):
        noise = JointNoise(SimulatedNoise(seed), honest, sites, total)
        results.append(noise.add_to(np.zeros(size, dtype=object), np.full(size, 2.0**40)))

    results = []
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(sites)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ratio = np.mean((results[0].astype(float) / 2.0**40) ** 2) / (sites / honest)
    assert abs(ratio - 1) < 6 * np.sqrt(2 / size)
