import numpy as np
import pytest
from simulated_stages import features_1d, model_1d, release, rows_1d

from dpgp.features.linear import LinearFeatures
from dpgp.inference.clip_choice import ClipInterval, beyond_interval
from dpgp.inference.few.evidence import combine_stages
from dpgp.inference.few.gram_estimate import IsotropicEstimate, estimate_gram
from dpgp.inference.few.integral import infer
from dpgp.inference.guard import CONSTANT_SHARE, BiasPrior, _uneven, apply_guard, embed
from dpgp.inference.posterior import Moments
from dpgp.inference.residual_law import gaussian_law
from dpgp.inference.stage import StageRelease

SIMPLE = LinearFeatures(1, CONSTANT_SHARE)
KAPPA = 1.0
NO_BIAS = BiasPrior(0.0, 0.0, 0.0)
BIAS = BiasPrior(0.0, 0.04, 0.0)
UNEVEN = BiasPrior(0.0, 0.04, 0.02)


def guarded_fit(noise_of, n=4000, seed=0, sigma=2.0, scale=0.1):
    """Fit two stages, the second clipped hard, and the guard; return the fit before and after."""
    model, rng = model_1d(8, 0.4), np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    f = 0.4 * np.sin(3 * X[:, 0])
    y = f + scale * noise_of(rng, n)
    phi = model.features.evaluate(X)
    stages = [release(phi, y, sigma, rng)]
    state = infer(model, stages, None, 4)
    clip = KAPPA * np.sqrt(state.moments.noise**2 + np.sum(state.gram.B * state.moments.V) / n)
    stages.append(release(phi, y, sigma, rng, clip, state.moments.w))
    state = infer(model, stages, state, 2)
    r = np.clip(y - state.moments.w @ phi, -5 * scale, 5 * scale)
    simple = SIMPLE.evaluate(X)
    guard = StageRelease(
        A=simple @ r + rng.normal(0, sigma * 5 * scale, 2),
        B=simple @ simple.T,
        c=float(r @ r + rng.normal(0, sigma * 25 * scale**2)),
        sigma_a=sigma * 5 * scale,
        sigma_b=sigma,
        sigma_c=sigma * 25 * scale**2,
        clip=5 * scale,
        w0=state.moments.w,
        n=float(n),
    )
    measurement = combine_stages(stages, state.gram, state.moments)
    noise, widest = state.moments.noise, ClipInterval(2.0, 2.0)
    bias = BiasPrior.at(gaussian_law(), stages[-1].clip, noise)
    beyond = beyond_interval(gaussian_law(), noise, guard.interval, widest)
    after = apply_guard(
        guard,
        measurement,
        state.gram,
        state.moments,
        model.guard_embedding,
        bias=bias,
        beyond=beyond,
        odds=gaussian_law().odds,
    )
    errors = [np.mean(w @ phi - f) for w in (state.moments.w, after.w)]
    return errors, state, after


def gaussian(rng, n):
    return rng.normal(size=n)


def exponential(rng, n):
    return rng.exponential(size=n) - 1.0


def test_symmetric_noise_is_left_nearly_alone():
    results = [guarded_fit(gaussian, seed=seed) for seed in range(12)]
    errors = np.array([errors for errors, _, _ in results])
    sd = np.std(errors[:, 0]) + 1e-4
    assert abs(errors[:, 1].mean()) < 4 * sd / np.sqrt(len(errors)) + 5e-4
    # the guard costs little accuracy
    assert np.sqrt(np.mean(errors[:, 1] ** 2)) < 1.5 * np.sqrt(np.mean(errors[:, 0] ** 2)) + 1e-3


def test_skewed_noise_is_noticed_and_corrected():
    results = [guarded_fit(exponential, seed=seed) for seed in range(8)]
    before, after = np.mean([errors for errors, _, _ in results], axis=0)
    assert before < -0.008  # Huber's location lies below the mean
    assert abs(after) < 0.3 * abs(before)


def test_the_other_side_is_corrected_alike():
    errors, _, _ = guarded_fit(lambda rng, n: -exponential(rng, n))
    assert errors[0] > 0.005
    assert abs(errors[1]) < 0.5 * errors[0]


def test_what_remains_unknown_is_a_covariance():
    for noise_of in (gaussian, exponential):
        _, _, after = guarded_fit(noise_of)
        assert np.linalg.eigvalsh(after.V).min() > -1e-10


def mean_std(moments):
    """The sd of the average of f over the box."""
    phi = features_1d(8, 0.4).evaluate(np.linspace(-1, 1, 101)[:, None]).mean(axis=1)
    return float(np.sqrt(phi @ moments.V @ phi))


def test_a_guard_that_says_nothing_leaves_the_whole_doubt():
    _, _, after = exact_measurement(np.zeros_like, sigma_a=1e6, sigma_c=1e6)
    assert mean_std(after) == pytest.approx(BIAS.sd, rel=0.1)


def test_a_guard_that_says_nothing_corrects_by_what_the_law_expects():
    expected = BiasPrior(0.03, 0.01, 0.0)
    change, _, after = exact_measurement(np.zeros_like, sigma_a=1e6, sigma_c=1e6, bias=expected)
    np.testing.assert_allclose(change, 0.03, atol=2e-3)
    assert mean_std(after) == pytest.approx(0.01, rel=0.1)


def test_a_guard_that_clips_leaves_what_lies_beyond():
    found = exact_measurement(np.zeros_like, beyond=0.03)[2]
    # the prior of the bias, given a measurement of it with the error 0.03
    expected = 1.0 / np.sqrt(1.0 / BIAS.sd**2 + 1.0 / 0.03**2)
    assert mean_std(found) == pytest.approx(expected, rel=0.02)


def test_what_no_line_follows_is_added_at_places_and_not_to_the_average():
    straight, uneven = (exact_measurement(np.zeros_like, bias=bias)[2] for bias in (BIAS, UNEVEN))
    phi = features_1d(8, 0.4).evaluate(np.linspace(-0.9, 0.9, 21)[:, None])
    before, after = (np.einsum("dn,de,en->n", phi, m.V, phi) for m in (straight, uneven))
    assert np.mean(after - before) >= 0.8 * UNEVEN.uneven**2
    assert mean_std(uneven) < mean_std(straight) + 0.1 * UNEVEN.uneven


@pytest.mark.parametrize("middle", [-0.3, 0.4])
def test_residuals_about_another_middle_say_the_same(middle):
    plain, moved = (
        exact_measurement(lambda x: 0.01 + 0.01 * x, bias=UNEVEN, middle=m) for m in (0.0, middle)
    )
    np.testing.assert_allclose(moved[0], plain[0], atol=1e-3)
    assert moved[2].noise == pytest.approx(plain[2].noise, rel=0.02)


def test_nothing_is_biased_where_nothing_can_be_clipped():
    assert BiasPrior.at(gaussian_law(), 2.0, 0.5) == NO_BIAS
    assert BiasPrior.at(gaussian_law(), 1.9, 0.5).size > 0.0


def test_a_bias_is_cut_as_a_whole():
    cut = BiasPrior(0.03, 0.04, 0.12).at_most(0.065)
    assert (cut.mean, cut.sd, cut.uneven) == pytest.approx((0.015, 0.02, 0.06))
    assert UNEVEN.at_most(1.0) == UNEVEN
    assert NO_BIAS.at_most(0.1) == NO_BIAS


def exact_measurement(
    shift,
    seed=0,
    n=5000,
    second_moment=None,
    sigma_c=0.1,
    sigma_a=0.1,
    bias=BIAS,
    beyond=0.0,
    middle=0.0,
    odds=1.0,
):
    """A nearly exact stage about f and a guard that sees f + shift(x)."""
    features, rng = features_1d(8, 0.4), np.random.default_rng(seed)
    X, y = rows_1d(n, noise=0.1, seed=seed)
    phi, simple = features.evaluate(X), SIMPLE.evaluate(X)
    stages = [release(phi, y, 0.1, rng)]
    gram = IsotropicEstimate(phi @ phi.T, 0.1)
    B_inverse = np.linalg.inv(phi @ phi.T + 1e-6 * np.eye(8))
    w = B_inverse @ (phi @ y)
    moments = Moments(w, 0.01 * B_inverse, 0.1)
    r = y + shift(X[:, 0]) - w @ phi - middle
    c = float(r @ r) if second_moment is None else n * second_moment
    sums = (simple @ r, simple @ simple.T, c)
    guard = StageRelease(*sums, sigma_a, 0.1, sigma_c, 10.0, w, float(n), middle=middle)
    U = np.linspace(-1, 1, 41)[:, None]
    L = embed(features.evaluate(U), SIMPLE.evaluate(U))
    measurement = combine_stages(stages, gram, moments)
    after = apply_guard(guard, measurement, gram, moments, L, bias=bias, beyond=beyond, odds=odds)
    return phi.T @ (after.w - w), X[:, 0], after


def test_a_constant_shift_is_corrected():
    change, _, _ = exact_measurement(lambda x: np.full_like(x, 0.02))
    np.testing.assert_allclose(change, 0.02, atol=0.004)


def test_a_linear_shift_is_corrected():
    change, x, _ = exact_measurement(lambda x: 0.01 + 0.01 * x, bias=UNEVEN)
    np.testing.assert_allclose(change, 0.01 + 0.01 * x, atol=0.005)


def test_no_shift_changes_nothing():
    change, _, _ = exact_measurement(np.zeros_like)
    assert np.abs(change).max() < 1e-3


def test_the_embedding_reproduces_constant_and_line():
    U = np.linspace(-1, 1, 31)[:, None]
    features = features_1d(10, 0.4)
    L = embed(features.evaluate(U), SIMPLE.evaluate(U))
    np.testing.assert_allclose(L.T @ features.evaluate(U), SIMPLE.evaluate(U), atol=0.02)


def test_the_wide_second_moment_raises_the_noise_where_tails_are_heavy():
    def noise(second_moment, sigma_c=0.1):
        return exact_measurement(np.zeros_like, second_moment=second_moment, sigma_c=sigma_c)[2]

    heavy, light, drowned = noise(0.03), noise(0.01), noise(0.03, sigma_c=1e6)
    assert heavy.noise == pytest.approx(np.sqrt(0.03), rel=0.1)
    assert light.noise == pytest.approx(0.1, rel=0.05)
    assert drowned.noise == pytest.approx(0.1, rel=0.05)
    assert noise(-10.0).noise > 0.0


def test_rows_of_the_guard_fit_the_estimate_of_the_stages():
    X, y = rows_1d(500)
    model = model_1d(6)
    stage = release(model.features.evaluate(X), y, 1.0, np.random.default_rng(0))
    gram = estimate_gram([stage], model.atoms, model.positions)
    L, simple = model.guard_embedding, SIMPLE.evaluate(X)
    np.testing.assert_allclose(L.T @ gram.B @ L, simple @ simple.T, atol=0.05 * 500)


def test_a_gram_matrix_of_which_noise_left_nothing_ends_no_fit():
    L = np.array([[1.2, 0.0], [0.0, 0.7]])
    np.testing.assert_allclose(_uneven(0.1, L, np.zeros((2, 2))), 0.01 * np.eye(2))


def test_a_noisy_guard_moves_a_probable_bell_less_than_another_law():
    asked = {"shift": np.zeros_like, "sigma_a": 100.0}
    likely, unlikely = (exact_measurement(**asked, odds=odds) for odds in (0.2, 1.0))
    assert np.abs(likely[0]).max() < 0.5 * np.abs(unlikely[0]).max()
    assert np.trace(likely[2].V) >= np.trace(unlikely[2].V), "a bell is never sure"


@pytest.mark.parametrize("odds", [0.0, 0.5, 1.0, np.nextafter(1.0, 2.0)])
def test_a_shift_that_no_bell_has_is_corrected_whatever_was_believed(odds):
    change, _, _ = exact_measurement(lambda x: np.full_like(x, 0.02), odds=odds)
    np.testing.assert_allclose(change, 0.02, atol=0.004)
