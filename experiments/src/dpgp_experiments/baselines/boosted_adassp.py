r"""Boosted AdaSSP: a private linear function, refitted to its own clipped residuals.

Tang et al. (2023), "Improved differentially private regression via gradient boosting". The Gram
matrix and its ridge are released once; every round releases
:math:`\sum_i \phi_i\,\mathrm{clip}(r_i, \tau)/\tau` of the residuals that are left. All releases
are Gaussian and their :math:`\mu^2` add up to what (ε, δ) allows (adaptive composition: Dong, Roth
& Su 2022, corollary 3.3). Columns are standardised before, in the method's favour.

Differs from the authors' code, whose noise has size μ in every release, where
:math:`1/\mu_t` with :math:`\sum_t \mu_t^2 = \mu^2` is needed.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.linalg import solve

from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.sensitivity import gram_sensitivity
from dpgp.types import Array
from dpgp_experiments.baselines.adassp import adaptive_ridge, cross_sensitivity, symmetric_noise
from dpgp_experiments.baselines.interface import Prediction, Problem
from dpgp_experiments.baselines.standardise import standardised

# found on simulated data, the same for every task
ROUNDS = 3
CLIP = 1.5  # τ, in standard deviations of the target
GRAM, EIGENVALUE = 0.22, 0.22  # shares of μ²; the rounds have the rest


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict by a private linear function of standardised inputs; no distribution."""
    data = standardised(problem, X_test, rng)
    Phi = unit_features(data.X)
    H = _private_gram(Phi.T @ Phi, data.left, problem, rng)
    share = (1.0 - GRAM - EIGENVALUE) / ROUNDS
    noise = gaussian_sigma(cross_sensitivity(problem.neighbours), data.left * sqrt(share))
    theta = np.zeros(len(H))
    for _ in range(ROUNDS):
        residual = np.clip((data.y - Phi @ theta) / CLIP, -1.0, 1.0)
        A_hat = Phi.T @ residual + noise * rng.standard_normal(len(H))
        theta += CLIP * solve(H, A_hat, assume_a="sym")
    return data.prediction(problem, unit_features(data.X_test) @ theta)


def unit_features(Z: Array) -> Array:
    r"""Return :math:`(1, z)/\max(\|(1, z)\|, \sqrt{1 + D})`: an ordinary row has norm about one."""
    features = np.column_stack([np.ones(len(Z)), Z])
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features / np.maximum(norms, sqrt(features.shape[1])))


def _private_gram(B: Array, mu: float, problem: Problem, rng: np.random.Generator) -> Array:
    """Release B + λI with its share of μ²."""
    sigma = gaussian_sigma(gram_sensitivity(1.0, problem.neighbours), mu * sqrt(GRAM))
    ridge = adaptive_ridge(B, sigma, mu * sqrt(EIGENVALUE), problem.delta, rng)
    return B + sigma * symmetric_noise(len(B), rng) + ridge * np.eye(len(B))
