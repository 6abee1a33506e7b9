"""Releases tell what they cost, rounded to the private side."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp.privacy.books import ApproximateRelease, GaussianRelease
from dpgp.privacy.noise import discretisation_cost

sizes = st.floats(1e-100, 1e100)


def release(sensitivity, noise_std):
    return GaussianRelease("a release", sensitivity, noise_std, 10, 2.0**40)


@given(sizes, sizes)
def test_mu_is_never_below_the_exact_ratio_and_close_to_it(sensitivity, noise_std):
    mu, exact = release(sensitivity, noise_std).mu, Fraction(sensitivity) / Fraction(noise_std)
    assert exact <= Fraction(mu) <= exact * (1 + Fraction(1, 2**51))


def test_without_noise_nothing_bounds_the_loss_and_nothing_is_discrete():
    assert release(1.0, 0.0).mu == math.inf
    assert release(1.0, 0.0).eta == 0.0


@pytest.mark.parametrize("noise_std", [1e-9, 1.0, 1e9])
def test_any_noise_at_all_is_priced(noise_std):
    assert release(1.0, noise_std).mu == pytest.approx(1.0 / noise_std)
    assert release(1.0, noise_std).eta == discretisation_cost(10, 2.0**40) > 0.0


def test_a_release_in_words():
    assert str(release(1.0, 2.0)) == ("a release: 10 numbers, sensitivity 1, noise 2, mu 0.500001")
    assert str(ApproximateRelease("a selection", 1.0, 1e-5)) == "a selection"
