r"""AdaSSP: private linear regression by noisy sufficient statistics and an adaptive ridge.

Wang (2018), "Revisiting differentially private linear regression", algorithm 2, with two changes in
its favour: noise is calibrated in Gaussian DP, :math:`\mu/\sqrt3` for each of the three releases,
instead of by :math:`(\epsilon/3, \delta/3)`; and off-diagonal entries of the Gram matrix, which
are released once, carry :math:`\sigma/\sqrt2`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import numpy as np
from scipy.linalg import solve

from dpgp.privacy.calibration import gaussian_sigma, mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.sensitivity import bounded_sum_sensitivity, gram_sensitivity
from dpgp.types import Array
from dpgp_experiments.baselines.interface import Prediction, Problem

Features = Callable[[Array], Array]

FAILURE = 0.05  # ρ of the paper: how often the ridge may be smaller than the noise

EIGENVALUE_SENSITIVITY = 1.0
r"""Largest change of :math:`\lambda_{\min}(\sum\phi\phi^\top)` for :math:`\|\phi\| \le 1`.

When :math:`\phi` is replaced by :math:`\phi'` the matrix changes by
:math:`E = \phi'\phi'^\top - \phi\phi^\top`, whose eigenvalues are in [−1, 1]; by Weyl's inequality
so is the change of any eigenvalue. The same bound holds for one row more or less. Attained: in one
dimension by 1 for 0, in two by :math:`\{e_1, e_2\}` against :math:`\{e_1, e_1\}`.
"""


def linear_features(U: Array) -> Array:
    r"""Return :math:`(1, u)/\sqrt{1 + D}`, of norm at most one on the box [−1, 1]^D."""
    return _unit_norm(np.column_stack([np.ones(len(U)), U]))


def quadratic_features(U: Array) -> Array:
    """Return all monomials up to degree two, scaled to norm at most one on the box."""
    first, second = np.triu_indices(U.shape[1])
    return _unit_norm(np.column_stack([np.ones(len(U)), U, U[:, first] * U[:, second]]))


def _unit_norm(features: Array) -> Array:
    """Divide by √d: every monomial is at most one in size, and all are one in a corner."""
    return features / sqrt(features.shape[1])


def cross_sensitivity(neighbours: Neighbours) -> float:
    r"""Largest change of :math:`\sum_i \phi_i t_i`, :math:`\|\phi\| \le 1` and :math:`|t| \le 1`.

    A replaced row moves it by :math:`\|\phi t - \phi't'\| \le 2`, attained by
    :math:`\phi' = \phi` and :math:`t' = -t`, so also with an intercept among the features.
    """
    return bounded_sum_sensitivity(1.0, neighbours)


def fit_linear(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict by a private linear function; no distribution."""
    return _fit_predict(problem, linear_features, X_test, rng)


def fit_quadratic(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict by a private polynomial of degree two; no distribution."""
    return _fit_predict(problem, quadratic_features, X_test, rng)


def _fit_predict(
    problem: Problem, features: Features, X_test: Array, rng: np.random.Generator
) -> Prediction:
    Phi, t = features(problem.unit_inputs(problem.X)), problem.unit_targets
    theta = adassp(Phi, t, problem.epsilon, problem.delta, problem.neighbours, rng)
    mean = features(problem.unit_inputs(X_test)) @ theta
    return Prediction(problem.centre + problem.half_width * mean)


def adassp(
    Phi: Array,
    t: Array,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    rng: np.random.Generator,
) -> Array:
    r"""Return private coefficients :math:`(\hat B + \lambda I)^{-1} \hat A`.

    :math:`\lambda = \max(0, \sigma\sqrt{d\log(2d^2/\rho)} - \tilde\lambda_{\min})`: no more than
    what keeps the noisy Gram matrix :math:`\hat B` positive definite, given the private smallest
    eigenvalue, itself lowered by :math:`\sqrt{\log(6/\delta)}` of its noise.
    """
    d = Phi.shape[1]
    B = Phi.T @ Phi
    mu = mu_of_epsilon_delta(epsilon, delta) / sqrt(3.0)
    sigma = gaussian_sigma(gram_sensitivity(1.0, neighbours), mu)
    ridge = adaptive_ridge(B, sigma, mu, delta, rng)
    A_hat = Phi.T @ t + gaussian_sigma(cross_sensitivity(neighbours), mu) * rng.standard_normal(d)
    B_hat = B + sigma * symmetric_noise(d, rng)
    return np.asarray(solve(B_hat + ridge * np.eye(d), A_hat, assume_a="sym"))


def adaptive_ridge(
    B: Array, sigma: float, mu: float, delta: float, rng: np.random.Generator
) -> float:
    """Release λ with μ-GDP, for a Gram matrix B that will carry noise of size σ."""
    d, noise = len(B), gaussian_sigma(EIGENVALUE_SENSITIVITY, mu)
    lowest = float(np.linalg.eigvalsh(B)[0]) + noise * rng.standard_normal()
    lowest = max(0.0, lowest - sqrt(log(6.0 / delta)) * noise)
    return max(0.0, sigma * sqrt(d * log(2 * d**2 / FAILURE)) - lowest)


def symmetric_noise(d: int, rng: np.random.Generator) -> Array:
    """Draw a symmetric matrix that is standard Gaussian in every direction of Frobenius norm 1."""
    Z = rng.standard_normal((d, d))
    return (Z + Z.T) / 2
