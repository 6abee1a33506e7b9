import numpy as np
import pytest

from dpgp import PrivateGPRegressor
from dpgp.inference.few.gram_estimate import IsotropicEstimate
from dpgp.inference.guard import CONSTANT_SHARE, BiasPrior, EarlyMean
from dpgp.inference.posterior import Moments

SHARES = np.array([0.5, 0.3, 0.2])
"""Rows per cell, out of 900: the features are indicators, so that B is diagonal."""

GRAM = IsotropicEstimate(np.diag(900 * SHARES), 0.0)
L = np.full((3, 1), np.sqrt(CONSTANT_SHARE))
EARLY = EarlyMean(
    Moments(np.array([0.4, 0.1, -0.2]), np.diag([0.02, 0.03, 0.01]), 0.3), clip=2.0, n=900.0
)
GUARDED = Moments(np.array([0.1, 0.0, -0.3]), np.diag([0.01, 0.04, 0.02]), 0.2)


def test_a_bell_keeps_its_weights():
    assert EARLY.correct(GUARDED, GRAM, L, BiasPrior(0.0, 0.1, 0.0), 0.0) is GUARDED


@pytest.mark.parametrize("suspicion", [0.5, 1.0])
def test_it_is_the_conditional_law_of_the_weights_given_the_average(suspicion):
    found = EARLY.correct(GUARDED, GRAM, L, BiasPrior(0.0, 0.03, 0.04), suspicion)
    # the joint law of w and of what the early average is off the guarded one, written out
    shared, late = 0.2**2 / 900, SHARES @ GUARDED.V @ SHARES
    noise = (SHARES @ EARLY.moments.V @ SHARES + 0.05**2) / suspicion**2
    cross = GUARDED.V @ SHARES - shared * GUARDED.V @ SHARES / late
    joint = np.block([[GUARDED.V, cross[:, None]], [cross, late + noise - 2 * shared]])
    seen = SHARES @ (EARLY.moments.w - GUARDED.w)
    np.testing.assert_allclose(found.w, GUARDED.w + joint[:3, 3] * seen / joint[3, 3])
    precision = np.linalg.inv(joint)
    np.testing.assert_allclose(found.V, np.linalg.inv(precision[:3, :3]), rtol=1e-8)
    assert found.noise == GUARDED.noise


def test_rows_are_not_counted_twice():
    """Without privacy noise both averages have the sampling error of the same rows."""
    sampling = GUARDED.noise**2 / 900
    V = sampling * np.diag(1 / SHARES)
    early = EarlyMean(Moments(GUARDED.w, V, GUARDED.noise), 2.0, 900.0)
    guarded = Moments(GUARDED.w, V, GUARDED.noise)
    found = early.correct(guarded, GRAM, L, BiasPrior(0.0, 0.01, 0.0), 1.0)
    np.testing.assert_allclose(found.V, V, rtol=1e-10)


def test_rare_events_are_not_lost_by_clipping():
    """One in twenty, 2,000 rows, ε = 1: without the early average 0.027 of 0.05 was lost."""
    x = np.linspace(-1, 1, 50)[:, None]
    means = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 2000])
        X, y = rng.uniform(-1, 1, (2000, 1)), np.where(rng.random(2000) < 0.05, 1.0, 0.0)
        gp = PrivateGPRegressor(
            1.0, 1e-6, bounds=[(-1, 1)], target_bounds=(0, 1), random_state=seed, n_jobs=1
        ).fit(X, y)
        means.append(np.mean(gp.predict(x)))
    assert 0.03 < np.mean(means) < 0.06
