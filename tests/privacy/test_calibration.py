"""Conversions between μ, (ε, δ) and ρ: exact to nine digits, always on the private side."""

import math
import random
from fractions import Fraction

import dp_accounting
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpgp.privacy.calibration import (
    compose,
    delta_of_mu,
    epsilon_of_mu,
    gaussian_sigma,
    log_delta_of_mu,
    mu_of_epsilon_delta,
    mu_of_rho,
    rho_of_mu,
    sqrt_up,
)

many = settings(max_examples=300, deadline=None)
non_negative = st.floats(0.0, 1e6, allow_subnormal=False)


def exact_delta(mu, epsilon):
    """Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) with 60 digits left after cancellation."""
    with mpmath.workdps(60 + 2 * int(max(0.0, -math.log10(mu)))):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        with mpmath.workdps(mpmath.mp.dps + 2 * int(mpmath.log10(2 + epsilon / mu))):
            near = mpmath.ncdf(mu / 2 - epsilon / mu)
            return near - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def requests(count):
    """Random (ε, δ): ε from 1e-12 to 1e3, δ from 1e-300 to 1/2."""
    generator = random.Random(7)
    for _ in range(count):
        epsilon = 10.0 ** generator.uniform(-12.0, 3.0)
        yield epsilon, generator.choice([1e-300, math.exp(generator.uniform(-690.0, -0.7))])


def profile_points(count):
    """Random (μ, ε) in all regimes: μ from 1e-12 to 1e3, ε/μ − μ/2 up to 38, ε = 0 too."""
    generator = random.Random(8)
    for _ in range(count):
        mu = 10.0 ** generator.uniform(-12.0, 3.0)
        epsilon = mu * (generator.uniform(-8.0, 38.0) + 0.5 * mu)
        yield mu, max(epsilon, generator.choice([0.0, mu**2 / 100.0]))


# --- against 60 digits ---------------------------------------------------------------------------


def test_log_delta_is_accurate_in_all_regimes():
    for mu, epsilon in profile_points(500):
        exact = mpmath.log(exact_delta(mu, epsilon))
        assert abs(log_delta_of_mu(mu, epsilon) - exact) <= 1e-12 * (1 + abs(exact) + mu**2)


def test_delta_is_rounded_up_and_tight():
    for mu, epsilon in profile_points(500):
        exact = exact_delta(mu, epsilon)
        if exact > mpmath.mpf("1e-300"):
            assert exact <= delta_of_mu(mu, epsilon) <= exact * (1 + 1e-8)


def test_mu_never_exceeds_the_request_and_is_tight():
    for epsilon, delta in requests(400):
        mu = mu_of_epsilon_delta(epsilon, delta)
        assert exact_delta(mu, epsilon) <= delta
        assert exact_delta(mu * (1 + 1e-9), epsilon) > delta


def test_epsilon_is_rounded_up_and_tight():
    for epsilon, delta in requests(400):
        mu = mu_of_epsilon_delta(epsilon, delta)
        found = epsilon_of_mu(mu, delta)
        assert exact_delta(mu, found) <= delta
        # where δ is nearly δ(0), ε is the small difference of two numbers of the size of δ
        less = found * (1 - 1e-9) - 1e-11 * delta
        assert less < 0 or exact_delta(mu, less) > delta


# --- against dp-accounting -----------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10, 1e-15])
def test_agrees_with_dp_accounting(epsilon, delta):
    sigma = dp_accounting.get_sigma_gaussian(epsilon, delta, tol=1e-14)
    assert gaussian_sigma(1.0, mu_of_epsilon_delta(epsilon, delta)) == pytest.approx(
        sigma, rel=1e-9
    )
    theirs = dp_accounting.get_epsilon_gaussian(sigma, delta, tol=1e-14)
    assert epsilon_of_mu(1.0 / sigma, delta) == pytest.approx(theirs, rel=1e-9)


# --- round trips and limits ----------------------------------------------------------------------


def test_round_trips():
    for epsilon, delta in requests(200):
        mu = mu_of_epsilon_delta(epsilon, delta)
        assert epsilon_of_mu(mu, delta) == pytest.approx(epsilon, rel=1e-9, abs=1e-11 * delta)
        assert delta_of_mu(mu, epsilon) == pytest.approx(delta, rel=1e-8, abs=0.0)


def test_no_epsilon_is_needed_below_the_total_variation():
    # δ(0) = 2Φ(μ/2) − 1
    mu = 0.2
    total_variation = math.erf(mu / math.sqrt(8.0))
    assert delta_of_mu(mu, 0.0) == pytest.approx(total_variation, rel=1e-13)
    assert epsilon_of_mu(mu, total_variation * (1 + 1e-9)) == 0.0
    assert epsilon_of_mu(mu, total_variation * (1 - 1e-9)) > 0.0
    assert epsilon_of_mu(0.0, 1e-5) == 0.0


def test_limits():
    assert mu_of_epsilon_delta(math.inf, 1e-5) == math.inf
    assert epsilon_of_mu(math.inf, 1e-5) == math.inf
    assert log_delta_of_mu(0.0, 1.0) == -math.inf
    assert log_delta_of_mu(math.inf, 1.0) == 0.0
    assert log_delta_of_mu(1.0, math.inf) == -math.inf
    assert delta_of_mu(0.0, 1.0) == 0.0
    assert delta_of_mu(1e-200, 1.0) > 0.0
    assert delta_of_mu(1e6, 0.0) == 1.0
    assert gaussian_sigma(2.0, math.inf) == 0.0
    assert compose([1.0, math.inf]) == math.inf
    assert compose([]) == 0.0
    assert rho_of_mu(math.inf) == mu_of_rho(math.inf) == math.inf


def test_mu_grows_with_the_request():
    by_epsilon = [mu_of_epsilon_delta(epsilon, 1e-6) for epsilon in np.geomspace(1e-6, 1e4, 60)]
    by_delta = [mu_of_epsilon_delta(1.0, delta) for delta in np.geomspace(1e-300, 0.9, 60)]
    assert by_epsilon == sorted(by_epsilon)
    assert by_delta == sorted(by_delta)


# --- composition, ρ and σ: exact directed rounding -----------------------------------------------


@many
@given(st.lists(non_negative, max_size=6))
def test_composition_is_rounded_up(mus):
    exact = sum((Fraction(mu) ** 2 for mu in mus), Fraction(0))
    composed = compose(mus)
    assert exact <= Fraction(composed) ** 2 <= exact * (1 + Fraction(1, 2**50))


def test_composition_of_exact_numbers_is_exact():
    assert compose([3.0, 4.0]) == 5.0
    assert compose([0.7]) == 0.7
    assert sqrt_up(Fraction(1, 4)) == 0.5
    assert sqrt_up(Fraction(2**140 + 1)) > 2.0**70


@many
@given(non_negative)
def test_rho_is_never_below_half_the_square_of_mu(value):
    assert Fraction(rho_of_mu(value)) >= Fraction(value) ** 2 / 2
    assert Fraction(mu_of_rho(value)) ** 2 <= 2 * Fraction(value)
    assert rho_of_mu(value) == pytest.approx(value**2 / 2, rel=1e-15, abs=1e-300)
    assert mu_of_rho(value) == pytest.approx(math.sqrt(2 * value), rel=1e-15)


@many
@given(st.floats(1e-100, 1e100), st.floats(1e-100, 1e100))
def test_sigma_is_rounded_up(sensitivity, mu):
    sigma = gaussian_sigma(sensitivity, mu)
    assert Fraction(sigma) * Fraction(mu) >= Fraction(sensitivity)
    assert sigma == pytest.approx(sensitivity / mu, rel=1e-15)


# --- arguments -----------------------------------------------------------------------------------


def test_errors_name_the_argument_the_rule_and_the_value():
    with pytest.raises(ValueError, match=r"^`epsilon` must be positive, got -1\.0\.$"):
        mu_of_epsilon_delta(-1.0, 1e-5)
    with pytest.raises(ValueError, match=r"^`mu` must be zero or positive, got -1\.0\.$"):
        epsilon_of_mu(-1.0, 1e-5)
    with pytest.raises(ValueError, match="`sensitivity` must be finite"):
        gaussian_sigma(math.inf, 1.0)


@pytest.mark.parametrize("value", [-1.0, -1e-300, math.nan])
def test_no_conversion_takes_a_negative_number_or_none(value):
    for convert in (
        lambda: log_delta_of_mu(value, 1.0),
        lambda: log_delta_of_mu(1.0, value),
        lambda: delta_of_mu(value, 1.0),
        lambda: epsilon_of_mu(value, 1e-5),
        lambda: compose([0.5, value]),
        lambda: rho_of_mu(value),
        lambda: mu_of_rho(value),
        lambda: gaussian_sigma(value, 1.0),
        lambda: gaussian_sigma(1.0, value),
    ):
        with pytest.raises(ValueError, match=r"must be (zero or )?positive, got"):
            convert()


def test_noise_needs_a_budget():
    with pytest.raises(ValueError, match=r"`mu` must be positive, got 0\.0"):
        gaussian_sigma(1.0, 0.0)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_delta_must_be_a_probability(delta):
    message = "`delta` must be greater than 0 and less than 1"
    with pytest.raises(ValueError, match=message):
        mu_of_epsilon_delta(1.0, delta)
    with pytest.raises(ValueError, match=message):
        epsilon_of_mu(1.0, delta)


@pytest.mark.parametrize("epsilon", [0.0, math.nan, -math.inf])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(ValueError, match="`epsilon` must be positive"):
        mu_of_epsilon_delta(epsilon, 1e-5)


@pytest.mark.parametrize("value", ["1", None, True, 1j, [1.0]])
def test_numbers_are_required(value):
    with pytest.raises(TypeError, match="`epsilon` must be a number"):
        mu_of_epsilon_delta(value, 1e-5)
    with pytest.raises(TypeError, match="`mu` must be a number"):
        delta_of_mu(value, 1.0)


def test_numpy_scalars_are_numbers():
    assert mu_of_epsilon_delta(np.float64(1.0), 1e-5) == mu_of_epsilon_delta(1, 1e-5)
