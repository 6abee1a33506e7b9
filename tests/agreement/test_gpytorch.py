"""A variational GP of GPyTorch given our (Z, m, S) predicts what dpgp predicts."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.external


def test_variational_gp_given_our_posterior_predicts_the_same(
    problem, gpytorch, noisy_posterior, assert_agrees
):
    theirs = gpytorch("svgp", problem, m=noisy_posterior.mean, S=noisy_posterior.covariance)
    assert_agrees(noisy_posterior, theirs, mean_atol=1e-10, cov_atol=1e-10)
