import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from dpgp.inference import clipping

CASES = [(1.0, 1.0), (0.3, 1.0), (3.0, 1.0), (0.05, 0.07), (1.0, 0.1), (0.01, 2.0)]


def moment(R, tau, power, mean=0.0):
    """E[clip(N(mean, τ²), R)^power] by quadrature."""
    inside, _ = quad(lambda r: r**power * norm.pdf(r, mean, tau), -R, R, epsabs=1e-14, limit=200)
    return inside + R**power * norm.sf(R, mean, tau) + (-R) ** power * norm.cdf(-R, mean, tau)


@pytest.mark.parametrize(("R", "tau"), CASES)
def test_moments_match_quadrature(R, tau):
    assert clipping.second_moment(R, tau) == pytest.approx(moment(R, tau, 2), rel=1e-9)
    assert clipping.fourth_moment(R, tau) == pytest.approx(moment(R, tau, 4), rel=1e-9)


@pytest.mark.parametrize(("R", "tau"), CASES)
def test_slopes_match_differences_of_the_quadrature(R, tau):
    h = 1e-4 * tau
    by_mean = (moment(R, tau, 1, h) - moment(R, tau, 1, -h)) / (2 * h)
    assert clipping.slope(R, tau) == pytest.approx(by_mean, rel=1e-5)
    up, down = np.sqrt(tau**2 * (1 + 1e-4)), np.sqrt(tau**2 * (1 - 1e-4))
    by_variance = (moment(R, up, 2) - moment(R, down, 2)) / (2e-4 * tau**2)
    assert clipping.second_moment_slope(R, tau) == pytest.approx(by_variance, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize(("R", "tau"), CASES)
def test_distortion_is_the_variance_beyond_that_of_the_residual(R, tau):
    corrected = moment(R, tau, 2) / clipping.slope(R, tau) ** 2
    assert clipping.distortion(R, tau) == pytest.approx(corrected - tau**2, rel=1e-7, abs=1e-12)


@given(st.floats(1e-2, 1e3), st.floats(1e-3, 1e3))
def test_moments_are_ordered(a, tau):
    R = a * tau
    m2, m4 = clipping.second_moment(R, tau), clipping.fourth_moment(R, tau)
    assert 0 < clipping.slope(R, tau) <= 1
    assert m2 <= min(R**2, tau**2) * (1 + 1e-9)
    assert m2**2 * (1 - 1e-9) <= m4 <= R**2 * m2 * (1 + 1e-6)
    assert clipping.distortion(R, tau) >= 0.0


def test_arrays_and_a_clip_at_infinity():
    tau = np.array([0.1, 2.0])
    np.testing.assert_allclose(clipping.slope(40.0, tau), 1.0)
    np.testing.assert_allclose(clipping.second_moment(40.0, tau), tau**2)
    np.testing.assert_allclose(clipping.fourth_moment(40.0, tau), 3 * tau**4)


@pytest.mark.parametrize("kappa", [1.0, 1.5, 2.0, 3.0])
def test_rough_bias_bounds_that_of_exponential_noise_from_above(kappa):
    # E clip(e + b, κ) = 0 for e exponential of mean 0 and sd 1: b = exp(b − 1 − κ)
    exact = 0.0
    for _ in range(100):
        exact = np.exp(exact - 1 - kappa)
    assert exact <= clipping.huber_bias(kappa) <= 4 * exact


def locations(values, masses, R):
    """Ends of the interval of θ with E clip(z − θ, R) = 0, which may be one number."""

    def pull(theta):
        return masses @ np.clip(values - theta, -R, R)

    def first(is_before):
        low, high = values.min() - 1.0, values.max() + 1.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if is_before(pull(middle)) else (low, middle)
        return low

    tiny = 1e-12 * R
    return first(lambda pulled: pulled > tiny), first(lambda pulled: pulled >= -tiny)


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 1.0)), min_size=2, max_size=6),
    st.floats(0.05, 5.0),
)
def test_no_law_is_off_by_more_than_the_largest_bias(law, R):
    values, masses = np.array(law).T
    masses = masses / masses.sum()
    mean = masses @ values
    tau = np.sqrt(masses @ (values - mean) ** 2)
    off = max(abs(mean - theta) for theta in locations(values, masses, R))
    assert off <= clipping.largest_bias(R, tau) + 1e-6


@pytest.mark.parametrize("R", [0.5, 0.8, 2.0])
def test_two_values_attain_the_largest_bias(R):
    # a share p beyond the clip, p/(1 − p) = τ²/4R²
    q = 1.0 / (4 * R**2)
    masses = np.array([1.0, q]) / (1.0 + q)
    values = np.array([0.0, (1.0 + q) / np.sqrt(q)])  # of sd one
    off = masses @ values - locations(values, masses, R)[0]
    assert off == pytest.approx(clipping.largest_bias(R, 1.0), abs=1e-6)


def test_the_largest_bias_of_a_hard_clip_is_that_of_a_median():
    assert clipping.largest_bias(1e-6, 1.0) == pytest.approx(1.0, abs=1e-5)
    assert clipping.largest_bias(0.5, 1.0) == pytest.approx(0.5)
