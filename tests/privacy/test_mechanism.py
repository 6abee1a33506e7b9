import math

import numpy as np
import pytest

from dpgp.privacy.fixed_point import UNIT
from dpgp.privacy.ledger import BudgetExceededError, Ledger
from dpgp.privacy.mechanism import gram_noise, moments_noise, publish_gram
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SimulatedNoise
from dpgp.privacy.sensitivity import gram_sensitivity, moments_sensitivity

NEIGHBOURS = list(Neighbours)


def books(epsilon=10.0):
    return Ledger(epsilon, 1e-5, Neighbours.REPLACE)


def release_zeros(noise, d, n_targets, ledger, source):
    totals = np.zeros((d + n_targets, d + n_targets), dtype=object)
    stds = noise.matrix(d, n_targets)
    return publish_gram(totals, stds, noise, "zeros", ledger, source)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("weight", [0.3, 1.0, 2.0])
def test_gram_noise_is_isotropic_in_weighted_coordinates(neighbours, weight):
    noise = gram_noise(0.7, weight, 2, neighbours)
    bound = gram_sensitivity(math.sqrt(1 + 2 * weight**2), neighbours)
    assert bound <= noise.sensitivity <= bound * (1 + 1e-14)
    # an entry off the diagonal stands twice in the Frobenius norm: √2 times its std is σ
    weighted = noise.matrix(3, 2) * np.outer(*[[1, 1, 1, weight, weight]] * 2)
    assert np.allclose(np.diag(weighted), noise.sigma)
    assert np.allclose(weighted[np.triu_indices(5, 1)] * math.sqrt(2), noise.sigma)
    assert noise.sensitivity / noise.sigma == pytest.approx(0.7, rel=1e-12)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_moments_noise_keeps_the_ratio_and_withholds_the_targets(neighbours):
    noise = moments_noise(0.7, 0.5, neighbours)
    stds = noise.matrix(3, 1)
    assert noise.sensitivity == moments_sensitivity(1.0, 1.0, 0.5, neighbours)
    assert stds[0, 3] / stds[0, 0] == pytest.approx(0.5)
    assert stds[0, 0] / stds[0, 1] == pytest.approx(math.sqrt(2))
    assert math.isnan(stds[3, 3])


def test_at_weight_one_the_noise_on_A_is_that_of_releasing_A_alone():
    # B and the second moment of y come for free
    mu, alone = 0.7, 2.0 / 0.7
    assert gram_noise(mu, 1.0, 1, Neighbours.REPLACE).cross_std == pytest.approx(alone)


def test_the_drawn_noise_has_the_stated_standard_deviations():
    noise, source = gram_noise(0.5, 0.7, 1, Neighbours.REPLACE), SimulatedNoise(0)
    draws = np.array([release_zeros(noise, 2, 1, books(), source) for _ in range(4000)])
    assert np.allclose(draws.std(axis=0) / noise.matrix(2, 1), 1.0, atol=0.06)
    assert np.array_equal(draws, np.swapaxes(draws, 1, 2))


def test_withheld_entries_are_not_returned():
    noise = moments_noise(0.5, 1.0, Neighbours.REPLACE)
    released = release_zeros(noise, 2, 1, books(), SimulatedNoise(0))
    assert np.isnan(released[2, 2])
    assert np.isfinite(released[:2]).all()


def test_totals_beyond_64_bits_survive_the_noise():
    noise, big = moments_noise(0.5, 1.0, Neighbours.REPLACE), 10**9 * int(UNIT) ** 2
    totals = np.array([[big, 0], [0, 0]], dtype=object)
    released = publish_gram(totals, noise.matrix(1, 1), noise, "", books(), SimulatedNoise(0))
    assert released[0, 0] == pytest.approx(1e9, abs=100)


def test_nothing_is_drawn_when_the_budget_does_not_allow_it():
    class NeverDrawn:
        is_private = True

        def draw(self, scale, count):
            raise AssertionError("drawn")

    noise = moments_noise(9.0, 1.0, Neighbours.REPLACE)
    with pytest.raises(BudgetExceededError):
        release_zeros(noise, 2, 1, books(), NeverDrawn())


def test_a_crash_while_drawing_leaves_the_release_on_the_books():
    class Crash:
        is_private = True

        def draw(self, scale, count):
            raise KeyboardInterrupt

    ledger, noise = books(), moments_noise(0.1, 1.0, Neighbours.REPLACE)
    with pytest.raises(KeyboardInterrupt):
        release_zeros(noise, 2, 1, ledger, Crash())
    assert ledger.spent_mu == pytest.approx(0.1)


def test_without_noise_the_sums_come_back_exactly():
    noise = gram_noise(math.inf, 1.0, 1, Neighbours.REPLACE)
    ledger = Ledger(math.inf, 1e-5, Neighbours.REPLACE)
    totals = np.array([[int(UNIT) ** 2 * 3, 1], [1, 0]], dtype=object)
    released = publish_gram(totals, noise.matrix(1, 1), noise, "", ledger, SimulatedNoise(0))
    assert released[0, 0] == 3.0
    assert released[0, 1] == UNIT**-2
