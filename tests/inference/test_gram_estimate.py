import numpy as np
import pytest
from simulated_stages import features_1d, release, rows_1d, symmetric_noise
from sklearn.gaussian_process.kernels import RBF

from dpgp.features.inducing import InducingFeatures
from dpgp.inference.few.gram_estimate import (
    FITS,
    NOT_MISSED,
    DensityEstimate,
    IsotropicEstimate,
    density_estimate,
    density_prior,
    density_sd,
    doubt,
    estimate_gram,
    misfit,
    missed_mass,
    pool,
)
from dpgp.inference.pull_back import feasible_part
from dpgp.inference.stage import StageRelease
from dpgp.planning.design import density_positions
from dpgp.point_sets import low_discrepancy_points

POSITIONS = np.linspace(-1, 1, 61)[:, None]
FEATURES = features_1d(10, 0.25)
ATOMS = FEATURES.evaluate(POSITIONS).T
N = 2000.0
TRUE = np.exp(-0.5 * ((POSITIONS[:, 0] + 0.3) / 0.3) ** 2)
TRUE *= N / TRUE.sum()
B_TRUE = (ATOMS.T * TRUE) @ ATOMS


def weights_second_moment(d, rng):
    root = rng.normal(size=(d, 3))
    return root @ root.T, root


def test_isotropic_error_covariance_matches_simulation():
    d, sigma_b, rng = 4, 1.7, np.random.default_rng(0)
    W, root = weights_second_moment(d, rng)
    draws = 40_000
    E = np.array([symmetric_noise(d, sigma_b, rng) for _ in range(draws)])
    v = rng.normal(size=(draws, 3)) @ root.T
    Ev = np.einsum("tij,tj->ti", E, v)
    simulated = Ev.T @ Ev / draws
    estimate = IsotropicEstimate(np.eye(d), sigma_b)
    scale = np.trace(simulated)
    np.testing.assert_allclose(estimate.error_covariance(W), simulated, atol=0.03 * scale)
    assert np.trace(estimate.error_covariance(W)) == pytest.approx(
        np.sum(estimate.error_trace_matrix() * W)
    )


def test_density_error_covariance_matches_simulation():
    rng, G, d = np.random.default_rng(1), 7, 4
    F, root_p = rng.normal(size=(G, d)), rng.normal(size=(G, G))
    W, root = weights_second_moment(d, rng)
    estimate = DensityEstimate(np.eye(d), F, np.ones(G), root_p @ root_p.T)
    draws = 100_000
    dp = rng.normal(size=(draws, G)) @ root_p.T
    v = rng.normal(size=(draws, 3)) @ root.T
    Ev = (dp * (v @ F.T)) @ F  # E = Σ dp_g φ_gφ_gᵀ
    simulated = Ev.T @ Ev / draws
    scale = np.trace(simulated)
    np.testing.assert_allclose(estimate.error_covariance(W), simulated, atol=0.03 * scale)
    assert np.trace(estimate.error_covariance(W)) == pytest.approx(
        np.sum(estimate.error_trace_matrix() * W)
    )


def test_little_noise_recovers_a_known_density():
    sigma_b = 0.5
    B_hat = B_TRUE + symmetric_noise(len(B_TRUE), sigma_b, np.random.default_rng(2))
    estimate = density_estimate(B_hat, sigma_b, ATOMS, POSITIONS, N)
    assert np.abs(estimate.B - B_TRUE).max() < 5 * sigma_b
    assert np.abs(np.cumsum(estimate.weights - TRUE)).max() < 0.02 * N
    assert estimate.weights.min() >= 0
    assert estimate.weights.sum() == pytest.approx(N)


def test_much_noise_leaves_the_uniform_density_and_the_prior():
    sigma_b = 1e4 * N
    B_hat = symmetric_noise(len(B_TRUE), sigma_b, np.random.default_rng(3))
    estimate = density_estimate(B_hat, sigma_b, ATOMS, POSITIONS, N)
    np.testing.assert_allclose(estimate.weights, N / len(POSITIONS), rtol=0.05)
    prior = density_prior(POSITIONS, N)
    contrast = np.eye(len(POSITIONS))[10] - np.eye(len(POSITIONS))[40]  # the sum is known
    assert contrast @ estimate.weights_covariance @ contrast == pytest.approx(
        contrast @ prior @ contrast, rel=1e-2
    )


def test_the_covariance_is_that_of_the_linear_gaussian_model():
    sigma_b = 20.0
    estimate = density_estimate(B_TRUE, sigma_b, ATOMS, POSITIONS, N)
    d = len(B_TRUE)
    i, j = np.triu_indices(d)
    # entries of B̂: σ_b on the diagonal, σ_b/√2 off it; Σp = n to one part in a thousand
    M = (ATOMS[:, i] * ATOMS[:, j]).T
    variances = np.where(i == j, sigma_b**2, sigma_b**2 / 2)
    M = np.vstack([M, np.ones(len(ATOMS))])
    variances = np.append(variances, (1e-3 * N) ** 2)
    P0 = density_prior(POSITIONS, N)
    gain = P0 @ M.T @ np.linalg.inv(M @ P0 @ M.T + np.diag(variances))
    expected = P0 - gain @ M @ P0
    atol = 1e-4 * np.abs(expected).max()
    np.testing.assert_allclose(estimate.weights_covariance, expected, atol=atol)


def test_the_error_is_known_on_average():
    sigma_b, rng, ratios = 20.0, np.random.default_rng(4), []
    w = rng.normal(size=len(B_TRUE))
    for _ in range(40):
        B_hat = B_TRUE + symmetric_noise(len(B_TRUE), sigma_b, rng)
        estimate = density_estimate(B_hat, sigma_b, ATOMS, POSITIONS, N)
        error = (estimate.B - B_TRUE) @ w
        ratios.append(error @ error / np.trace(estimate.error_covariance(np.outer(w, w))))
    assert 0.1 < np.mean(ratios) < 1.5  # positive weights know more than their covariance says


def test_the_density_beats_the_positive_part():
    sigma_b, rng, better = 60.0, np.random.default_rng(5), []
    for _ in range(10):
        B_hat = B_TRUE + symmetric_noise(len(B_TRUE), sigma_b, rng)
        estimate = density_estimate(B_hat, sigma_b, ATOMS, POSITIONS, N)
        better.append(np.linalg.norm(estimate.B - B_TRUE) / np.linalg.norm(B_hat - B_TRUE))
    assert np.mean(better) < 0.7


@pytest.mark.parametrize("sigma", [0.1, 3.0, 100.0])
def test_the_feasible_part_is_the_nearest_of_bounded_trace(sigma):
    n, rng = 10.0, np.random.default_rng(8)
    B_hat = np.eye(5) + symmetric_noise(5, sigma, rng)
    B = feasible_part(B_hat, n)
    assert np.linalg.eigvalsh(B).min() > -1e-10 * sigma
    assert np.trace(B) <= n * (1 + 1e-9)
    distance = np.linalg.norm(B - B_hat)
    for _ in range(200):
        root = rng.normal(size=(5, 5))
        other = root @ root.T
        other *= n * rng.uniform() / np.trace(other)
        between = B + 0.1 * rng.uniform() * (other - B)  # feasible too
        assert np.linalg.norm(between - B_hat) >= distance * (1 - 1e-9)


def test_hopeless_noise_does_not_look_like_data():
    B_hat = symmetric_noise(60, 1e4, np.random.default_rng(9))
    assert np.trace(feasible_part(B_hat, 50.0)) <= 50.0 * (1 + 1e-9)


def stages(*sigmas):
    X, y = rows_1d(300)
    phi, rng = FEATURES.evaluate(X), np.random.default_rng(6)
    return phi, [release(phi, y, sigma, rng) for sigma in sigmas]


def test_pooling_weighs_by_precision():
    _, (first, second) = stages(3.0, 1.0)
    B, sigma_b = pool([first, second])
    np.testing.assert_allclose(B, (first.B / 9 + second.B) / (1 / 9 + 1))
    assert sigma_b == pytest.approx((1 / 9 + 1) ** -0.5)


def test_an_exact_matrix_is_left_alone():
    phi, exact = stages(0.0)
    estimate = estimate_gram(exact, ATOMS, POSITIONS)
    np.testing.assert_array_equal(estimate.B, exact[0].B)
    assert not estimate.error_covariance(np.eye(len(phi))).any()


@pytest.mark.parametrize("sigma", [1.0, 1e3])
def test_every_estimate_is_positive(sigma):
    _, noisy = stages(sigma, sigma)
    estimate = estimate_gram(noisy, ATOMS, POSITIONS)
    assert np.linalg.eigvalsh(estimate.B).min() > -1e-8 * 300
    Omega = estimate.error_covariance(np.eye(len(estimate.B)))
    assert np.linalg.eigvalsh(Omega).min() > 0


def corner_atoms(columns):
    positions = density_positions(columns)
    features = InducingFeatures(RBF(0.5 * np.sqrt(columns)), low_discrepancy_points(
        [-1.0] * columns, [1.0] * columns, 40))  # fmt: skip
    return positions, features, features.evaluate(positions).T


def released_gram(inputs, features, sigma_b):
    phi = features.evaluate(inputs)
    B = phi @ phi.T
    return B, B + symmetric_noise(len(B), sigma_b, np.random.default_rng(12))


def estimated(B_hat, atoms, positions):
    """The density of the prior sd that B̂ speaks for."""
    sd = density_sd(B_hat, 3.0, atoms, positions, N)
    return density_estimate(B_hat, 3.0, atoms, positions, N, sd)


def test_mass_that_atoms_do_not_reach_is_missed():
    positions, features, _ = corner_atoms(2)
    corners = np.where(np.random.default_rng(11).random((2000, 2)) < 0.2, 1.0, -1.0)
    _, B_hat = released_gram(corners, features, 3.0)
    inner = 0.5 * positions
    density = estimated(B_hat, features.evaluate(inner).T, inner)
    assert doubt(B_hat, 3.0, density.B) == 1.0


def test_a_smooth_density_is_not_doubted():
    positions, features, atoms = corner_atoms(2)
    inputs = np.random.default_rng(13).beta(2, 3, (2000, 2)) * 2 - 1
    _, B_hat = released_gram(inputs, features, 3.0)
    density = estimated(B_hat, atoms, positions)
    assert doubt(B_hat, 3.0, density.B) == 0.0


def test_inputs_that_fill_the_box_keep_the_smooth_prior():
    positions, features, atoms = corner_atoms(2)
    inputs = np.random.default_rng(14).uniform(-1, 1, (2000, 2))
    _, B_hat = released_gram(inputs, features, 3.0)
    assert density_sd(B_hat, 3.0, atoms, positions, N) == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("columns", [1, 2])
def test_atoms_of_a_grid_reach_the_corners(columns):
    positions, features, atoms = corner_atoms(columns)
    corners = np.where(np.random.default_rng(15).random((2000, columns)) < 0.4, 1.0, -1.0)
    B, B_hat = released_gram(corners, features, 3.0)
    assert density_sd(B_hat, 3.0, atoms, positions, N) > 5.0
    gram = estimate_gram([release_of(B_hat, 3.0)], atoms, positions)
    error = np.sum((gram.B - B) ** 2)
    assert error < 1.001 * np.sum((feasible_part(B_hat, N) - B) ** 2)
    assert error < 4 * np.trace(gram.error_trace_matrix())  # and it knows its error


def release_of(B_hat, sigma_b):
    d = len(B_hat)
    return StageRelease(np.zeros(d), B_hat, 0.0, 1.0, sigma_b, 1.0, 1.0, np.zeros(d), float(N))


def test_noise_alone_misses_nothing():
    d = 40
    for seed in range(20):
        E = symmetric_noise(d, 2.0, np.random.default_rng(seed))
        assert missed_mass(np.eye(d) + E, 2.0, np.eye(d)) < NOT_MISSED


def test_noise_alone_is_no_misfit():
    for d in (5, 40):
        for seed in range(20):
            E = symmetric_noise(d, 2.0, np.random.default_rng(seed))
            assert misfit(np.eye(d) + E, 2.0, np.eye(d)) < FITS + 3 * np.sqrt(4 / d / (d + 1))


def test_doubt_is_continuous():
    one, all_over = np.zeros((40, 40)), np.full((40, 40), 0.6)
    one[0, 0] = 40.0
    for wrong in (one, all_over):
        shares = [doubt(t * wrong, 1.0, np.zeros((40, 40))) for t in np.linspace(0, 4, 1001)]
        assert shares[0] == 0.0
        assert shares[-1] == 1.0
        assert np.diff(shares).max() < 0.2


@pytest.mark.parametrize("n", [1e8, 1e10, 1e12])
def test_as_many_rows_as_there_may_be_leave_the_density_as_it_is(n):
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 15)] * 2), axis=-1).reshape(-1, 2)
    points = np.stack(np.meshgrid(*[np.linspace(-1, 1, 5)] * 2), axis=-1).reshape(-1, 2)
    atoms = InducingFeatures(RBF(0.5), points).evaluate(grid).T
    B = n * atoms.T @ atoms / len(atoms)
    B_hat = B + symmetric_noise(25, 3.0, np.random.default_rng(0))
    sd = density_sd(B_hat, 3.0, atoms, grid, n)
    assert sd == pytest.approx(1.0, rel=0.1)
    found = density_estimate(B_hat, 3.0, atoms, grid, n, sd)
    np.testing.assert_allclose(found.B, B, atol=1e-7 * n + 12)
    # what is not known of B is its noise: Γ of a B̂ by itself is an upper bound
    alone = IsotropicEstimate(B_hat, 3.0).error_trace_matrix()
    assert np.trace(found.error_trace_matrix()) < 1.1 * np.trace(alone)
