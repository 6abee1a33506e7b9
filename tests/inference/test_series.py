import numpy as np
import pytest

from dpgp.inference.predictive import NODES, TOLERANCE, polynomials, series_of


def points(columns, count=9000):
    return np.random.default_rng(columns).uniform(-1, 1, (count, columns))


def smooth(U):
    """A bump, and a function that is positive and varies by a factor of a thousand."""
    bump = np.exp(-8.0 * np.sum((U - 0.3) ** 2, axis=1))
    return np.stack([np.sin(5.0 * U[:, 0]) * bump, 1e-3 + bump**2])


@pytest.mark.parametrize("columns", [1, 2])
def test_a_series_is_the_function_up_to_its_tolerance(columns):
    U = np.vstack([points(columns), np.ones((1, columns)), -np.ones((1, columns))])
    found, expected = series_of(smooth, columns)(U), smooth(U)
    largest = np.abs(expected[0]).max()
    np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=10 * TOLERANCE * largest)
    np.testing.assert_allclose(found[1], expected[1], rtol=10 * TOLERANCE)


@pytest.mark.parametrize("value", [0.0, -2.5])
def test_a_constant_needs_one_term(value):
    series = series_of(lambda U: np.full((1, len(U)), value), 2)
    assert [factor.shape for factor in series.factors] == [(1, 1), (1, 1)]
    np.testing.assert_allclose(series(points(2)), value, rtol=1e-14, atol=0)


@pytest.mark.parametrize("columns", [1, 2])
def test_a_function_with_a_kink_has_no_series(columns):
    assert series_of(lambda U: np.abs(U[:, :1]).T, columns) is None


def test_three_inputs_have_no_series_and_are_not_asked():
    assert max(NODES) == 2
    assert series_of(None, 3) is None


def test_the_polynomials_are_products_of_chebyshevs():
    t = np.linspace(0, np.pi, 50)
    b, T = polynomials(np.cos(t), 11), np.cos(np.outer(np.arange(11), t))
    expected = [T[0], T[1], T[2], T[2] * T[1], T[4], T[4] * T[1], T[4] * T[2]]
    np.testing.assert_allclose(b[:7], expected, atol=1e-14)
    np.testing.assert_allclose(b[10], T[8] * T[2], atol=1e-14)


def test_a_point_has_the_same_numbers_at_any_place_and_among_any_others():
    series, U = series_of(smooth, 2), points(2)
    everywhere = series(np.tile(U[:1], (2500, 1)))
    assert np.array_equal(everywhere, np.repeat(everywhere[:, :1], 2500, axis=1))
    assert np.array_equal(series(U)[:, -7:], series(U[-7:]))
    assert np.array_equal(series(U), series(np.asfortranarray(U)))
