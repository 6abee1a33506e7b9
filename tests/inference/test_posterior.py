import numpy as np
import pytest
from scipy.stats import norm
from simulated_stages import KERNEL, features_1d
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from dpgp.features.combined import GridFeatures
from dpgp.features.inducing import InducingFeatures
from dpgp.features.linear import LinearFeatures
from dpgp.inference.few.beliefs import collapse, mixed, relative_spread
from dpgp.inference.few.evidence import Conditional, Measurement
from dpgp.inference.hyperparameters import WeightedPoints, default_kernel, thin
from dpgp.inference.many.metric import MetricFamily
from dpgp.inference.posterior import Moments, Posterior, mixture_half_width
from dpgp.point_sets import regular_grid

RNG = np.random.default_rng(0)
U = np.linspace(-1, 1, 33)[:, None]


def posterior(features, kernel, thetas, V=None, spreads=None):
    d = features.dimension
    root = np.random.default_rng(1).normal(0, 0.1, (d, d))
    moments = Moments(np.arange(d) / d, root @ root.T if V is None else V, 0.2)
    thetas = np.asarray(thetas, dtype=float)
    spreads = np.ones(len(thetas)) if spreads is None else spreads
    return Posterior(features, kernel, moments, thetas, spreads, 0.0)


def points_and_conditional(T=5, d=3):
    weights = RNG.dirichlet(np.ones(T))
    thetas = RNG.normal(size=(T, 2))
    roots = RNG.normal(size=(T, d, d))
    covariances = roots @ np.swapaxes(roots, 1, 2)
    conditional = Conditional(RNG.normal(size=(T, d)), covariances, np.zeros(T))
    basis = RNG.normal(size=(d, d))
    measurement = Measurement(np.zeros(d), np.eye(d), 0.0, basis, RNG.uniform(1, 2, d))
    return WeightedPoints(thetas, weights, 0.0), conditional, measurement


def test_collapse_has_the_moments_of_the_mixture():
    points, conditional, measurement = points_and_conditional()
    moments = collapse(points, mixed(points, [conditional]), measurement)
    parts = zip(points.weights * 400_000, conditional.mean, conditional.covariance, strict=True)
    rng = np.random.default_rng(2)
    draws = [rng.multivariate_normal(m, V, round(count)) for count, m, V in parts]
    samples = np.vstack(draws) @ measurement.U.T
    scale = np.sqrt(np.abs(moments.V).max())
    np.testing.assert_allclose(moments.w, samples.mean(axis=0), atol=0.02 * scale)
    np.testing.assert_allclose(moments.V, np.cov(samples.T), atol=0.02 * scale**2)
    mean_square = points.weights @ np.exp(2 * points.thetas[:, -1])
    assert moments.noise == pytest.approx(np.sqrt(mean_square))


def test_a_mixture_is_the_same_however_many_thetas_come_at_a_time():
    points, whole, _ = points_and_conditional()
    mean, covariance, evidence = whole.mean, whole.covariance, whole.log_evidence
    parts = [Conditional(mean[k], covariance[k], evidence[k]) for k in (slice(2), slice(2, 5))]
    whole, cut = mixed(points, [whole]), mixed(points, parts)
    np.testing.assert_allclose(cut.covariance, whole.covariance, rtol=1e-14)
    np.testing.assert_array_equal(cut.mean, whole.mean)
    np.testing.assert_array_equal(cut.variances, whole.variances)


def test_relative_spread_averages_to_one_and_follows_the_variance():
    points, conditional, measurement = points_and_conditional()
    spread = relative_spread(points, mixed(points, [conditional]), measurement)
    assert points.weights @ spread == pytest.approx(1.0)
    same_mean = Conditional(np.zeros((2, 3)), np.stack([np.eye(3), 4 * np.eye(3)]), np.zeros(2))
    two = WeightedPoints(np.zeros((2, 2)), np.array([0.5, 0.5]), 0.0)
    first, second = relative_spread(two, mixed(two, [same_mean]), measurement)
    assert second == pytest.approx(4 * first)


def test_thinning_keeps_the_distribution_of_the_noise():
    rng = np.random.default_rng(3)
    thetas = rng.normal(size=(500, 2))
    weights = np.exp(-((thetas[:, -1] - 0.7) ** 2) / 0.3)
    points = WeightedPoints(thetas, weights / weights.sum(), 0.0)
    kept = thetas[thin(points, 64), -1]
    mean = points.weights @ thetas[:, -1]
    sd = np.sqrt(points.weights @ (thetas[:, -1] - mean) ** 2)
    assert kept.mean() == pytest.approx(mean, abs=0.02)
    assert kept.std() == pytest.approx(sd, rel=0.05)


def test_thinning_a_single_heavy_point_repeats_it():
    points = WeightedPoints(np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 0.0]), 0.0)
    assert (thin(points, 8) == 1).all()


FAMILIES = {
    "inducing": InducingFeatures(RBF(0.4), np.linspace(-1, 1, 5)[:, None]),
    "grid": GridFeatures.of([RBF(0.4)], regular_grid([-1], [1], 6)),
    "linear": LinearFeatures(1),
}


@pytest.mark.parametrize("features", FAMILIES.values(), ids=list(FAMILIES))
@pytest.mark.parametrize("kernel", [RBF(0.3), Matern(0.3, nu=0.5), default_kernel(1)])
def test_the_missing_variance_is_never_negative(features, kernel):
    thetas = np.random.default_rng(4).normal(0, 1.5, (20, kernel.n_dims + 1))
    X = np.random.default_rng(5).uniform(-1, 1, (40, 1))
    for theta in thetas:
        fitted = posterior(features, kernel, theta[None])
        assert (fitted.missing_variance(X) >= 0.0).all()
        largest = kernel.clone_with_theta(theta[:-1]).diag(X).max()
        assert np.linalg.eigvalsh(fitted.missing_covariance(X)).min() > -1e-8 * largest


def test_at_the_reference_kernel_it_is_the_schur_complement():
    features = features_1d(5, 0.4)
    fitted = posterior(features, RBF(0.4), [[np.log(0.4), 0.0]])
    Z = features.anchors
    K_zz, K_zx = RBF(0.4)(Z), RBF(0.4)(Z, U)
    schur = 1 - np.sum(K_zx * np.linalg.solve(K_zz, K_zx), axis=0)
    np.testing.assert_allclose(fitted.missing_variance(U), schur, atol=1e-4)  # up to the jitter


def test_with_prior_weights_the_reference_kernel_predicts_its_prior():
    features = features_1d(5, 0.4)
    P, Z = features.projection, features.anchors
    fitted = posterior(features, RBF(0.4), [[np.log(0.4), 0.0]], V=P @ RBF(0.4)(Z) @ P.T)
    np.testing.assert_allclose(fitted.covariance(U), RBF(0.4)(U), atol=1e-3)


@pytest.mark.parametrize("kernel", [KERNEL, default_kernel(1)])
def test_the_covariance_has_the_predicted_variances_on_its_diagonal(kernel):
    thetas = np.random.default_rng(6).normal(-1, 0.5, (4, kernel.n_dims + 1))
    fitted = posterior(features_1d(5, 0.4), kernel, thetas)
    _, latent = fitted.predict(U, latent=True)
    _, observed = fitted.predict(U)
    covariance = fitted.covariance(U)
    np.testing.assert_allclose(np.diag(covariance), latent**2, rtol=1e-9)
    np.testing.assert_allclose(observed**2 - latent**2, fitted.moments.noise**2, rtol=1e-9)
    assert np.linalg.eigvalsh(covariance).min() > -1e-10


def test_the_missing_part_is_averaged_over_theta():
    features = features_1d(5, 0.4)
    thetas = np.log([[0.2, 0.3, 0.1], [0.1, 0.8, 0.1]])
    parts = [posterior(features, KERNEL, [theta]).missing_variance(U) for theta in thetas]
    both = posterior(features, KERNEL, thetas).missing_variance(U)
    np.testing.assert_allclose(both, np.mean(parts, axis=0), atol=1e-12)


def test_a_constant_kernel_works():
    fitted = posterior(features_1d(4, 0.5), ConstantKernel(0.3), [[-1.0, -2.0]])
    assert np.isfinite(fitted.predict(U)[1]).all()
    assert np.isfinite(fitted.covariance(U)).all()


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95, 0.999])
def test_half_width_of_a_mixture(coverage):
    scales = np.random.default_rng(7).uniform(0.1, 3.0, (4, 9))
    h = mixture_half_width(scales, coverage)
    inside = 2 * norm.cdf(h[:, None] / scales) - 1
    np.testing.assert_allclose(inside.mean(axis=1), coverage, atol=1e-8)


def test_half_width_of_one_gaussian_is_its_quantile():
    fitted = posterior(features_1d(5, 0.4), KERNEL, np.log([[0.2, 0.3, 0.1]]))
    mean, half_width = fitted.half_width(U, 0.95)
    expected, sd = fitted.predict(U, latent=True)
    np.testing.assert_array_equal(mean, expected)
    np.testing.assert_allclose(half_width, norm.ppf(0.975) * sd, rtol=1e-6)


def test_unequal_spreads_widen_far_intervals_and_narrow_near_ones():
    thetas = np.tile(np.log([0.2, 0.3, 0.1]), (2, 1))
    equal = posterior(features_1d(5, 0.4), KERNEL, thetas)
    unequal = posterior(features_1d(5, 0.4), KERNEL, thetas, spreads=np.array([0.1, 5.0]))
    assert (unequal.half_width(U, 0.99)[1] > equal.half_width(U, 0.99)[1]).all()
    assert (unequal.half_width(U, 0.5)[1] < equal.half_width(U, 0.5)[1]).all()


@pytest.mark.parametrize("count", [8, 32])
def test_thinning_equal_weights_is_not_left_to_rounding(count):
    thetas, rng = np.zeros((256, 1)), np.random.default_rng(0)
    weights = (1 + 1e-14 * rng.standard_normal((20, 256))) / 256
    chosen = {tuple(thin(WeightedPoints(thetas, row, 0.0), count)) for row in weights}
    assert len(chosen) == 1


def test_a_point_has_the_same_numbers_at_any_place_of_a_large_block():
    rng = np.random.default_rng(5)
    family = MetricFamily(rng.normal(size=(8, 8)) / 3, np.eye(8))
    features = InducingFeatures(family.reference, rng.uniform(-1, 1, (608, 8)))
    kernel, thetas = family.in_bounds(family.start + 0.3 * rng.normal(size=(5, 6)), 1.0)
    thetas = np.column_stack([thetas, np.full(5, -1.0)])
    model = posterior(features, kernel, thetas, V=0.01 * np.eye(608))
    for point in rng.uniform(-1, 1, (6, 8)):
        for numbers in model.predict(np.tile(point, (4096, 1))):
            assert len(np.unique(numbers)) == 1
