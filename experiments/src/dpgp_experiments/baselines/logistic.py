r"""Logistic regression by objective perturbation (Chaudhuri, Monteleoni & Sarwate 2011, Alg. 2).

Rows :math:`z = (1, u)/\sqrt{1 + D}` of norm at most one, u the inputs scaled to [−1, 1] by their
public bounds; labels :math:`t = \pm1`. Minimises

.. math:: \frac1n\sum\log(1 + e^{-t\,w^\top z}) + \frac\Lambda2\|w\|^2 + \frac1n b^\top w

where b has a direction at random and a norm of law Gamma(d, 2/ε′). It is (ε, 0)-DP where a row is
replaced, up to the accuracy of the minimum. diffprivlib's ``LogisticRegression`` is this algorithm,
with its ``data_norm`` for the public norm; its release 0.6.6 cannot be imported beside the
scikit-learn of this comparison.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from dpgp.types import Array
from dpgp_experiments.baselines.interface import Prediction, Problem

CURVATURE = 0.25  # of the logistic loss, at most
REGULARISATION = 1.0  # nΛ, as scikit-learn and diffprivlib have it by default


class Perturbation(NamedTuple):
    """Λ, and the rate of the norm of b."""

    regularisation: float
    rate: float


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Fit labels 0 and 1, and return probabilities of 1."""
    Z, t = rows(problem, problem.X), np.where(problem.y > 0.5, 1.0, -1.0)
    chosen = perturbation(problem.epsilon, len(t))
    w = fit(Z, t, chosen, rng)
    return Prediction(expit(rows(problem, X_test) @ w))


def rows(problem: Problem, X: Array) -> Array:
    """Return (1, u)/√(1 + D)."""
    U = problem.unit_inputs(X)
    return np.asarray(np.column_stack([np.ones(len(U)), U]) / math.sqrt(1 + U.shape[1]))


def perturbation(epsilon: float, n: int) -> Perturbation:
    """Return ε′ = ε − log(1 + 2c/(nΛ) + c²/(nΛ)²), or half of ε and a larger Λ if that is none."""
    lam = REGULARISATION / n
    ratio = CURVATURE / (n * lam)
    left = epsilon - math.log(1.0 + 2.0 * ratio + ratio**2)
    if left > 0.0:
        return Perturbation(lam, left / 2.0)
    larger = CURVATURE / (n * math.expm1(epsilon / 4.0))
    return Perturbation(larger, epsilon / 4.0)


def fit(Z: Array, t: Array, chosen: Perturbation, rng: np.random.Generator) -> Array:
    """Return the minimiser of the perturbed objective."""
    n, d = Z.shape
    direction = rng.standard_normal(d)
    b = rng.gamma(d, 1.0 / chosen.rate) * direction / np.linalg.norm(direction)

    def objective(w: Array) -> tuple[float, Array]:
        margins = t * (Z @ w)
        loss = np.logaddexp(0.0, -margins).mean() + chosen.regularisation / 2 * w @ w + b @ w / n
        slope = -(t * expit(-margins)) @ Z / n + chosen.regularisation * w + b / n
        return float(loss), np.asarray(slope)

    found = minimize(objective, np.zeros(d), jac=True, method="BFGS", options={"gtol": 1e-9})
    return np.asarray(found.x)
