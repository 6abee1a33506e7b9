import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.clipping import second_moment
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.directions import gradient_metric, squared_weights, water_filled
from dpgp.inference.many.families import KernelFamily
from dpgp.inference.many.fit import Growth, MetricFit
from dpgp.inference.many.location import locate
from dpgp.inference.many.measured import MeasuredSums
from dpgp.inference.many.metric import REFERENCE, MetricFamily, kernel_of, metric_root
from dpgp.inference.many.plan import bins_of_target, target_share
from dpgp.inference.many.records import (
    Evidence,
    NormalEquations,
    Record,
    StageOperator,
    climb,
    condition,
    gram_correction,
    lower_root,
    read_records,
    thin_root,
)
from dpgp.inference.many.target import Centre, Target
from dpgp.inference.residual_law import gaussian_law
from dpgp.kernels.linear import constant, straight
from dpgp.kernels.stationary import RBF
from dpgp.outcomes import Location
from dpgp.privacy.mechanism import GramRelease
from dpgp.privacy.parts import RowPart

RNG = np.random.default_rng(0)
SYNTHETIC = RNG.uniform(-1, 1, (1024, 4))
NONE = np.zeros(1024)
FAMILY = MetricFamily(1.2 * np.eye(4), 0.8 * np.eye(4))
DICTIONARY = Dictionary(FAMILY, SYNTHETIC[:60], SYNTHETIC)


def theta(sds, length=1.0):
    return np.append(np.log(sds), np.log(length))


def prior(sds, length=1.0):
    return DICTIONARY.priors.at(theta(sds, length), 1.0)


def records_of(f, count=2, noise=0.01, seed=1):
    rng, records = np.random.default_rng(seed), []
    for _ in range(count):
        phi = rng.normal(size=(1024, 25)) / 5
        H = phi.T / len(phi)
        a = H @ f(SYNTHETIC) + noise * rng.normal(size=25)
        records.append(Record(H, a, np.full(25, noise**2), np.zeros(1024)))
    return records


def test_prior_of_the_dictionary_is_that_of_its_kernel():
    P, sds = DICTIONARY.features.projection, np.array([0.3, 0.5, 0.2, 0.4, 0.9])
    K = kernel_of(FAMILY.root, FAMILY.broad, sds)(DICTIONARY.points)
    np.testing.assert_allclose(prior(sds), P @ K @ P.T, rtol=1e-8, atol=1e-10)
    kernel, thetas = FAMILY.in_bounds(np.append(np.log(sds), np.log(1.7))[None], 1.0)
    expected = P @ kernel.clone_with_theta(thetas[0])(DICTIONARY.points) @ P.T
    np.testing.assert_allclose(prior(sds, 1.7), expected, rtol=1e-8, atol=1e-10)


def test_a_kernel_of_the_users_is_in_units_of_the_bounds():
    kernel = constant(0.2) * RBF(np.full(4, 0.9))
    family = KernelFamily.of([kernel], 4)
    dictionary = Dictionary(family, SYNTHETIC[:40], SYNTHETIC)
    P, theta = dictionary.features.projection, kernel.theta + 0.3
    expected = P @ kernel.clone_with_theta(theta)(SYNTHETIC[:40]) @ P.T / 0.5**2
    np.testing.assert_allclose(dictionary.priors.at(theta, 0.5), expected, rtol=1e-8, atol=1e-10)
    assert family.in_bounds(theta[None], 0.5)[0] is kernel


def test_stages_take_the_sum_of_several_kernels():
    kernels = [RBF(np.ones(4)), constant(1.0), straight()]
    family = KernelFamily.of(kernels, 4)
    whole = sum(np.asarray(kernel(SYNTHETIC[:9])) for kernel in kernels)
    np.testing.assert_allclose(family.kernel(SYNTHETIC[:9]), whole)
    assert [member.kernel for member in family.members] == kernels
    assert KernelFamily.of(kernels[:1], 4).members == []


def test_a_constant_is_a_function_of_the_dictionary():
    values = DICTIONARY.one @ DICTIONARY.features.evaluate(SYNTHETIC)
    np.testing.assert_allclose(values - 1.0, DICTIONARY.one_gap, atol=1e-5)
    assert np.sqrt(np.mean(DICTIONARY.one_gap**2)) < 0.02


def test_normal_equations_keep_the_digits_of_double_precision():
    # what is lost here depends on the processor, and the metric's steps amplify it
    records = records_of(lambda X: X[:, 0])
    H = np.vstack([r.operator.astype(np.longdouble) @ DICTIONARY.values for r in records]) / 0.01
    exact = H.T @ H
    J = read_records(records, DICTIONARY, NONE, NONE, 0.0).J
    assert np.abs(J - exact).max() < 1e-12 * np.abs(exact).max()
    features = DICTIONARY.features.evaluate(SYNTHETIC)
    assert np.abs(DICTIONARY.values.T - features).max() < 1e-15


def test_records_know_that_the_base_is_no_exact_constant():
    base = 0.3 * SYNTHETIC[:, 2]
    plain = read_records(records_of(lambda X: X[:, 0]), DICTIONARY, NONE, NONE, 0.0)
    f = records_of(lambda X: X[:, 0] + 0.3 * X[:, 2])
    moved = read_records(f, DICTIONARY, base, NONE, 0.0)
    np.testing.assert_allclose(moved.h, plain.h, rtol=1e-3, atol=1e-2)


def test_posterior_and_evidence_are_those_of_the_textbook():
    equations = read_records(records_of(lambda X: X[:, 0]), DICTIONARY, NONE, NONE, 0.0)
    C = prior(REFERENCE)
    V = np.linalg.inv(np.linalg.inv(C + 1e-8 * np.eye(60)) + equations.J)
    belief = condition(equations, C)
    np.testing.assert_allclose(belief.covariance, V, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(belief.mean, V @ equations.h, rtol=1e-3, atol=1e-3)


def test_evidence_differs_between_priors_as_the_density_of_the_measurements_does():
    records = records_of(lambda X: X[:, 0], noise=0.05)
    equations = read_records(records, DICTIONARY, NONE, NONE, 0.0)
    H = np.vstack([r.operator @ DICTIONARY.values for r in records]).astype(float)
    a = np.concatenate([r.a for r in records])

    def density(C):
        return multivariate_normal.logpdf(a, cov=H @ C @ H.T + 0.05**2 * np.eye(len(a)))

    settings = [(REFERENCE, 1.0), (0.4 * REFERENCE, 1.0), (REFERENCE, 2.0)]
    evidence = Evidence(equations, DICTIONARY, 1.0)
    found = [evidence(theta(*setting)) for setting in settings]
    expected = [density(prior(*setting)) for setting in settings]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), atol=0.05)


@pytest.mark.parametrize("unseen", [1e-1, 1e-4, 0.0])
def test_a_thin_root_leaves_out_what_is_unseen_and_no_more(unseen):
    factor = np.random.default_rng(3).normal(size=(30, 30)) * 10.0 ** -np.arange(30)
    J = factor @ factor.T
    R, first = thin_root(J, unseen)
    left = J - R @ R.T
    assert np.linalg.eigvalsh(left)[0] > -1e-12 * np.trace(J)
    assert np.diag(left).max() <= max(unseen, 1e-12 * np.trace(J))
    assert not np.triu(R[first], 1).any()
    assert len(first) == R.shape[1] < 30
    assert R[first[-1], -1] ** 2 > unseen  # it was worth its place


def test_evidence_hardly_changes_by_what_records_do_not_see():
    equations = read_records(records_of(lambda X: X[:, 0]), DICTIONARY, NONE, NONE, 0.0)
    J, settings = equations.J, [(REFERENCE, 1.0), (0.4 * REFERENCE, 1.0), (REFERENCE, 2.0)]
    scales = 10.0 ** -np.linspace(0.0, 5.0, len(J))  # records that say less and less
    fainter = NormalEquations(J * np.outer(scales, scales), equations.h * scales)
    R, _ = thin_root(fainter.J, FAMILY.unseen)
    assert R.shape[1] < len(J)
    found, exact = (
        np.array([evidence(theta(*setting)) for setting in settings])
        for evidence in (
            Evidence(fainter, replace(DICTIONARY, family=family), 1.0)
            for family in (FAMILY, replace(FAMILY, unseen=0.0))
        )
    )
    assert np.all(np.abs(found - exact) < 0.01)
    C, left = prior(REFERENCE), fainter.J - R @ R.T
    whole, thin = (np.linalg.slogdet(np.eye(len(K)) + K)[1] for K in (fainter.J @ C, R.T @ C @ R))
    assert 0.0 < whole - thin <= np.trace(left @ C)


def test_climbing_raises_the_evidence_and_finds_the_line():
    equations = read_records(records_of(lambda X: 2 * X[:, 0], 4), DICTIONARY, NONE, NONE, 0.0)
    evidence = Evidence(equations, DICTIONARY, 1.0)
    found, value = climb(evidence, FAMILY, FAMILY.start)
    assert value >= evidence(FAMILY.start)
    assert found[1] > FAMILY.start[1]


def test_a_record_is_read_from_any_centre_and_pays_for_the_move():
    records = records_of(lambda X: X[:, 0])
    here = read_records(records, DICTIONARY, NONE, NONE, 0.5)
    there = read_records(records, DICTIONARY, NONE, 3 * SYNTHETIC[:, 1], 0.5)
    assert np.trace(there.J) < np.trace(here.J)
    free = read_records(records, DICTIONARY, NONE, 3 * SYNTHETIC[:, 1], 0.0)
    np.testing.assert_allclose(free.J, here.J)


def test_a_gram_matrix_within_the_noise_is_not_corrected():
    B = np.diag(np.linspace(0.01, 0.1, 30))
    noise = np.random.default_rng(2).normal(size=(30, 30)) * 1e-3
    noisy = B + (noise + noise.T) / np.sqrt(2)
    np.testing.assert_array_equal(gram_correction(B, noisy, 1e-3), np.eye(30))


def test_a_direction_that_stands_out_is_corrected():
    B = 0.05 * np.eye(20)
    truth = B + 0.2 * np.outer(np.eye(20)[3], np.eye(20)[3])
    corrected = gram_correction(B, truth, 1e-4) @ B
    assert np.abs(corrected - truth).max() < 0.1 * np.abs(B - truth).max()


def test_water_goes_where_it_is_cheapest_and_adds_up_to_one():
    weights = squared_weights(np.array([0.1, 0.2, 5.0]))
    np.testing.assert_allclose(weights, [0.55, 0.45])
    assert squared_weights(np.array([100.0, 200.0])).shape == (1,)


def test_water_filled_features_have_a_mean_square_of_one():
    root = np.linalg.cholesky(prior(REFERENCE) + 1e-8 * np.eye(60)).T
    P = water_filled(root, DICTIONARY.second_moments, 1e-4, 25)
    phi = DICTIONARY.values @ P
    assert P.shape[1] <= 25
    assert np.mean(np.sum(phi**2, axis=1)) == pytest.approx(1.0, rel=1e-2)
    few = water_filled(root, DICTIONARY.second_moments, 10.0, 25)
    assert few.shape[1] < P.shape[1]


def test_the_metric_of_a_ridge_function_is_its_direction():
    a = np.array([0.8, -0.6, 0.0, 0.0])
    equations = read_records(
        records_of(lambda X: np.sin(2 * X @ a), 12, 1e-3), DICTIONARY, NONE, NONE, 0.0
    )
    metric = gradient_metric(DICTIONARY, condition(equations, prior(REFERENCE)))
    eigenvalues, Q = np.linalg.eigh(metric)
    assert eigenvalues[-1] > 5 * eigenvalues[-2]
    assert abs(Q[:, -1] @ a) > 0.97
    root = metric_root(metric)
    assert np.linalg.eigvalsh(root @ root.T)[0] >= 0.99e-3 * eigenvalues[-1]


@pytest.mark.parametrize("noise_std", [0.0, 20.0, 400.0])
def test_a_target_is_located_from_its_histogram(noise_std):
    rng = np.random.default_rng(3)
    counts = np.histogram(rng.normal(0.2, 0.15, 5000), np.linspace(-1, 1, 65))[0]
    found = locate(counts + noise_std * rng.normal(size=64), noise_std, 5000)
    assert found.centre == pytest.approx(0.2, abs=0.02 if noise_std < 100 else 0.15)
    assert found.scale == pytest.approx(0.15, rel=0.3 if noise_std < 100 else 1.5)


def test_values_that_no_bin_shows_may_be_anywhere():
    """Nine in ten at the lower bound: the tenth, unseen, makes the sd; a spike alone does not."""
    counts = np.zeros(16)
    counts[0] = 900.0
    rare = locate(counts, 60.0, 1000.0)
    assert rare.scale > 0.3
    assert rare.centre > -0.9
    counts[0] = 1000.0
    assert locate(counts, 2.0, 1000.0).scale < 0.2


@pytest.mark.parametrize("law", ["bell", "skewed", "two values"])
def test_noise_hides_the_tails_of_a_target_and_does_not_make_it_narrow(law):
    """5,000 rows at ε = 0.3: moments of the counts that stand out lose a sixth to a half."""
    n, noise_std, bins = 5000, 91.0, 32
    rng, errors = np.random.default_rng(5), []
    for _ in range(30):
        y = {
            "bell": lambda: rng.normal(-0.2, 0.2, n),
            "skewed": lambda: np.minimum(0.3 * rng.standard_exponential(n) - 1.0, 1.0),
            "two values": lambda: np.where(rng.random(n) < 0.1, 1.0, -1.0),
        }[law]()
        counts = np.histogram(y, np.linspace(-1, 1, bins + 1))[0]
        found = locate(counts + noise_std * rng.normal(size=bins), noise_std, n)
        errors.append(np.log(found.scale / y.std()))
    assert abs(np.mean(errors)) < 0.1
    assert np.std(errors) < 0.15


def test_few_bins_locate_a_target_under_much_noise():
    # 1,000 rows at ε = 0.3: 16 bins are off by 0.3 sd, 64 by 0.7
    n, signal, sd = 1000, 89.0, 0.2
    bins, noise_std = bins_of_target(signal), math.sqrt(2.0 / target_share(signal)) * n / signal
    rng, edges, errors = np.random.default_rng(4), np.linspace(-1, 1, bins + 1), []
    for centre in rng.uniform(-0.6, 0.6, 60):
        counts = np.histogram(rng.normal(centre, sd, n), edges)[0]
        found = locate(counts + noise_std * rng.normal(size=bins), noise_std, n)
        errors.append((found.centre - centre) / sd)
    assert np.sqrt(np.mean(np.square(errors))) < 0.45


def test_a_centre_that_nobody_knows_does_not_make_a_target_wide():
    # nμ = 20: the average of all laws that may be has 1.8 times the sd, and each of them 1.3 times
    n, signal, bins, edges = 100, 20.0, 16, np.linspace(-1, 1, 17)
    noise_std, errors = math.sqrt(2.0 / target_share(signal)) * n / signal, []
    rng = np.random.default_rng(7)
    for sd in np.minimum(0.25 * np.exp(0.6 * rng.normal(size=150)), 0.6):
        y = np.clip(rng.normal(0.4 * rng.normal(), sd, n), -1.0, 1.0)
        counts = np.histogram(y, edges)[0] + noise_std * rng.normal(size=bins)
        errors.append(np.log(locate(counts, noise_std, n).scale / y.std()))
    assert np.mean(errors) < 0.4


@pytest.mark.parametrize(
    ("values", "shares", "two"),
    [
        ((-1.0, 1.0), (0.8, 0.2), True),
        ((-1.0, 0.1), (0.3, 0.7), False),
        ((-1.0, -0.5, 0.0, 0.5, 1.0), (0.5, 0.2, 0.15, 0.1, 0.05), False),
        ((-1.0, -0.99), (0.5, 0.5), False),
    ],
)
@pytest.mark.parametrize("noise_std", [0.0, 30.0])
def test_two_values_are_told_from_more(values, shares, two, noise_std):
    rng, n = np.random.default_rng(6), 5000
    counts = np.histogram(rng.choice(values, n, p=shares), np.linspace(-1, 1, 33))[0]
    found = locate(counts + noise_std * rng.normal(size=32), noise_std, n)
    assert found.has_two_values == two


def measured(square, noise, n=1e5):
    return MeasuredSums(np.zeros(2), square, 0.0, noise, 1.0, n, 1.0)


@pytest.mark.parametrize("truth", [0.7, 1.0, 1.8])
def test_the_sd_of_residuals_is_read_from_clipped_squares(truth):
    square = float(second_moment(1.0, truth))
    exact, drowned = (
        measured(square, noise).residual_sd(1.0, 1.0, gaussian_law()) for noise in (1e-3, 10.0)
    )
    assert exact == pytest.approx(truth, rel=0.03)
    assert drowned == pytest.approx(1.0, rel=0.3)


def test_the_sd_of_residuals_that_were_not_clipped_is_their_own():
    """Every square of two values is one at a clip of one: as if all residuals had been clipped."""
    assert measured(1.0, 1e-3).residual_sd(1.0, 1.0, None) == pytest.approx(1.0, rel=0.01)
    assert measured(0.25, 1e-3).residual_sd(2.0, 1.5, None) == pytest.approx(1.0, rel=0.01)


def test_a_root_of_a_covariance_that_rounding_made_negative():
    direction = np.linspace(1, 2, 30)
    C = np.outer(direction, direction) - 1e-5 * np.eye(30)
    root = lower_root(C)
    np.testing.assert_allclose(root @ root.T, C, atol=1e-3)


def test_what_a_record_sees_is_computed_once_in_a_dictionary_and_anew_in_another():
    operator = np.random.default_rng(9).normal(size=(3, len(SYNTHETIC)))
    seen = DICTIONARY.seen_by(operator)
    np.testing.assert_allclose(seen, operator @ DICTIONARY.values)
    assert DICTIONARY.seen_by(operator) is seen
    other = replace(DICTIONARY, family=replace(FAMILY, root=0.5 * FAMILY.root))
    np.testing.assert_allclose(other.seen_by(operator), operator @ other.values)


def test_a_copy_of_a_target_clips_where_the_target_does():
    target = Target(Location(0.0, 0.5), 100.0, 1.0, Centre(NONE, NONE), None, FAMILY.start)
    target.clip = 3.2
    assert target.starting_in(FAMILY).clip == 3.2


def test_sampling_errors_of_a_record_are_those_of_its_gram_matrix():
    phi = np.column_stack([np.ones(1024), 1.0 + 0.3 * SYNTHETIC[:, 0]]) / 2.0
    n, square = 1000.0, 0.25
    inputs = UnitInputs(Box.from_bounds((-1, 1), 4))
    fit = MetricFit(inputs, DICTIONARY, [Location(0.0, 0.3)], n, 1.0)
    B = phi.T @ phi / len(phi)
    cross = np.array([[30.0], [40.0]])
    release = GramRelease(n * B, cross, np.array([[n * square]]), 0.1, 2.0, 0.1)
    clip = fit.targets[0].clip
    fit.take_stage(release, DICTIONARY.features, phi, 1.0, renew=False)
    (record,) = fit.targets[0].records
    # along the eigenvectors of B: sums of squares are those of the release
    assert np.sum(record.a**2) * clip**-2 >= np.sum((cross / n) ** 2)
    ratio = (record.variance[1] - record.variance[0]) / (record.variance.sum())
    privacy = (2.0 / n) ** 2
    squares = np.linalg.eigvalsh(B) * square / n
    assert ratio == pytest.approx((squares[1] - squares[0]) / (squares.sum() + 2 * privacy))


def test_small_residuals_are_believed_where_nothing_is_clipped():
    n, sd = 1000.0, 0.2
    target = Target(Location(0.0, 0.1), n, np.inf, Centre(NONE, NONE), None, FAMILY.start)
    target.forecast = sd
    square = (sd / target.clip) ** 2
    assert square < 0.01
    seen = StageOperator(np.zeros((2, 1024)), np.eye(2), np.ones(2))
    target.take(measured(square, 0.0, n), seen)
    slope = target._slope(target.tau)
    np.testing.assert_allclose(target.records[0].variance, sd**2 / n / slope**2, rtol=0.5)


def some_release(phi, n, part=None):
    B = phi.T @ phi / len(phi)
    rows = n if part is None else n * part.fraction
    cross = np.linspace(0.01, 0.05, phi.shape[1])[:, None]
    release = GramRelease(rows * B, rows * cross, np.array([[rows * 0.25]]), 0.1, 2.0, 0.1)
    return release.for_all(part)


def fit_of(phi, n, part=None, **asked):
    inputs = UnitInputs(Box.from_bounds((-1, 1), 4))
    fit = MetricFit(inputs, DICTIONARY, [Location(0.0, 0.3)], n, 1.0, **asked)
    fit.take_stage(some_release(phi, n, part), DICTIONARY.features, phi, 1.0, renew=False)
    return fit


def test_a_part_says_the_same_as_all_rows_with_the_noise_of_its_own():
    phi, n, part = SYNTHETIC[:, :2] / 2.0, 1000.0, RowPart(1, 4)
    whole, some, alone = (
        fit_of(phi, *asked).targets[0].records[0] for asked in ((n,), (n, part), (n / 4,))
    )
    np.testing.assert_allclose(some.a, whole.a, rtol=0.02)
    np.testing.assert_allclose(some.variance, alone.variance, rtol=0.02)
    assert (some.variance > 3.9 * whole.variance).all()


def test_a_dictionary_grows_after_the_early_stages():
    phi, more = SYNTHETIC[:, :2] / 2.0, SYNTHETIC[:96]
    fit = fit_of(phi, 1000.0, growth=Growth(2, more))
    assert fit.dictionary.features.dimension == 60
    fit.take_stage(some_release(phi, 1000.0), DICTIONARY.features, phi, 1.0, renew=True)
    assert fit.dictionary.features.dimension == 96
    assert len(fit.centres[0]) == 96
    assert len(fit.targets[0].records) == 2


def test_sampling_errors_of_a_part_count_once_when_all_rows_are_asked():
    phi, part = SYNTHETIC[:, :2] / 2.0, RowPart(1, 4)
    record = fit_of(phi, 1000.0, part).targets[0].records[0]
    again = record.asked_again
    np.testing.assert_allclose(again.sampling, 16 * record.sampling)
    np.testing.assert_allclose(again.variance - again.sampling, record.variance - record.sampling)
    (whole,) = fit_of(phi, 1000.0).targets[0].records
    np.testing.assert_array_equal(whole.asked_again.variance, whole.variance)


def test_rows_of_parts_count_once_as_soon_as_all_rows_are_asked():
    phi, part, more = SYNTHETIC[:, :2] / 2.0, RowPart(1, 4), SYNTHETIC[:96]
    stage = [DICTIONARY.features, phi, 1.0]
    plain, fit = (fit_of(phi, 1000.0, part, of_parts=of, growth=Growth(3, more)) for of in (0, 2))
    for each in (plain, fit):
        each.take_stage(some_release(phi, 1000.0, part), *stage, renew=False)
    expected = [record.asked_again for record in plain.targets[0].records]
    assert fit.dictionary.features.dimension == 60  # it has not grown yet
    fit.take_stage(some_release(phi, 1000.0), *stage, renew=False)
    assert fit.dictionary.features.dimension == 96
    *of_parts, of_all = fit.targets[0].records
    for record, same in zip(of_parts, expected, strict=True):
        np.testing.assert_array_equal(record.variance, same.variance)
        np.testing.assert_array_equal(record.sampling, same.sampling)
    assert of_all.fraction == 1.0


def test_products_of_the_leading_features_correct_what_they_say():
    B = np.diag([0.5, 0.4, 0.3, 0.2])
    noisy = B + np.diag([0.2, 0.0, 0.0, 0.0])
    whole = gram_correction(B, noisy, 1e-6)
    np.testing.assert_allclose(gram_correction(B, noisy[:2, :2], 1e-6), whole, atol=1e-6)
    np.testing.assert_array_equal(gram_correction(B, B[:2, :2], 1e-6), np.eye(4))
