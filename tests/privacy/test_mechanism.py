import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.privacy.books import Books, BudgetError
from dpgp.privacy.exact_sums import UNIT
from dpgp.privacy.mechanism import GramRelease, gram_noise, moments_noise, publish_gram
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import DrawnNoise, SimulatedNoise
from dpgp.privacy.parts import RowPart
from dpgp.privacy.sensitivity import gram_sensitivity, moments_sensitivity

NEIGHBOURS = list(Neighbours)


def books(epsilon=10.0):
    return Books(epsilon, 1e-5, Neighbours.REPLACE)


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


@given(st.floats(0.01, 10), st.floats(0.01, 100), st.integers(1, 5), st.sampled_from(NEIGHBOURS))
def test_no_block_carries_less_than_sigma_not_even_by_a_rounding(mu, weight, K, neighbours):
    s, noise = Fraction(weight), gram_noise(mu, weight, K, neighbours)
    units = 2 if neighbours is Neighbours.REPLACE else 1
    assert Fraction(noise.sensitivity) ** 2 >= units * (1 + K * s**2) ** 2
    sigma, stds = Fraction(noise.sigma), noise.matrix(2, 2)
    assert Fraction(stds[0, 0]) >= sigma
    assert 2 * Fraction(stds[0, 1]) ** 2 >= sigma**2
    assert 2 * (Fraction(stds[0, 2]) * s) ** 2 >= sigma**2
    assert Fraction(stds[2, 2]) * s**2 >= sigma
    assert 2 * (Fraction(stds[2, 3]) * s**2) ** 2 >= sigma**2
    moments = moments_noise(mu, weight, neighbours)
    assert Fraction(moments.feature_std) * s >= Fraction(moments.sigma)


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


def test_noise_is_added_from_the_smallest_scale_up_and_the_smallest_is_booked():
    class Recorded(DrawnNoise):
        is_private = True

        def __init__(self):
            self.drawn = []

        def draw(self, scale, count):
            self.drawn.append((scale, count))
            return [7] * count

    noise, ledger, source = gram_noise(0.5, 0.3, 1, Neighbours.REPLACE), books(), Recorded()
    released = release_zeros(noise, 3, 1, ledger, source)
    assert np.all(released == 7 / UNIT**2)
    # 3 + 3 entries of the features, 3 beside the target, 1 of the target alone
    stds = noise.matrix(3, 1)
    expected = {stds[0, 1]: 3, stds[0, 0]: 3, stds[0, 3]: 3, stds[3, 3]: 1}
    assert source.drawn == [(std * UNIT**2, expected[std]) for std in sorted(expected)]
    (release,) = ledger.releases
    assert (release.coordinates, release.smallest_scale) == (10, source.drawn[0][0])


def test_totals_beyond_64_bits_survive_the_noise():
    noise, big = moments_noise(0.5, 1.0, Neighbours.REPLACE), 10**9 * int(UNIT) ** 2
    totals = np.array([[big, 0], [0, 0]], dtype=object)
    released = publish_gram(totals, noise.matrix(1, 1), noise, "", books(), SimulatedNoise(0))
    assert released[0, 0] == pytest.approx(1e9, abs=100)


def test_nothing_is_drawn_when_the_budget_does_not_allow_it():
    class NeverDrawn(DrawnNoise):
        is_private = True

        def draw(self, scale, count):
            raise AssertionError("drawn")

    noise = moments_noise(9.0, 1.0, Neighbours.REPLACE)
    with pytest.raises(BudgetError):
        release_zeros(noise, 2, 1, books(), NeverDrawn())


def test_a_crash_while_drawing_leaves_the_release_on_the_books():
    class Crash(DrawnNoise):
        is_private = True

        def draw(self, scale, count):
            raise KeyboardInterrupt

    ledger, noise = books(), moments_noise(0.1, 1.0, Neighbours.REPLACE)
    with pytest.raises(KeyboardInterrupt):
        release_zeros(noise, 2, 1, ledger, Crash())
    assert ledger.spent_mu == pytest.approx(0.1)


def test_without_noise_the_sums_come_back_exactly():
    noise = gram_noise(math.inf, 1.0, 1, Neighbours.REPLACE)
    ledger = Books(math.inf, 1e-5, Neighbours.REPLACE)
    totals = np.array([[int(UNIT) ** 2 * 3, 1], [1, 0]], dtype=object)
    released = publish_gram(totals, noise.matrix(1, 1), noise, "", ledger, SimulatedNoise(0))
    assert released[0, 0] == 3.0
    assert released[0, 1] == UNIT**-2


@pytest.mark.parametrize("ratio", [0.5, 1.0, 3.0])
def test_the_printed_noise_is_that_of_equation_6(ratio):
    noise = moments_noise(0.7, ratio, Neighbours.REPLACE, as_printed=True)
    # √2·c + 1/(√2·c) with R_k = R_y = 1
    assert noise.sensitivity == pytest.approx(math.sqrt(2) * ratio + 1 / (math.sqrt(2) * ratio))
    assert noise.cross_std == noise.sigma == pytest.approx(noise.sensitivity / 0.7)
    assert noise.feature_std == pytest.approx(noise.sigma / ratio)


@pytest.mark.parametrize("ratio", [2.0**-20, 2.0**20])
def test_what_cannot_be_drawn_is_not_booked(ratio):
    ledger, noise = books(), moments_noise(0.1, ratio, Neighbours.REPLACE)
    with pytest.raises(ValueError, match="the noise scale must be between"):
        release_zeros(noise, 2, 1, ledger, SimulatedNoise(0))
    assert ledger.releases == []


def test_products_of_other_than_the_leading_features_are_withheld():
    stds = gram_noise(1.0, 1.0, 1, Neighbours.REPLACE).matrix(5, 1, leading=2)
    withheld = np.isnan(stds)
    assert withheld[:5, :5].sum() == 25 - 4
    assert not withheld[:2, :2].any()
    assert not withheld[5].any()
    assert not withheld[:, 5].any()
    np.testing.assert_array_equal(
        stds[:2, :2], gram_noise(1.0, 1.0, 1, Neighbours.REPLACE).matrix(5, 1)[:2, :2]
    )


SUMS = GramRelease(
    np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([[1.0, 2.0, 6.0], [3.0, 3.0, 0.0]]),
    np.eye(3), feature_std=2.0, cross_std=3.0, target_std=5.0,
)  # fmt: skip


def test_sums_of_targets_that_add_up_to_nothing_lose_the_noise_of_their_sum():
    centred = SUMS.adding_up()
    np.testing.assert_allclose(centred.cross, [[-2.0, -1.0, 3.0], [1.0, 1.0, -2.0]])
    assert centred.cross_std == pytest.approx(3.0 * math.sqrt(2 / 3))
    np.testing.assert_array_equal(centred.feature_gram, SUMS.feature_gram)


def test_sums_of_a_part_stand_for_all_rows_with_their_noise():
    assert SUMS.for_all(None) is SUMS
    whole = SUMS.for_all(RowPart(2, 4))
    assert whole.fraction == 0.25
    for name in ("feature_gram", "cross", "target_gram", "feature_std", "cross_std", "target_std"):
        np.testing.assert_array_equal(getattr(whole, name), 4.0 * getattr(SUMS, name))


@pytest.mark.parametrize("weight", [0.3, 1.0, 2.0])
def test_the_bound_that_is_booked_is_that_of_a_row(weight):
    booked = gram_noise(0.7, weight, 2, Neighbours.REPLACE).bound
    assert booked.size == pytest.approx(1 + 2 * weight**2, rel=1e-14)
    assert booked.size >= 1 + 2 * Fraction(weight) ** 2
