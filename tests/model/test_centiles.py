"""Quantiles never cross, stay within the bounds, and agree with intervals and z-scores."""

import numpy as np
import pytest
from scipy.stats import norm

import dpgp
from dpgp.model.predictions import CENTILES

BOUNDS = {"bounds": (0, 1), "target_bounds": (-1, 3)}


@pytest.fixture(scope="module")
def model():
    """Skewed noise whose scale grows fourfold along the one input."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 4000)
    y = np.sin(3 * x) + 0.1 * 4**x * (rng.exponential(size=4000) - 1)
    gp = dpgp.PrivateGPRegressor(3.0, 1e-6, **BOUNDS, random_state=0, stages=3)
    return gp.fit(x[:, None], y)


X = np.linspace(0, 1, 50)[:, None]


def test_one_row_a_quantile_never_crossing_within_the_bounds(model):
    levels = np.linspace(0.001, 0.999, 21)
    quantiles = model.predict_quantile(X, levels)
    assert quantiles.shape == (21, 50)
    assert (np.diff(quantiles, axis=0) >= 0).all()
    assert quantiles.min() >= -1
    assert quantiles.max() <= 3
    assert model.predict_quantile(X).shape == (len(CENTILES), 50)
    assert model.predict_quantile(X, 0.5).shape == (1, 50)


def test_intervals_are_central(model):
    lower, upper = model.predict_interval(X, 0.9)
    np.testing.assert_array_equal([lower, upper], model.predict_quantile(X, [0.05, 0.95]))


def test_skewed_noise_has_longer_upper_tails_that_grow(model):
    low, middle, high = model.predict_quantile(X, [0.05, 0.5, 0.95])
    assert ((high - middle) > 1.5 * (middle - low)).all()
    assert high[-1] - low[-1] > 2.5 * (high[0] - low[0])
    _, std = model.predict(X, return_std=True)
    assert std[-1] > 2.5 * std[0]


def test_z_scores_undo_quantiles(model):
    levels = np.array([0.03, 0.25, 0.5, 0.9])
    scores = [model.z_score(X, row) for row in model.predict_quantile(X, levels)]
    np.testing.assert_allclose(scores, np.tile(norm.ppf(levels)[:, None], 50), atol=1e-6)
    far = model.z_score(X, np.full(50, 1e6))
    assert np.isfinite(far).all()
    assert (far > 3).all()


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, 1.5, [0.5, 2.0], [], np.nan, [[0.5]], "half"])
def test_a_quantile_outside_of_zero_and_one_is_refused(model, wrong):
    with pytest.raises((ValueError, TypeError), match="quantiles"):
        model.predict_quantile(X, wrong)


def test_targets_of_another_shape_have_no_z_score(model):
    with pytest.raises(ValueError, match="targets"):
        model.z_score(X, np.zeros((50, 2)))


def test_draws_of_observations_follow_the_quantiles(model):
    draws = model.sample_y(X, 4000, random_state=1, latent=False)
    assert draws.shape == (50, 4000)
    levels = [0.05, 0.5, 0.95]
    below = [(draws <= q[:, None]).mean() for q in model.predict_quantile(X, levels)]
    # 4,000 draws that are correlated along x
    np.testing.assert_allclose(below, levels, atol=0.02)
    assert draws.min() >= -1
    assert draws.max() <= 3


def test_covariances_of_observations_have_the_local_scale_on_the_diagonal(model):
    _, covariance = model.predict(X, return_cov=True)
    _, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std, rtol=1e-8)
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_several_targets_have_quantiles_along_the_last_axis():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, (500, 1))
    y = np.hstack([x, 1 - x]) + 0.1 * rng.standard_normal((500, 2))
    bounds = {"bounds": (0, 1), "target_bounds": [(-1, 2), (-1, 2)]}
    gp = dpgp.PrivateGPRegressor(5.0, 1e-6, **bounds, random_state=0, stages=1).fit(x, y)
    quantiles = gp.predict_quantile(x[:7], [0.1, 0.9])
    assert quantiles.shape == (2, 7, 2)
    assert gp.z_score(x[:7], y[:7]).shape == (7, 2)
    np.testing.assert_allclose(gp.z_score(x[:7], quantiles[1]), norm.ppf(0.9), atol=1e-6)
    np.testing.assert_array_equal(quantiles, gp.model_.predict_quantile(x[:7], [0.1, 0.9]))
