"""Low-discrepancy points are those of another library, to the last bit.

Points that stand for a normal law are as even as those of Sobol, on the averages we take.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri
from scipy.stats import qmc

from dpgp.point_sets import halton, lattice, normal_points


@pytest.mark.parametrize("dimension", [1, 2, 7, 60])
def test_points_are_those_of_scipy(dimension):
    expected = qmc.Halton(dimension, scramble=False).random(700)
    np.testing.assert_array_equal(halton(dimension, 699), expected[1:])
    np.testing.assert_array_equal(halton(dimension, 50, skip=600), expected[600:650])


@pytest.mark.parametrize(("dimension", "rows"), [(1, 16), (3, 100), (50, 128), (200, 32)])
def test_every_coordinate_has_all_levels_once(dimension, rows):
    levels = (np.arange(rows) + 0.5) / rows
    for column in lattice(dimension, rows).T:
        assert_allclose(np.sort(column), levels)


@pytest.mark.parametrize(("dimension", "rows"), [(2, 2), (3, 5), (10, 512)])
def test_no_point_is_in_a_corner(dimension, rows):
    u = lattice(dimension, rows)
    assert np.all(np.ptp(u, axis=1) > 0.0)


@pytest.mark.parametrize(("dimension", "rows"), [(2, 2048), (12, 32), (50, 128), (200, 512)])
def test_mean_and_covariance_are_exact(dimension, rows):
    z = normal_points(dimension, rows)
    assert_allclose(z.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(z.T @ z / rows, np.eye(dimension), atol=1e-9)


def waves(z, count=300):
    """Errors of E cos(2aᵀz + b) along random unit vectors a."""
    generator = np.random.default_rng(1)
    a = generator.standard_normal((count, z.shape[1]))
    b = generator.uniform(0, 2 * np.pi, count)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    return np.cos(2 * z @ a.T + b).mean(axis=0) - np.exp(-2) * np.cos(b)


def tails(z, count=300):
    """Errors of P(aᵀz > 1.5)."""
    a = np.random.default_rng(2).standard_normal((count, z.shape[1]))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    return (z @ a.T > 1.5).mean(axis=0) - 0.0668


def pairs(z):
    """Errors of E z_i²z_j² for all pairs: variances of products of two inputs."""
    fourth = (z**2).T @ z**2 / len(z)
    return fourth[np.triu_indices(z.shape[1], 1)] - 1.0


@pytest.mark.parametrize("average", [waves, tails, pairs])
@pytest.mark.parametrize(
    ("dimension", "rows"), [(2, 2048), (5, 512), (10, 512), (30, 127), (50, 131), (12, 32)]
)
def test_averages_are_as_close_as_over_points_of_sobol(average, dimension, rows):
    def error(z):
        return np.sqrt(np.mean(average(z) ** 2))

    ours = error(normal_points(dimension, rows))
    power_of_two = 1 << round(np.log2(rows))
    nets = (qmc.Sobol(dimension, rng=seed) for seed in range(20))  # some are lucky
    peers = [error(ndtri(net.random(power_of_two))) for net in nets]
    assert ours < 1.3 * np.sqrt(np.mean(np.square(peers)))
    if dimension < 30:
        random = np.random.default_rng(3).standard_normal((rows, dimension))
        assert ours < 1.2 * error(random)
