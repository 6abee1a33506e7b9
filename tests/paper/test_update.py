import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

import reference
from dpgp.paper.posterior import (
    ReleasedMoments,
    dp_update,
    noise_of_B_complete,
    noise_of_B_printed,
    regularisation,
    regularised_inverse,
)

SIGMA = 0.2


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Z, X = np.linspace(-2, 2, 6)[:, None], rng.uniform(-2, 2, (80, 1))
    k_rows, y = RBF(1.0)(X, Z), np.sin(X[:, 0]) + SIGMA * rng.normal(size=80)
    A, B = reference.moments(k_rows, y)
    A, E = A + 3.0 * rng.normal(size=6), np.triu(2.0 * rng.normal(size=(6, 6)))
    return RBF(1.0)(Z), ReleasedMoments(A, B + E + E.T, sigma_a=3.0, sigma_b=2.0)


@pytest.mark.parametrize("covariance", ["naive", "printed"])
def test_the_update_equals_the_paper(problem, covariance):
    K, moments = problem
    lam = reference.regularisation(6, moments.sigma_b, SIGMA, 0.01)
    Sigma = reference.sigma_tilde(K, moments.B_hat, SIGMA, lam)
    S = K @ Sigma @ K
    if covariance == "printed":
        S = S + reference.noise_of_A(K, Sigma, moments.sigma_a, SIGMA)
        S = S + reference.noise_of_B(K, Sigma, moments.A_hat, moments.sigma_b, SIGMA)
    update = dp_update(moments, K, SIGMA, covariance=covariance)
    assert np.allclose(K @ update.alpha, SIGMA**-2 * K @ Sigma @ moments.A_hat, rtol=1e-9)
    assert np.allclose(K @ update.W @ K, S, rtol=1e-9)


def test_the_printed_double_sum_has_a_closed_form(problem):
    K, moments = problem
    Sigma = regularised_inverse(K + moments.B_hat / SIGMA**2, 100.0)
    v = Sigma @ moments.A_hat
    closed = K @ noise_of_B_printed(Sigma, v, moments.sigma_b, SIGMA) @ K
    double_sum = reference.noise_of_B(K, Sigma, moments.A_hat, moments.sigma_b, SIGMA)
    assert np.allclose(closed, double_sum, rtol=1e-10)


def test_the_complete_covariance_is_that_of_symmetric_noise(problem):
    K, moments = problem
    Sigma = regularised_inverse(K + moments.B_hat / SIGMA**2, 100.0)
    v, rng = Sigma @ moments.A_hat, np.random.default_rng(1)
    # m moves by −σ⁻⁴ K Σ̃ E v for a small symmetric E
    upper = np.triu(rng.normal(size=(200_000, 6, 6)) / np.sqrt(2), 1)
    E = upper + np.swapaxes(upper, 1, 2)
    E[:, range(6), range(6)] = rng.normal(size=(200_000, 6))
    moved = -(SIGMA**-4) * moments.sigma_b * (E @ v) @ Sigma
    simulated = np.cov(moved.T)
    complete = noise_of_B_complete(Sigma, v, moments.sigma_b, SIGMA)
    printed = noise_of_B_printed(Sigma, v, moments.sigma_b, SIGMA)
    error = np.linalg.norm(simulated - complete)
    assert error < 0.01 * np.linalg.norm(complete)
    assert error < 0.1 * np.linalg.norm(simulated - printed)


def test_lambda_is_that_of_the_paper():
    assert regularisation(9, 4.0, 0.1, 0.01) == reference.regularisation(9, 4.0, 0.1, 0.01)


def test_lambda_is_raised_until_the_matrix_is_positive_definite():
    matrix = np.diag([1.0, -50.0])
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(matrix + 3.0 * np.eye(2))
    inverse = regularised_inverse(matrix, 3.0)
    assert np.linalg.eigvalsh(inverse).min() > 0
    assert np.allclose(np.linalg.inv(inverse) - matrix, 96.0 * np.eye(2))


def test_lambda_is_left_alone_where_it_suffices():
    assert np.allclose(regularised_inverse(np.diag([1.0, 2.0]), 1.0), np.diag([1 / 2, 1 / 3]))


def test_a_matrix_without_noise_is_inverted_as_it_is():
    assert np.allclose(regularised_inverse(np.diag([1.0, 2.0]), 0.0), np.diag([1.0, 0.5]))


def test_at_the_data_and_without_noise_it_is_the_exact_process():
    kernel, X = RBF(0.5), np.linspace(-3, 3, 15)[:, None]
    y, new = np.sin(X[:, 0]), np.linspace(-3, 3, 40)[:, None]
    A, B = reference.moments(kernel(X), y)
    update = dp_update(ReleasedMoments(A, B, 0.0, 0.0), kernel(X), SIGMA)
    exact = GaussianProcessRegressor(kernel, alpha=SIGMA**2, optimizer=None).fit(X, y)
    mean, covariance = exact.predict(new, return_cov=True)
    cross = kernel(new, X)
    ours = kernel(new) - cross @ (np.linalg.inv(kernel(X)) - update.W) @ cross.T
    assert np.allclose(cross @ update.alpha, mean, atol=1e-9)
    assert np.allclose(ours, covariance, atol=1e-9)
