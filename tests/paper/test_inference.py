import dataclasses
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

import reference
from dpgp.paper import dp_gp_inference
from dpgp.point_sets import regular_grid
from dpgp.privacy.calibration import mu_of_epsilon_delta
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SeededNoiseWarning
from dpgp.privacy.sensitivity import moments_sensitivity, moments_sensitivity_as_printed

KERNEL = ConstantKernel(0.8) * RBF(1.0)
Z = np.linspace(-3, 3, 7)[:, None]


def data(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def fit(X, y, **options):
    defaults = {
        "inducing_points": Z,
        "kernel": KERNEL,
        "noise_std": 0.1,
        "target_bound": 1.5,
        "epsilon": 1.0,
        "delta": 1e-5,
        "random_state": 0,
    }
    return dp_gp_inference(X, y, **(defaults | options))


def test_without_noise_and_at_the_data_it_is_the_exact_process():
    kernel, X = ConstantKernel(0.8) * RBF(0.5), np.linspace(-3, 3, 15)[:, None]
    y = np.sin(X[:, 0])
    exact = GaussianProcessRegressor(kernel, alpha=0.1**2, optimizer=None).fit(X, y)
    ours = fit(X, y, kernel=kernel, inducing_points=X, epsilon=math.inf)
    new = np.linspace(-3, 3, 50)[:, None]
    mean, std = exact.predict(new, return_std=True)
    our_mean, our_std = ours.predict(new, return_std=True)
    assert np.allclose(our_mean, mean, atol=1e-4)  # rows are rounded to a grid of 2^-20
    assert np.allclose(our_std, std, atol=1e-4)


def test_without_noise_it_is_the_sparse_posterior():
    X, y = data()
    A, B = reference.moments(KERNEL(X, Z), np.clip(y, -1.5, 1.5))
    K, Sigma = KERNEL(Z), reference.sigma_tilde(KERNEL(Z), B, 0.1, 0.0)
    ours = fit(X, y, epsilon=math.inf)
    assert np.allclose(ours.mean, K @ Sigma @ A / 0.01, atol=1e-5)
    assert np.allclose(ours.covariance, K @ Sigma @ K, atol=1e-6)


@pytest.mark.parametrize("epsilon", [math.inf, 2.0])
def test_predictions_are_those_of_the_standard_equations(epsilon):
    X, y = data()
    ours, new = fit(X, y, epsilon=epsilon), np.linspace(-4, 4, 20)[:, None]
    mean, covariance = reference.predictive(
        KERNEL(new), KERNEL(new, Z), KERNEL(Z), ours.mean, ours.covariance
    )
    assert np.allclose(ours.predict(new), mean, atol=1e-8)
    assert np.allclose(ours.predict(new, return_cov=True)[1], covariance, atol=1e-8)
    assert np.allclose(
        ours.predict(new, return_std=True, latent=False)[1],
        np.sqrt(np.diag(covariance) + 0.01),
        atol=1e-8,
    )
    density = norm.logpdf(0.3, mean, np.sqrt(np.diag(covariance) + 0.01))
    assert np.allclose(ours.log_predictive_density(new, np.full(20, 0.3)), density, atol=1e-6)


def test_samples_follow_the_posterior():
    ours, new = fit(*data()), np.linspace(-2, 2, 5)[:, None]
    draws = ours.sample(new, 40_000, random_state=1)
    mean, covariance = ours.predict(new, return_cov=True)
    assert draws.shape == (5, 40_000)
    assert np.allclose(draws.mean(axis=1), mean, atol=6 * np.sqrt(covariance.max() / 40_000))
    assert np.allclose(np.cov(draws), covariance, atol=0.05 * covariance.max())


@pytest.mark.parametrize("ratio", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_noise_is_that_of_the_analytic_mechanism(ratio, neighbours):
    ours = fit(*data(), ratio=ratio, neighbours=neighbours.value, norm_bound=1.4)
    (release,) = ours.certificate.releases
    # σ_a in the units of A, R_k R_y times that of the release
    sigma_a = 1.4 * 1.5 * release.noise_std
    sensitivity = moments_sensitivity(1.4, 1.5, ratio, neighbours)
    assert sigma_a == pytest.approx(sensitivity / mu_of_epsilon_delta(1.0, 1e-5), rel=1e-9)


def test_the_printed_sensitivity_stays_reachable():
    ours = fit(*data(), sensitivity="printed", norm_bound=0.5)
    (release,) = ours.certificate.releases
    printed = moments_sensitivity_as_printed(0.5, 1.5, 1.0) / (0.5 * 1.5)
    assert release.sensitivity == pytest.approx(printed)
    clamped = fit(*data(), norm_bound=0.5).certificate.releases[0]
    assert clamped.sensitivity < release.sensitivity


def test_noise_widens_the_posterior_and_naive_ignores_it():
    X, y = data()
    complete, printed, naive = (
        fit(X, y, covariance=terms) for terms in ("complete", "printed", "naive")
    )
    assert np.allclose(complete.mean, naive.mean)
    assert np.all(np.diag(complete.covariance) > np.diag(naive.covariance))
    assert np.trace(complete.covariance) == pytest.approx(np.trace(printed.covariance), rel=0.5)


def test_rows_are_clipped_to_a_norm_bound_that_is_too_small():
    X, y = data()
    tight = fit(X, y, norm_bound=0.1, epsilon=math.inf)
    assert np.trace(tight.covariance) > np.trace(fit(X, y, epsilon=math.inf).covariance)


def test_a_private_prior_mean_pays_for_itself():
    X, y = data(4000)
    ours = fit(X, y + 5.0, target_bound=8.0, prior_mean="coinpress", epsilon=3.0)
    assert ours.prior_mean == pytest.approx(5.0, abs=0.3)
    assert len(ours.certificate.releases) == 13
    assert ours.certificate.mu <= mu_of_epsilon_delta(3.0, 1e-5)
    assert ours.certificate.mu == pytest.approx(mu_of_epsilon_delta(3.0, 1e-5), rel=1e-9)
    shares = [release.mu**2 for release in ours.certificate.releases]
    assert sum(shares[:12]) / sum(shares) == pytest.approx(0.1, rel=1e-6)


def test_a_private_prior_mean_stays_within_the_bound():
    X, y = data(50)
    means = [
        fit(X, y, target_bound=8.0, prior_mean="coinpress", epsilon=0.05, random_state=seed)
        for seed in range(5)
    ]
    assert max(abs(model.prior_mean) for model in means) <= 8.0


def test_a_public_prior_mean_costs_nothing():
    X, y = data()
    shifted = fit(X, y + 5.0, prior_mean=5.0)
    assert len(shifted.certificate.releases) == 1
    assert np.allclose(shifted.predict(Z), fit(X, y).predict(Z) + 5.0, atol=1e-3)


def test_incomplete_rows_stay_in_the_count_and_contribute_nothing():
    X, y = data()
    holed = np.vstack([X, [[np.nan], [0.0]]]), np.append(y, [0.0, np.inf])
    assert np.allclose(fit(*holed, missing="ignore").mean, fit(X, y).mean, atol=1e-9)


def test_bounds_clip_the_rows_and_allow_unbounded_kernels():
    X, y = data()
    far = np.where(X > 2.9, 50.0, X)
    options = {"kernel": DotProduct(1.0), "bounds": (-3, 3), "epsilon": math.inf}
    clipped = fit(np.clip(far, -3, 3), y, **options)
    assert np.allclose(fit(far, y, **options).mean, clipped.mean)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_column_names_travel_with_the_model(frame):
    X, y = data()
    grid = regular_grid([-3, 0], [3, 1], (5, 2))
    table = frame({"age": X[:, 0], "height (cm)": np.zeros(len(X))})
    bounds = {"height (cm)": (0, 1), "age": (-3, 3)}
    ours = fit(table, y, inducing_points=grid, bounds=bounds)
    assert ours.feature_names == ("age", "height (cm)")
    assert np.array_equal(ours.mean, fit(table.to_numpy(), y, inducing_points=grid.points).mean)


def test_other_kernels_and_points_work():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (500, 2))
    ours = fit(X, X[:, 0], kernel=Matern(1.0), inducing_points=rng.uniform(-1, 1, (8, 2)))
    assert np.isfinite(ours.predict(X)).all()


def test_a_seed_warns_repeats_and_marks_the_result():
    X, y = data()
    with pytest.warns(SeededNoiseWarning):
        first = fit(X, y, random_state=7)
    assert np.array_equal(first.mean, fit(X, y, random_state=7).mean)
    assert first.certificate.seeded
    assert not first.certificate.is_private


def test_without_a_seed_the_result_is_private_and_different_every_time():
    X, y = data()
    first, second = fit(X, y, random_state=None), fit(X, y, random_state=None)
    assert first.certificate.is_private
    assert not np.array_equal(first.mean, second.mean)


def test_the_posterior_holds_released_values_only():
    X, y = data(50)
    ours = fit(X, y)
    raw = {float(v) for v in np.concatenate([X[:, 0], y])}
    held = [
        float(value)
        for part in (ours.update.alpha, ours.update.W, ours.mean, ours.covariance)
        for value in np.ravel(part)
    ]
    assert not raw & set(held)
    fields = {field.name for field in dataclasses.fields(ours)}
    assert fields == {
        "kernel",
        "inducing_points",
        "update",
        "noise_std",
        "prior_mean",
        "certificate",
        "feature_names",
    }
