"""Discrete against rounded continuous Gaussian noise, summed exactly at small scales."""

import math

import mpmath
import numpy as np
import pytest

from dpgp.privacy.calibration import delta_of_mu
from dpgp.privacy.noise import (
    LOG_TAIL,
    MIN_SCALE,
    continuous_target,
    discrete_guarantee,
    discretisation_cost,
)


def log_likelihood_ratio(k, sigma):
    """log q(k)/p(k) with 40 digits: q the rounded continuous law, p the discrete one."""
    with mpmath.workdps(40):
        k, sigma = mpmath.mpf(k), mpmath.mpf(sigma)
        # ∫ φ_σ over [k − ½, k + ½], from the upper tails
        tail = [mpmath.erfc((k + side) / (sigma * mpmath.sqrt(2))) / 2 for side in (-0.5, 0.5)]
        q = tail[0] - tail[1]
        Z = 1 + 2 * sum(mpmath.exp(-(j**2) / (2 * sigma**2)) for j in range(1, int(14 * sigma)))
        return float(mpmath.log(q * Z) + k**2 / (2 * sigma**2))


def discrete_delta(sigma, shift, epsilon):
    """Exact δ(ε) of the discrete Gaussian on integers whose query moves by `shift`."""
    k = np.arange(-int(40 * sigma), int(40 * sigma) + 1)
    p = np.exp(-((k / sigma) ** 2) / 2)
    moved = np.exp(-(((k - shift) / sigma) ** 2) / 2)
    return math.fsum(np.maximum(p - math.exp(epsilon) * moved, 0.0)) / math.fsum(p)


# --- the two noise laws --------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [8, 16, 64])
def test_likelihood_ratio_of_one_coordinate_is_within_the_bounds(sigma):
    for k in [0, 1, sigma // 2, sigma, 3 * sigma, 7 * sigma, 12 * sigma]:
        ratio = log_likelihood_ratio(k, sigma)
        assert -1 / (24 * sigma**2) <= ratio <= k**2 / (24 * sigma**4)
        # and it is what the second-order expansion says, so neither bound is vacuous
        expansion = ((k / sigma) ** 2 - 1) / (24 * sigma**2)
        assert ratio == pytest.approx(expansion, rel=0.03, abs=0.01 / (24 * sigma**2))


@pytest.mark.parametrize("coordinates", [1, 2, 10, 100, 1000, 5000])
def test_exceptional_set_is_lighter_than_the_tail(coordinates):
    # P(χ²_N > 4N + 2000), the proof says less than e^−899
    with mpmath.workdps(30):
        half = mpmath.mpf(coordinates) / 2
        mass = mpmath.gammainc(half, 2 * coordinates + 1000, regularized=True)
        assert mpmath.log(mass) < -899 < LOG_TAIL


@pytest.mark.parametrize(("sigma", "shift"), [(8, 8), (8, 20), (16, 8), (64, 64)])
def test_theorem_holds_at_small_scales(sigma, shift):
    # η = (N + T)/(24σ²), β = P(k² > Tσ²), here with N = 1 and T = 49
    eta = 50 / (24 * sigma**2)
    beta = math.erfc((7 - 0.5 / sigma) / math.sqrt(2))
    excess = 0.0
    for epsilon in np.linspace(0.0, 4.0, 101):
        continuous = delta_of_mu(shift / sigma, epsilon)
        bound = math.exp(eta) * (continuous + math.exp(epsilon) * beta)
        assert discrete_delta(sigma, shift, epsilon + eta) <= bound * (1 + 1e-12)
        excess = max(excess, discrete_delta(sigma, shift, epsilon) / continuous)
    assert excess > 1.0  # without η the claim would be false


@pytest.mark.parametrize("sigma", [8, 16, 64])
def test_guarantee_covers_the_exact_discrete_mechanism(sigma):
    eta = (5 + 2000) / (24 * sigma**2)
    for epsilon in np.linspace(0.0, 4.0, 41):
        epsilon_d, delta_d = discrete_guarantee(epsilon, delta_of_mu(1.0, epsilon), eta)
        assert discrete_delta(sigma, sigma, epsilon_d) <= delta_d


def test_raw_counts_with_unit_scale_break_the_continuous_guarantee():
    ratios = {
        upper: max(
            discrete_delta(1.0, 1, epsilon) / delta_of_mu(1.0, epsilon)
            for epsilon in np.linspace(upper - 1.0, upper, 401)
        )
        for upper in (1.5, 2.5, 3.5, 4.5)
    }
    assert ratios == pytest.approx({1.5: 1.138, 2.5: 1.306, 3.5: 1.540, 4.5: 1.824}, abs=2e-3)


# --- the functions -------------------------------------------------------------------------------


def test_cost_follows_the_formula_rounded_up():
    exact = mpmath.mpf(5 * 10**5 + 2000) / (24 * mpmath.mpf(2) ** 60)
    cost = discretisation_cost(10**5, MIN_SCALE)
    assert exact <= cost <= exact * (1 + 1e-13)
    assert cost == pytest.approx(1.81e-14, rel=0.01)


def test_cost_refuses_coarse_scales():
    with pytest.raises(
        ValueError, match=r"`sigma_min` must be at least 2\*\*30, got 1\.0; multipl"
    ):
        discretisation_cost(1, 1.0)
    with pytest.raises(ValueError, match="`coordinates` must be positive"):
        discretisation_cost(0, MIN_SCALE)


@pytest.mark.parametrize("value", [-1.0, math.nan])
def test_what_no_bound_covers_is_refused_by_name(value):
    with pytest.raises(ValueError, match="`sigma_min` must be"):
        discretisation_cost(1, value)
    for convert in (discrete_guarantee, continuous_target):
        for name, arguments in {
            "epsilon": (value, 1e-5, 1e-9),
            "delta": (1.0, value, 1e-9),
            "eta": (1.0, 1e-5, value),
        }.items():
            with pytest.raises(ValueError, match=f"`{name}` must be"):
                convert(*arguments)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0, 100.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-100, 1e-5, 0.3])
@pytest.mark.parametrize("eta", [0.0, 2e-14, 1e-6])
def test_target_and_guarantee_are_on_the_private_side(epsilon, delta, eta):
    # β = e^−801: the last unit of the exponent is for rounding
    with mpmath.workdps(60):
        beta, growth = mpmath.exp(LOG_TAIL - 1), mpmath.exp(mpmath.mpf(eta))
        epsilon_c, delta_c = continuous_target(epsilon, delta, eta)
        assert mpmath.mpf(epsilon_c) + eta <= epsilon
        assert growth * (delta_c + mpmath.exp(epsilon_c) * beta) <= delta
        epsilon_d, delta_d = discrete_guarantee(epsilon, delta, eta)
        assert epsilon_d >= mpmath.mpf(epsilon) + eta
        assert delta_d >= growth * (delta + mpmath.exp(epsilon) * beta)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-5])
def test_target_and_guarantee_are_inverse(epsilon, delta):
    there_and_back = discrete_guarantee(*continuous_target(epsilon, delta, 1e-9), 1e-9)
    assert there_and_back == pytest.approx((epsilon, delta), rel=1e-13, abs=0.0)


def test_no_cost_changes_no_epsilon():
    assert continuous_target(1.0, 1e-5, 0.0)[0] == 1.0
    assert discrete_guarantee(0.0, 1e-5, 0.0)[0] == 0.0
    assert continuous_target(math.inf, 1e-5, 1e-9) == (math.inf, 1e-5)
    assert discrete_guarantee(math.inf, 1e-5, 1e-9) == (math.inf, 1e-5)


def test_what_cannot_be_met_is_refused():
    with pytest.raises(ValueError, match="`epsilon` must be greater than `eta`"):
        continuous_target(1e-9, 1e-5, 1e-9)
    for epsilon in (109.3, 109.5, 200.0, 1e4):  # δ = exp(ε − 800) at ε = 109.22
        with pytest.raises(ValueError, match="`delta` = 1e-300 is out of reach"):
            continuous_target(epsilon, 1e-300, 1e-9)
    assert continuous_target(109.2, 1e-300, 1e-9)[1] > 0.0
    assert discrete_guarantee(900.0, 1e-300, 0.0) == (900.0, 1.0)
