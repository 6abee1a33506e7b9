import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from dpgp.inference.hyperparameters import default_kernel
from dpgp.planning.design import layouts
from dpgp.planning.forecast import (
    ExpectedStage,
    Outlook,
    Prospect,
    _moved,
    after_steps,
    expected_gram,
)
from dpgp.planning.prior_functions import (
    Functions,
    _chance_within_bounds,
    _even_points,
    plausible_functions,
)
from dpgp.planning.setting import Assumption, Setting
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.mechanism import gram_noise
from dpgp.privacy.neighbours import Neighbours
from dpgp.steps import Stage


@pytest.fixture(scope="module")
def functions():
    return plausible_functions(default_kernel(1), 1)


def after(setting, prospect, shares, kappa):
    """Forecast stages with these shares of μ²."""
    stages = [Stage(share, k, len(shares)) for k, share in enumerate(shares, start=1)]
    return after_steps(Outlook.before(setting, prospect, kappa), stages).errors()


def expected_stages(setting, prospect, shares):
    """The noise of every stage, and what is known of B after it, by hand."""
    stages, precision = [], 0.0
    for share in shares:
        noise = gram_noise(setting.mu * math.sqrt(share), 1.0, 1, setting.neighbours)
        precision += noise.feature_std**-2.0
        gram = expected_gram(setting.n, prospect, precision**-0.5)
        stages.append(ExpectedStage(noise.cross_std, gram, gram.error_trace_matrix()))
    return stages


def errors(functions, n=2000, epsilon=1.0, stages=(0.1, 0.3, 0.6), **options):
    setting = Setting(n, 1, mu_of_guarantee(epsilon, 1e-6), **options)
    prospect = Prospect(layouts(1)[0].features(1), functions)
    return after(setting, prospect, stages, 2.0)


def test_without_noise_it_is_the_posterior_of_linear_regression(functions):
    prospect = Prospect(layouts(1)[0].features(1), functions)
    forecast = after(Setting(500, 1, math.inf), prospect, (1.0,), math.inf).rmse
    for t in range(len(forecast)):
        variance = functions.noise_variances[t] + prospect.missing[t]
        C, B = prospect.C[t], 500 * prospect.M
        # (C⁻¹ + B/σ²)⁻¹ = C^{1/2}(I + C^{1/2}BC^{1/2}/σ²)⁻¹C^{1/2}
        eigenvalues, Q = np.linalg.eigh(C)
        root = Q * np.sqrt(np.maximum(eigenvalues, 0))
        V = root @ np.linalg.inv(np.eye(len(C)) + root.T @ B @ root / variance) @ root.T
        expected = np.sqrt(np.sum(prospect.M * V) + prospect.missing[t])
        assert forecast[t] == pytest.approx(expected, rel=1e-3)


def test_one_stage_adds_the_noise_of_the_release():
    kernel = ConstantKernel(0.09, "fixed") * RBF(0.5, "fixed")
    one = Functions(kernel, np.array([[math.log(0.1)]]), 1)
    setting = Setting(1000, 1, 0.5)
    prospect = Prospect(layouts(1)[2].features(1), one)
    (stage,) = expected_stages(setting, prospect, (1.0,))
    assert stage.sigma_a == pytest.approx(2 / 0.5)  # replace, s = 1: 2/μ
    C, B = prospect.C[0], 1000 * prospect.M
    Q = stage.gram.error_covariance(C) + stage.sigma_a**2 * np.eye(len(B))
    S = B @ C @ B + (0.01 + prospect.missing[0]) * B + Q
    V = C - C @ B @ np.linalg.solve(S, B @ C)
    expected = math.sqrt(np.sum(prospect.M * V) + prospect.missing[0])
    assert after(setting, prospect, (1.0,), 2.0).rmse[0] == pytest.approx(expected, 1e-6)


def test_two_stages_by_hand():
    kernel = ConstantKernel(0.09, "fixed") * RBF(0.5, "fixed")
    one = Functions(kernel, np.array([[math.log(0.1)]]), 1)
    setting, shares, kappa = Setting(1000, 1, 0.5), (0.3, 0.7), 1.5
    prospect = Prospect(layouts(1)[2].features(1), one)
    first, second = expected_stages(setting, prospect, shares)
    C, B, M = prospect.C[0], 1000 * prospect.M, prospect.M
    variance, eye = 0.01 + prospect.missing[0], np.eye(len(M))

    def left(gram, W, noise, distortion):
        Q = gram.error_covariance(W) + noise * eye
        return C - C @ B @ np.linalg.solve(B @ C @ B + (variance + distortion) * B + Q, B @ C)

    V1 = left(first.gram, C, first.sigma_a**2, 0.0)
    tau = math.sqrt(variance + np.sum(M * V1))
    assert kappa * tau < 1.0
    g = math.erf(kappa / math.sqrt(2))
    m2 = np.mean(
        np.clip(tau * norm.ppf((np.arange(1e5) + 0.5) / 1e5), -kappa * tau, kappa * tau) ** 2
    )
    noises = np.array([first.sigma_a, second.sigma_a * kappa * tau / g])
    t1, t2 = (np.trace(second.gram.error_covariance(V)) / len(M) for V in (C, V1))
    weights = np.linspace(0, 1, 2001)
    total = weights**2 * (noises[0] ** 2 + t1) + (1 - weights) ** 2 * (noises[1] ** 2 + t2)
    a = weights[np.argmin(total + 2 * weights * (1 - weights) * t2)]
    W = a**2 * C + (1 - a**2) * V1
    distortion = (1 - a) ** 2 * (m2 / g**2 - tau**2)
    V2 = left(second.gram, W, a**2 * noises[0] ** 2 + (1 - a) ** 2 * noises[1] ** 2, distortion)
    expected = math.sqrt(np.sum(M * V2) + prospect.missing[0])
    assert after(setting, prospect, shares, kappa).rmse[0] == pytest.approx(expected, 1e-3)


def test_moved_stages_share_what_was_unknown_before_the_later_one():
    rng = np.random.default_rng(0)
    before = [rng.standard_normal((3, 3)) for _ in range(3)]
    omega = np.array([0.2, 0.3, 0.5])
    naive = sum(omega[k] * omega[m] * before[max(k, m)] for k in range(3) for m in range(3))
    assert np.allclose(_moved(omega, before), naive)


def test_more_rows_and_more_budget_never_hurt(functions):
    by_epsilon = [errors(functions, epsilon=e).rmse for e in (0.1, 0.3, 1.0, 3.0, 10.0)]
    by_rows = [errors(functions, n=n).rmse for n in (300, 1000, 3000, 10_000)]
    assert np.all(np.diff(by_epsilon, axis=0) <= 1e-9)
    assert np.all(np.diff(by_rows, axis=0) <= 1e-9)


def test_stages_pay(functions):
    assert np.all(errors(functions).rmse <= errors(functions, stages=(1.0,)).rmse * 1.02)


def test_heavier_sensitivities_cost(functions):
    base = errors(functions).rmse
    assert np.all(errors(functions, rows_per_unit=3).rmse > base)
    assert np.all(errors(functions, targets=3).rmse > base)
    assert np.all(errors(functions, neighbours=Neighbours.ADD_REMOVE).rmse < base)


def test_spread_is_the_error_of_predicting_the_mean():
    rng = np.random.default_rng(0)
    kernel = ConstantKernel(0.2, "fixed") * RBF(0.7, "fixed") + ConstantKernel(0.3, "fixed")
    one = Functions(kernel, np.array([[-2.0]]), 1)
    X = np.linspace(-1, 1, 150)[:, None]
    draws = np.linalg.cholesky(kernel(X) + 1e-9 * np.eye(150)) @ rng.standard_normal((150, 4000))
    assert one.spread[0] == pytest.approx(np.mean(draws.var(axis=0)), rel=0.1)


def test_missing_is_what_no_weights_can_express():
    kernel = RBF(0.3, "fixed")
    one = Functions(kernel, np.array([[-2.0]]), 1)
    prospect = Prospect(layouts(1)[3].features(1), one)
    f = np.linalg.cholesky(one.K[0] + 1e-9 * np.eye(300)) @ np.random.default_rng(
        0
    ).standard_normal((300, 3000))
    fitted = prospect.phi.T @ np.linalg.lstsq(prospect.phi.T, f, rcond=None)[0]
    assert prospect.missing[0] == pytest.approx(np.mean((f - fitted) ** 2), rel=0.1)


def test_plausible_functions_respect_their_bounds():
    chosen = plausible_functions(default_kernel(2), 2, count=12)
    assert len(chosen.thetas) == 12
    assert np.all(np.exp(chosen.thetas[:, -1]) < 0.6)
    assert np.all(np.sqrt(chosen.mean_squares) < 1.5)


def test_functions_that_leave_the_bounds_are_implausible():
    kernel = ConstantKernel(1.0)
    sizes = np.log([[0.1**2, 0.05], [3.0**2, 0.05], [0.1**2, 2.0]])
    chances = _chance_within_bounds(Functions(kernel, sizes, 1))
    assert chances[0] > 0.99
    assert chances[1] < 0.5
    assert chances[2] < 0.01
    default = plausible_functions(default_kernel(1), 1, count=32)
    assert np.mean(_chance_within_bounds(default)) > 0.5


def test_a_known_noise_is_kept():
    chosen = plausible_functions(default_kernel(1), 1, Assumption(1.0, noise_std=0.05))
    assert np.allclose(np.exp(chosen.thetas[:, -1]), 0.05)


@pytest.mark.parametrize("dimension", [1, 4, 13])
def test_even_points_fill_every_margin(dimension):
    points = np.sort(_even_points(64, dimension), axis=0)
    even = (np.arange(64)[:, None] + 0.5) / 64
    assert np.max(np.abs(points - even)) < 0.12
