import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from simulated_stages import KERNEL, features_1d, model_1d, release, rows_1d

from dpgp.inference import clipping
from dpgp.inference.few.evidence import (
    INFLATION_RANGE,
    SHAPE_DOUBT,
    Measurement,
    _bounded_weights,
    _distances,
    combine_stages,
    condition,
    mean_square,
    prior_covariances,
    second_moment_evidence,
    stage_weights,
)
from dpgp.inference.few.gram_estimate import IsotropicEstimate, estimate_gram
from dpgp.inference.posterior import Moments

D = 6
FEATURES = features_1d(D)
RNG = np.random.default_rng(0)
THETAS = np.log([[0.09, 0.5, 0.1], [0.2, 0.3, 0.05], [0.02, 1.2, 0.3]])
MOMENTS = Moments(RNG.normal(0, 0.1, D), 0.01 * np.eye(D), 0.12)


def two_stages(sigma=5.0, clip=0.2, n=800):
    X, y = rows_1d(n)
    phi, rng = FEATURES.evaluate(X), np.random.default_rng(1)
    w0 = rng.normal(0, 0.1, D)
    return [release(phi, y, sigma, rng), release(phi, y, sigma / 2, rng, clip, w0)]


def measured(stages, positions=41):
    model = model_1d(D, positions=positions)
    gram = estimate_gram(stages, model.atoms, model.positions)
    return gram, combine_stages(stages, gram, MOMENTS)


def Q_of(measurement):
    U_inverse = np.linalg.inv(measurement.U)
    return U_inverse.T @ U_inverse


def naive_prior(theta):
    K = KERNEL.clone_with_theta(theta[:-1])(FEATURES.anchors)
    return FEATURES.projection @ K @ FEATURES.projection.T


def naive_condition(measurement, theta):
    """Posterior of w and log p(a | θ) of a = Bw + N(0, (σ² + σ_R²)B + Q), dense."""
    B, C = measurement.B, naive_prior(theta)
    N = (math.exp(2 * theta[-1]) + measurement.distortion) * B + Q_of(measurement)
    S = B @ C @ B + N
    gain = C @ B @ np.linalg.inv(S)
    log_evidence = multivariate_normal(np.zeros(len(B)), S).logpdf(measurement.a)
    return gain @ measurement.a, C - gain @ B @ C, log_evidence


def test_the_measurement_is_diagonal_in_its_coordinates():
    gram, measurement = measured(two_stages())
    U = measurement.U
    np.testing.assert_allclose(U.T @ gram.B @ U, np.diag(measurement.Lambda), atol=1e-8)
    np.testing.assert_allclose(measurement.U_inverse @ U, np.eye(D), atol=1e-8)


def test_prior_covariances_are_those_of_the_weights_of_the_anchors():
    C = prior_covariances(FEATURES, KERNEL, THETAS[:, :-1], np.eye(D))
    np.testing.assert_allclose(C, [naive_prior(theta) for theta in THETAS], atol=1e-12)
    basis = RNG.normal(size=(D, D))
    moved = prior_covariances(FEATURES, KERNEL, THETAS[:, :-1], basis)
    np.testing.assert_allclose(moved, basis @ C @ basis.T, atol=1e-10)


@pytest.mark.parametrize("positions", [11, 41])
@pytest.mark.parametrize("sigma", [1.0, 30.0])
def test_condition_matches_a_dense_implementation(positions, sigma):
    stages = two_stages(sigma)
    _, measurement = measured(stages, positions)
    ours = condition(measurement, stages, FEATURES, KERNEL, THETAS)
    U, constants = measurement.U, []
    for t, theta in enumerate(THETAS):
        w, V, log_evidence = naive_condition(measurement, theta)
        log_c, factor = naive_second_moment(measurement, stages[1:], w, V, np.exp(2 * theta[-1]))
        np.testing.assert_allclose(U @ ours.mean[t], w, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(U @ ours.covariance[t] @ U.T, factor * V, rtol=1e-4, atol=1e-7)
        constants.append(ours.log_evidence[t] - log_c - log_evidence)
    assert np.ptp(constants) < 1e-5  # log |U| and powers of 2π do not depend on θ


def test_one_stage_without_clipping_is_the_release_itself():
    stage = two_stages()[0]
    gram, measurement = measured([stage])
    np.testing.assert_allclose(measurement.a, stage.A)
    assert measurement.distortion == 0.0
    W = MOMENTS.V + np.outer(MOMENTS.w, MOMENTS.w)
    expected = gram.error_covariance(W) + stage.sigma_a**2 * np.eye(D)
    np.testing.assert_allclose(Q_of(measurement), expected, rtol=1e-6, atol=1e-6)


def test_a_clipped_stage_is_corrected_by_its_slope_and_moved_back():
    stage = two_stages()[1]
    gram, measurement = measured([stage])
    v = MOMENTS.w - stage.w0
    tau = math.sqrt(MOMENTS.noise**2 + mean_square(v, MOMENTS.V, gram, stage.n))
    g = clipping.slope(stage.clip, tau)
    np.testing.assert_allclose(measurement.a, stage.A / g + gram.B @ stage.w0)
    assert measurement.distortion == pytest.approx(clipping.distortion(stage.clip, tau))
    expected = gram.error_covariance(MOMENTS.V + np.outer(v, v))
    expected += (stage.sigma_a / g) ** 2 * np.eye(D)
    np.testing.assert_allclose(Q_of(measurement), expected, rtol=1e-6, atol=1e-6)


def test_mean_square_is_the_average_over_rows():
    X, _ = rows_1d(50)
    phi = FEATURES.evaluate(X)
    gram, rng = IsotropicEstimate(phi @ phi.T, 0.0), np.random.default_rng(2)
    draws = rng.multivariate_normal(MOMENTS.w, MOMENTS.V, 50_000)
    expected = np.mean((draws @ phi) ** 2)
    assert mean_square(MOMENTS.w, MOMENTS.V, gram, 50.0) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("sigma", [1.0, 30.0])
def test_no_other_convex_combination_of_stages_has_less_noise(sigma):
    stages = [*two_stages(sigma), two_stages(sigma / 3, clip=0.4)[1]]
    gram, measurement = measured(stages)
    total = np.trace(Q_of(measurement))

    def noise(omega):
        moved = np.stack([MOMENTS.w - stage.w0 for stage in stages])
        own = 0.0
        for weight, stage, v in zip(omega, stages, moved, strict=True):
            tau = math.sqrt(MOMENTS.noise**2 + mean_square(v, MOMENTS.V, gram, stage.n))
            g = 1.0 if stage.is_unclipped else clipping.slope(stage.clip, tau)
            own += (weight * stage.sigma_a / g) ** 2
        v = omega @ moved
        return np.trace(gram.error_covariance(MOMENTS.V + np.outer(v, v))) + D * own

    for omega in [*np.eye(3), *np.random.default_rng(3).dirichlet(np.ones(3), 200)]:
        assert total <= noise(omega) * (1 + 1e-3)


def naive_second_moment(measurement, stages, w, V, sigma2):
    """log N(c; n·m₂, …) and E[q | c]/E[q] for the last stage's q, written out."""
    n, B, K = stages[-1].n, measurement.B, len(stages)
    mean, covariance = np.zeros(K), np.zeros((K, K))
    sampling, spread = np.zeros(K), np.zeros(K)
    for k, stage in enumerate(stages):
        v = w - stage.w0
        q = v @ B @ v + np.trace(B @ V)
        q_variance = 2 * np.trace(B @ V @ B @ V) + 4 * v @ B @ V @ B @ v
        tau = math.sqrt(sigma2 + q / n)
        m2, m4 = (f(stage.clip, tau) for f in (clipping.second_moment, clipping.fourth_moment))
        mean[k] = n * m2
        sampling[k] = math.sqrt(n * (m4 - m2**2))
        spread[k] = clipping.second_moment_slope(stage.clip, tau) * math.sqrt(q_variance)
        covariance[k, k] = stage.sigma_c**2 + (SHAPE_DOUBT * n * m2) ** 2 * (k < K - 1)
    covariance += np.outer(sampling, sampling) + np.outer(spread, spread)
    c = np.array([stage.c for stage in stages])
    # Cov(q, c) = sd(q)·spread
    q_given_c = q + math.sqrt(q_variance) * spread @ np.linalg.solve(covariance, c - mean)
    factor = np.clip(q_given_c / q, *INFLATION_RANGE)
    return multivariate_normal(mean, covariance).logpdf(c), factor


def second_moment_at(measurement, stages, w, V, sigma2):
    inverse = measurement.U_inverse
    V = (inverse @ V @ inverse.T)[None]
    values = second_moment_evidence(measurement, stages, (inverse @ w)[None], V, np.array([sigma2]))
    return tuple(float(value[0]) for value in values)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_second_moment_evidence_matches_a_loop(count):
    clips = [0.5, 0.3, 0.15][:count]
    stages = [two_stages(clip=clip)[1] for clip in clips]
    _, measurement = measured(stages)
    rng, differences = np.random.default_rng(7), []
    for sigma in (0.05, 0.1, 0.3):
        w, root = rng.normal(0, 0.2, D), rng.normal(0, 0.05, (D, D))
        arguments = measurement, stages, w, root @ root.T, sigma**2
        ours, factor = second_moment_at(*arguments)
        expected, expected_factor = naive_second_moment(*arguments)
        differences.append(ours - expected)
        assert factor == pytest.approx(expected_factor, rel=1e-6)
    assert np.ptp(differences) < 1e-6  # powers of 2π


def test_the_second_moment_of_an_unclipped_stage_counts_only_alone():
    unclipped, clipped = two_stages()
    _, measurement = measured([unclipped, clipped])
    w, V = MOMENTS.w, MOMENTS.V
    both = second_moment_at(measurement, [unclipped, clipped], w, V, 0.01)
    assert both == second_moment_at(measurement, [clipped], w, V, 0.01)
    assert both != second_moment_at(measurement, [unclipped], w, V, 0.01)


def test_the_noise_is_found_in_the_second_moment():
    X, y = rows_1d(2000, noise=0.1)
    phi = FEATURES.evaluate(X)
    w = np.linalg.lstsq(phi.T, y, rcond=None)[0]
    stage = release(phi, y, 1.0, np.random.default_rng(4), clip=0.15, w0=w)
    _, measurement = measured([stage])
    sigmas = np.linspace(0.05, 0.2, 61)
    nothing = np.zeros((D, D))
    values = [second_moment_at(measurement, [stage], w, nothing, sigma**2)[0] for sigma in sigmas]
    assert sigmas[np.argmax(values)] == pytest.approx(0.1, abs=0.01)


def test_without_noise_the_evidence_is_that_of_all_rows():
    X, y = rows_1d(300)
    phi = FEATURES.evaluate(X)
    stage = release(phi, y, 0.0, np.random.default_rng(5))
    gram = estimate_gram([stage], None, None)
    measurement = combine_stages([stage], gram, MOMENTS)
    ours = condition(measurement, [stage], FEATURES, KERNEL, THETAS)
    constants = []
    for t, theta in enumerate(THETAS):
        C, sigma2 = naive_prior(theta), math.exp(2 * theta[-1])
        S = phi.T @ C @ phi + sigma2 * np.eye(len(y))
        constants.append(ours.log_evidence[t] - multivariate_normal(np.zeros(len(y)), S).logpdf(y))
        V = np.linalg.inv(np.linalg.inv(C) + phi @ phi.T / sigma2)
        np.testing.assert_allclose(
            phi.T @ measurement.U @ ours.mean[t], phi.T @ V @ phi @ y / sigma2, atol=1e-6
        )
    assert np.ptp(constants) < 1e-3


def test_moments_of_a_quadratic_form_are_right():
    rng, stages = np.random.default_rng(6), two_stages()[1:]
    _, measurement = measured(stages)
    w, root = rng.normal(0, 0.1, D), rng.normal(0, 0.03, (D, D))
    V = root @ root.T
    draws = rng.multivariate_normal(w - stages[0].w0, V, 200_000)
    q = np.einsum("ti,ij,tj->t", draws, measurement.B, draws)
    inverse = measurement.U_inverse
    mean, sd = _distances(measurement, stages, (inverse @ w)[None], (inverse @ V @ inverse.T)[None])
    assert mean[0, 0] == pytest.approx(q.mean(), rel=0.01)
    assert sd[0, 0] == pytest.approx(q.std(), rel=0.02)


def test_posterior_is_a_covariance_even_where_the_measurement_is_blind():
    B = np.zeros((D, D))
    B[0, 0] = 1e-9
    Q = np.eye(D)
    measurement = Measurement(np.zeros(D), B, 0.0, Q, np.array([1e-9, 0, 0, 0, 0, 0]))
    stage = two_stages()[0]
    ours = condition(measurement, [stage], FEATURES, KERNEL, THETAS)
    for t, theta in enumerate(THETAS):
        C = naive_prior(theta)
        factor = ours.covariance[t, 0, 0] / C[0, 0]  # the second moment still speaks
        np.testing.assert_allclose(ours.covariance[t], factor * C, atol=1e-8)


@pytest.mark.parametrize("shared", [0.2, 1.2], ids=["nothing is negative", "the bound matters"])
def test_weights_of_stages_are_the_best_that_are_not_negative(shared):
    S = np.array([[2.0, 0.0, shared], [0.0, 2.0, 0.2], [shared, 0.2, 1.0]])
    assert (np.linalg.solve(S, np.ones(3)).min() < 0.0) == (shared > 1.0)
    omega, bounded = stage_weights(S), _bounded_weights(S)
    np.testing.assert_allclose(omega, bounded, atol=1e-6)
    rivals = np.random.default_rng(0).dirichlet(np.ones(3), 2000)
    assert omega @ S @ omega <= np.einsum("ti,ij,tj->t", rivals, S, rivals).min() + 1e-9
