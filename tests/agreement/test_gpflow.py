"""dpgp and GPflow say the same: SGPR where there is no noise, SVGP for any (Z, m, S)."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from dpgp.paper.posterior import ReleasedMoments, dp_update

pytestmark = pytest.mark.external


def test_update_from_exact_moments_is_compute_qu(problem, gpflow):
    K_zz, K_zx = problem.kernel(problem.Z), problem.kernel(problem.Z, problem.X)
    moments = ReleasedMoments(A_hat=K_zx @ problem.y, B_hat=K_zx @ K_zx.T, sigma_a=0.0, sigma_b=0.0)
    update = dp_update(moments, K_zz, problem.noise_std)
    theirs = gpflow("sgpr", problem)
    assert_allclose(K_zz @ update.alpha, theirs["m"], rtol=0, atol=1e-10)
    assert_allclose(K_zz @ update.W @ K_zz, theirs["S"], rtol=1e-8, atol=1e-12)


def test_without_noise_it_is_sgpr(problem, gpflow, exact_posterior, assert_agrees):
    # rows are rounded to a grid of 2⁻²⁰ without noise too: 5e-7 in m, 4e-10 in S; forgetting the
    # shrinkage that goes with it would cost 2e-6 in m
    theirs = gpflow("sgpr", problem)
    assert_allclose(exact_posterior.mean, theirs["m"], rtol=0, atol=1e-6)
    assert_allclose(exact_posterior.covariance, theirs["S"], rtol=0, atol=1e-9)
    assert_agrees(exact_posterior, theirs, mean_atol=1e-6, cov_atol=1e-9)


def test_svgp_given_our_posterior_predicts_the_same(
    problem, gpflow, noisy_posterior, assert_agrees
):
    theirs = gpflow("svgp", problem, m=noisy_posterior.mean, S=noisy_posterior.covariance)
    assert_agrees(noisy_posterior, theirs, mean_atol=1e-10, cov_atol=1e-10)
