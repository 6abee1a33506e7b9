"""All of the inference together: against the non-private model, and where data are hopeless."""

import tracemalloc
import warnings

import numpy as np
import pytest
from simulated_stages import features_1d, model_1d, release, rows_1d
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

from dpgp import PrivateGPRegressor
from dpgp.inference.few.integral import AT_ONCE, POINTS, infer
from dpgp.inference.few.target import TargetFit
from dpgp.inference.hyperparameters import default_kernel, hyper_prior
from dpgp.model.fitted import OutsideBoundsWarning
from dpgp.planning.setting import FewRowsWarning
from dpgp.planning.unusable import UnusableRowsError
from dpgp.privacy.noise import SeededNoiseWarning
from dpgp.report.health import HealthWarning

FIXED = ConstantKernel(0.2, "fixed") * RBF(0.4, "fixed")
GRID = np.linspace(-1, 1, 41)[:, None]


def regressor(epsilon=1.0, delta=1e-5, **options):
    defaults = {"bounds": (-1, 1), "target_bounds": (-1, 1), "random_state": 0}
    return PrivateGPRegressor(epsilon, delta, **(defaults | options))


def without_noise(**options):
    return regressor(float("inf"), warp=False, calibrate=False, **options)


def sparse_gp(features, kernel, X, y, sigma):
    """Mean and variance of f at the grid, and log evidence, of y = φᵀw + N(0, σ²): naive, dense."""
    P, Z = features.projection, features.anchors
    C, phi = P @ kernel(Z) @ P.T, features.evaluate(X)
    S = phi.T @ C @ phi + sigma**2 * np.eye(len(y))
    at, a = features.evaluate(GRID), features.projection.T @ features.evaluate(GRID)
    cross = phi.T @ C @ at
    mean = cross.T @ np.linalg.solve(S, y)
    variance = np.sum(at * (C @ at), axis=0) - np.sum(cross * np.linalg.solve(S, cross), axis=0)
    missing = kernel.diag(GRID) - np.sum((2 * kernel(Z, GRID) - kernel(Z) @ a) * a, axis=0)
    log_evidence = -0.5 * (y @ np.linalg.solve(S, y) + np.linalg.slogdet(S)[1])
    return mean, variance + missing, log_evidence


def sparse_gp_over_noise(features, kernel, X, y):
    """The same with the noise integrated over its prior, on a fine grid of log σ."""
    prior = hyper_prior(kernel, 1)
    log_sigmas = np.linspace(-2.7, -1.9, 81)
    parts = [sparse_gp(features, kernel, X, y, np.exp(s)) for s in log_sigmas]
    means, variances, evidence = (np.array(column) for column in zip(*parts, strict=True))
    log_weights = evidence + prior.log_density(log_sigmas[:, None])
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ means
    noise = np.sqrt(weights @ np.exp(2 * log_sigmas))
    return mean, np.sqrt(weights @ (variances + (means - mean) ** 2)), noise


@pytest.mark.parametrize("kernel", [FIXED, FIXED + DotProduct(0.3, "fixed")])
def test_without_noise_it_is_the_sparse_gp_on_the_same_features(kernel):
    X, y = rows_1d(300)
    gp = without_noise(kernel=kernel).fit(X, y)
    mean, std = gp.predict(GRID, return_std=True, latent=True)
    expected, expected_std, noise = sparse_gp_over_noise(gp.posterior_.features, kernel, X, y)
    # rows are rounded to 2⁻²⁰ and shrunk by √d·2⁻²⁰; quadrature over σ does the rest
    np.testing.assert_allclose(mean, expected, atol=1e-3 * np.ptp(expected))
    np.testing.assert_allclose(std, expected_std, rtol=0.01)
    assert gp.posterior_.moments.noise == pytest.approx(noise, rel=0.01)


def test_without_noise_and_many_points_it_is_the_exact_gp():
    X, y = rows_1d(200)
    gp = without_noise(kernel=FIXED, inducing_points=np.linspace(-1, 1, 25)[:, None]).fit(X, y)
    sigma = gp.posterior_.moments.noise
    exact = GaussianProcessRegressor(FIXED + WhiteKernel(sigma**2, "fixed"), optimizer=None)
    exact.fit(X, y)
    mean, std = gp.predict(GRID, return_std=True)
    expected, expected_std = exact.predict(GRID, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=0.02 * np.ptp(expected))
    np.testing.assert_allclose(std, expected_std, rtol=0.03)


def test_without_noise_learned_hyperparameters_are_near_those_of_maximum_likelihood():
    X, y = rows_1d(400)
    kernel = ConstantKernel(0.1) * RBF(0.5)
    gp = without_noise(kernel=kernel).fit(X, y)
    exact = GaussianProcessRegressor(kernel + WhiteKernel(0.01), random_state=0).fit(X, y)
    assert gp.posterior_.moments.noise == pytest.approx(np.exp(exact.kernel_.theta[2] / 2), rel=0.1)
    expected = exact.predict(GRID)
    np.testing.assert_allclose(gp.predict(GRID), expected, atol=0.05 * np.ptp(expected))


def test_little_noise_approaches_no_noise():
    X, y = rows_1d(500)
    exact = without_noise(kernel=FIXED).fit(X, y).predict(GRID)
    gp = regressor(700.0, kernel=FIXED, warp=False, calibrate=False, stages=1).fit(X, y)
    np.testing.assert_allclose(gp.predict(GRID), exact, atol=0.03)


def test_sweeps_converge():
    model = model_1d(8, 0.4)
    X, y = rows_1d(1000)
    stage = release(model.features.evaluate(X), y, 8.0, np.random.default_rng(1))
    few, many = (infer(model, [stage], None, sweeps) for sweeps in (4, 12))
    sd = np.sqrt(np.diag(many.moments.V))
    np.testing.assert_allclose(few.moments.w, many.moments.w, atol=0.2 * sd.max())
    np.testing.assert_allclose(np.sqrt(np.diag(few.moments.V)), sd, rtol=0.2)


def test_the_right_kernel_is_chosen_and_a_fit_needs_a_stage():
    kernels = [ConstantKernel(0.3) * DotProduct(0.3), ConstantKernel(0.1) * RBF(0.5)]
    features, rng = features_1d(8, 0.4), np.random.default_rng(2)
    X, y = rows_1d(2000, noise=0.05)
    fit = TargetFit(features, kernels, GRID, 1.5, len(y))
    with pytest.raises(ValueError, match="stage"):
        fit.posterior()
    assert not fit.weights.any()
    assert fit.clip == 1.0
    fit.add(release(features.evaluate(X), y, 2.0, rng))
    assert fit.best == 1
    assert 0 < fit.clip < 1.0


@pytest.mark.slow
def test_stages_sharpen_the_fit():
    X, y = rows_1d(1000)
    truth = 0.4 * np.sin(3 * GRID[:, 0])
    errors = {1: [], 4: []}
    for seed in range(6):
        for stages, found in errors.items():
            gp = regressor(0.5, stages=stages, random_state=seed, calibrate=False).fit(X, y)
            found.append(np.sqrt(np.mean((gp.predict(GRID) - truth) ** 2)))
    assert np.mean(errors[4]) < 0.8 * np.mean(errors[1])


def fitted_quietly(gp, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", HealthWarning)
        for expected in (SeededNoiseWarning, FewRowsWarning, OutsideBoundsWarning):
            warnings.simplefilter("ignore", expected)
        gp.fit(X, y)
        mean, std = gp.predict(X[:20], return_std=True)
        low, high = gp.predict_interval(X[:20])
        _, latent = gp.predict(X[:20], return_std=True, latent=True)
    for values in (mean, std, low, high, latent):
        assert np.isfinite(values).all()
    assert (std > 0).all()
    # targets that are all at a bound leave no doubt
    assert (high >= low).all()
    return mean, std, latent


def prior_std(columns):
    kernel = default_kernel(columns)
    return np.sqrt(kernel.diag(np.zeros((1, columns)))[0])


def test_hopeless_noise_leaves_the_prior():
    X, y = rows_1d(50)
    mean, std, _ = fitted_quietly(regressor(0.01, 1e-6, stages=3), X, y)
    assert std.mean() > 0.7 * prior_std(1)
    assert np.abs(mean).max() < 2.0


X_200, Y_200 = rows_1d(200)
HARD = {
    "constant targets": (X_200, np.full(200, 0.3)),
    "equal inputs": (np.full((200, 1), 0.2), Y_200),
    "inputs at a corner": (np.ones((200, 1)), Y_200),
    "targets at the bounds": (X_200, np.sign(Y_200)),
    "targets at one bound": (X_200, np.ones(200)),
    "targets outside": (X_200, 100 * Y_200),
    "inputs outside": (100 * X_200, Y_200),
    "two rows": (X_200[:2], Y_200[:2]),
}


@pytest.mark.parametrize("epsilon", [0.1, 2.0, float("inf")])
@pytest.mark.parametrize("case", HARD.values(), ids=list(HARD))
def test_hard_data_are_survived(case, epsilon):
    fitted_quietly(regressor(epsilon, stages=2), *case)


@pytest.mark.parametrize("epsilon", [1.0, float("inf")])
def test_rows_that_cannot_be_used_end_the_fit(epsilon):
    X, y = np.full((100, 1), np.nan), np.zeros(100)
    with pytest.raises(UnusableRowsError, match="can be used"):
        regressor(epsilon, missing="ignore", stages=2).fit(X, y)


@pytest.mark.parametrize("columns", range(1, 7))
def test_one_to_six_inputs(columns):
    rng = np.random.default_rng(columns)
    X = rng.uniform(-1, 1, (150, columns))
    y = 0.4 * X[:, 0] + rng.normal(0, 0.1, 150)
    fitted_quietly(regressor(1.0, stages=1, calibrate=False), X, y)


@pytest.mark.parametrize("columns", [1, 4])
def test_hopeless_noise_in_more_inputs(columns):
    X = np.random.default_rng(0).uniform(-1, 1, (50, columns))
    _, _, latent = fitted_quietly(regressor(0.01, stages=2), X, np.sin(3 * X[:, 0]) / 2)
    assert latent.mean() > 0.6 * prior_std(columns)


def test_three_targets():
    X, y = rows_1d(300)
    Y = np.column_stack([y, -y, np.zeros(300)])
    bounds = [(-1, 1), (-2, 2), (-0.5, 0.5)]
    mean, std, _ = fitted_quietly(regressor(5.0, target_bounds=bounds, stages=2), X, Y)
    assert mean.shape == std.shape == (20, 3)
    assert np.corrcoef(mean[:, 0], mean[:, 1])[0, 1] < -0.5


@pytest.mark.parametrize("stages", [1, 10])
def test_one_and_ten_stages(stages):
    X, y = rows_1d(300)
    fitted_quietly(regressor(0.5, stages=stages, calibrate=False), X, y)


def test_the_same_seed_gives_the_same_fit():
    X, y = rows_1d(200)
    fits = (regressor(random_state=seed, stages=2).fit(X, y) for seed in (3, 3, 4))
    first, second, other = fits
    np.testing.assert_array_equal(first.predict(GRID), second.predict(GRID))
    assert not np.array_equal(first.predict(GRID), other.predict(GRID))


@pytest.mark.parametrize("kernel", [ConstantKernel(0.1), DotProduct(0.5), RBF(0.5) * RBF(0.2)])
def test_unusual_kernels(kernel):
    X, y = rows_1d(200)
    gp = regressor(kernel=kernel, stages=2)
    fitted_quietly(gp, X, y)
    assert np.isfinite(gp.predict(GRID, return_cov=True)[1]).all()


def prior_functions(count, seed):
    """Functions drawn from the default kernel, its hyperparameters from their prior."""
    kernel, rng = default_kernel(1), np.random.default_rng(seed)
    prior = hyper_prior(kernel, 1)
    while count:
        theta = rng.normal(prior.mean, prior.sd)
        X = rng.uniform(-1, 1, (1000, 1))
        at = np.vstack([X, GRID])
        K = kernel.clone_with_theta(theta[:-1])(at)
        values = np.linalg.cholesky(K + 1e-8 * np.eye(len(K))) @ rng.normal(size=len(K))
        y = values[:1000] + np.exp(theta[-1]) * rng.normal(size=1000)
        if np.abs(y).max() <= 1.0:  # public bounds hold
            count -= 1
            yield X, y, values[1000:]


@pytest.fixture(scope="module")
def covered():
    """Shares of the box where intervals of f hold, on average over functions of the prior."""
    found = {0.95: [], 0.5: []}
    for seed, (X, y, f) in enumerate(prior_functions(60, 0)):
        gp = regressor(random_state=seed, calibrate=False, warp=False).fit(X, y)
        for coverage, shares in found.items():
            mean, half_width = gp.posterior_.half_width(GRID, coverage)
            shares.append(np.mean(np.abs(f - mean) <= half_width))
    return {coverage: np.mean(shares) for coverage, shares in found.items()}


@pytest.mark.slow
def test_intervals_cover_functions_of_the_prior(covered):
    assert covered[0.95] > 0.9
    assert covered[0.5] > 0.4


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="the guard states the error of its wide prior: 0.76")
def test_half_of_the_intervals_of_functions_are_no_wider_than_they_need(covered):
    assert covered[0.5] < 0.75


def test_memory_does_not_grow_with_the_number_of_hyperparameters():
    d = 60
    model, (X, y) = model_1d(d, 0.1), rows_1d(500)
    stage = release(model.features.evaluate(X), y, 1.0, np.random.default_rng(0))
    tracemalloc.start()
    try:
        infer(model, [stage], None, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # a dozen batches are held at a time, not half a dozen of all 3 · POINTS matrices
    assert peak < 16 * 8 * AT_ONCE < 6 * 8 * 3 * POINTS * d**2
