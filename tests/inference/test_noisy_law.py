import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from dpgp.inference.noisy_law import (
    Measured,
    believe,
    bent_candidates,
    even_candidates,
    mass_candidates,
)
from dpgp.inference.residual_families import skewed_candidates

EDGES = (-np.inf, -1.7, -0.8, 0.0, 0.8, 1.7, np.inf)
COUNTS, N = np.array([90.0, 480, 800, 710, 420, 100]), 2600


def formula(candidates, k, noise_std, n_std):
    """Likelihood, mean and covariance of the masses under one candidate, by dense algebra."""
    b, D_b = candidates.bins[k], np.diag(candidates.bins[k])
    signal = N**2 * candidates.spreads[k]
    noise = N * (D_b - np.outer(b, b)) + n_std**2 * np.outer(b, b) + noise_std**2 * np.eye(len(b))
    gain = signal @ np.linalg.inv(signal + noise)
    likelihood = multivariate_normal(N * b, signal + noise).logpdf(COUNTS)
    return likelihood, b + gain @ (COUNTS - N * b) / N, (signal - gain @ signal) / N**2


@pytest.mark.parametrize(("noise_std", "n_std"), [(5.0, 0.0), (60.0, 0.0), (60.0, 90.0)])
def test_conditioning_matches_the_formula(noise_std, n_std):
    candidates = skewed_candidates(EDGES)
    belief = believe(COUNTS, noise_std, N, candidates, n_std)
    best = int(np.argmax(belief.weights))
    chosen = [best, *range(0, len(belief.weights), 97)]
    expected = [formula(candidates, k, noise_std, n_std) for k in chosen]
    for k, (_, mean, covariance) in zip(chosen, expected, strict=True):
        np.testing.assert_allclose(belief.masses[k], mean, atol=1e-6)
        np.testing.assert_allclose(belief.covariances[k], covariance, atol=1e-9)
    log_weights = np.array([value for value, _, _ in expected]) + candidates.log_prior[chosen]
    np.testing.assert_allclose(
        belief.weights[chosen] / belief.weights[best],
        np.exp(log_weights - log_weights[0]),
        rtol=1e-3,
        atol=1e-12,
    )


def test_one_more_measurement_is_one_more_count():
    candidates = skewed_candidates(EDGES)
    belief = believe(COUNTS, 60.0, N, candidates)
    grid = len(candidates.places)
    inner = np.isin(candidates.places, [2, 3]).astype(float)
    counted = belief.given(Measured(inner, 1500 / N, 0.01, 1e12))
    k = int(np.argmax(belief.weights))
    h = np.array([0.0, 0, 1, 1, 0, 0])
    C, q = belief.covariances[k], belief.masses[k]
    variance = h @ C @ h + 0.01**2
    expected = q + C @ h * (1500 / N - h @ q) / variance
    np.testing.assert_allclose(counted.masses[k], expected, atol=1e-9)
    np.testing.assert_allclose(
        counted.covariances[k], C - np.outer(C @ h, C @ h) / variance, atol=1e-12
    )
    means = belief.masses[:, 2:4].sum(axis=1)
    spreads = np.sqrt([h @ C @ h + 0.01**2 for C in belief.covariances])
    weights = belief.weights * norm.pdf(1500 / N, means, spreads)
    np.testing.assert_allclose(counted.weights, weights / weights.sum(), rtol=1e-6, atol=1e-12)
    # that every row counts is known, and few rows say less than many
    nothing = belief.given(Measured(np.ones(grid), 1.0, 0.01, 1e12))
    np.testing.assert_allclose(nothing.masses[k], q, atol=1e-3)
    few = belief.given(Measured(inner, 1500 / N, 0.01, 50.0))
    assert abs(h @ (few.masses[k] - q)) < abs(h @ (counted.masses[k] - q))


def test_functionals_match_sums_over_the_grid():
    """E Σp_iv_i and Cov(Σp_iv_i, Σp_iw_i); v is zero in the first bins, w in the last."""
    candidates = skewed_candidates(EDGES)
    belief = believe(COUNTS, 60.0, N, candidates)
    v, w = np.random.default_rng(0).normal(size=(2, len(candidates.places), 3))
    v[candidates.places < 2], w[candidates.places > 3] = 0.0, 0.0
    one, other = belief.functionals(v), belief.functionals(w)
    for k in np.flatnonzero(candidates.bins.min(axis=1) > 0)[::97]:
        stretches = np.diff(candidates.cdfs[k]) / candidates.bins[k][candidates.places]
        means = np.array([stretches * (candidates.places == j) for j in range(len(COUNTS))])
        H, G = means @ v, means @ w
        np.testing.assert_allclose(belief.mean(one)[k], belief.masses[k] @ H, rtol=1e-9)
        np.testing.assert_allclose(
            belief.covariance(one, other)[k],
            np.diag(H.T @ belief.covariances[k] @ G),
            rtol=1e-6,
            atol=1e-12,
        )


def test_where_nothing_is_seen_the_law_is_the_prior():
    grid = np.linspace(-4, 4, 9)
    candidates = bent_candidates([(norm.cdf, 0.0)], np.array([-np.inf, 0.0, np.inf]), grid)
    belief = believe(np.zeros(2), 1e9, 10.0, candidates)
    np.testing.assert_allclose(belief.cdf, norm.cdf(grid), atol=1e-6)


def test_exact_counts_rule_at_the_edges_of_bins():
    edges = np.array([-np.inf, -1.0, 0.0, 1.0, np.inf])
    candidates = bent_candidates([(norm.cdf, 0.0)], edges, np.array([-1.0, 0.0, 1.0]))
    belief = believe(1e6 * np.array([0.02, 0.9, 0.05, 0.03]), 0.0, 1e6, candidates)
    np.testing.assert_allclose(belief.cdf, [0.02, 0.92, 0.97], atol=1e-3)


def test_even_masses_are_what_much_noise_leaves_and_counts_what_little_noise_does():
    family = even_candidates(np.array([0.0, 0.5, 2.0]), [np.eye(5)])
    counts = 1e4 * np.array([0.5, 0.3, 0.1, 0.1, 0.0])
    np.testing.assert_allclose(believe(counts, 1e7, 1e4, family).mean_masses, 0.2, atol=1e-5)
    exact = believe(counts, 0.0, 1e4, family).mean_masses
    np.testing.assert_allclose(exact, counts / 1e4, atol=1e-3)


def test_masses_that_differ_independently_are_shrunk_one_by_one():
    """E[q | c] = b + s²(c/n − b)/(s² + σ²/n²)."""
    b, s, n, noise = np.array([0.1, 0.6, 0.3]), np.array([0.2, 0.1, 0.3]), 1e3, 300.0
    counts = n * np.array([0.3, 0.5, 0.1])
    family = mass_candidates(b[None], np.diag(s**2)[None])
    trust = s**2 / (s**2 + (noise / n) ** 2)
    found = believe(counts, noise, n, family).masses[0]
    np.testing.assert_allclose(found, b + trust * (counts / n - b), atol=1e-6)
