"""Four inputs and more: everything that an estimator can do, in a metric that is learned."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

import dpgp
from dpgp import PrivateGPRegressor
from dpgp.inference.clipping import largest_bias
from dpgp.inference.many.fit import MetricFit
from dpgp.privacy.noise import SeededNoiseWarning
from dpgp.steps import known

pytestmark = pytest.mark.filterwarnings("ignore::dpgp.privacy.noise.SeededNoiseWarning")

N, D = 2000, 5
RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(0, 1, (N, D)), RNG.uniform(0, 1, (300, D))


def ridge(X):
    return np.sin(4 * (X[:, 0] - X[:, 1])) + X[:, 2]


Y = ridge(X) + 0.1 * np.random.default_rng(1).normal(size=N)


def regressor(epsilon=3.0, **changes):
    settings = {"bounds": (0, 1), "target_bounds": (-2, 3), "random_state": 0}
    return PrivateGPRegressor(epsilon, 1e-5, **{**settings, **changes})


@pytest.fixture(scope="module")
def fitted():
    with pytest.warns(SeededNoiseWarning):
        return regressor().fit(X, Y)


def relative_error(model, f=ridge):
    truth = f(NEW)
    return np.sqrt(np.mean((model.predict(NEW) - truth) ** 2)) / truth.std()


def test_a_ridge_of_five_inputs_is_learned(fitted):
    assert relative_error(fitted) < 0.2


def test_early_stages_with_few_points_end_in_all_of_them(fitted, monkeypatch):
    sizes, ask = [], MetricFit.ask

    def noted(fit, noise):
        sizes.append(len(fit.dictionary.points))
        return ask(fit, noise)

    monkeypatch.setattr(known, "EARLY_POINTS", 96)
    monkeypatch.setattr(MetricFit, "ask", noted)
    model = regressor().fit(X, Y)
    all_points = len(fitted.model_.posteriors[0].features.anchors)
    assert sizes == [96] * 2 + [all_points] * (len(sizes) - 2)
    assert len(model.model_.posteriors[0].features.anchors) == all_points
    assert relative_error(model) < 0.2
    sizes.clear()
    regressor(inducing_points=112).fit(X, Y)  # as many as were asked for, from the first stage on
    assert set(sizes) == {112}


def test_intervals_hold_for_observations_and_for_the_function(fitted):
    y = ridge(NEW) + 0.1 * np.random.default_rng(2).normal(size=len(NEW))
    for latent, truth in ((False, y), (True, ridge(NEW))):
        lower, upper = fitted.predict_interval(NEW, 0.95, latent=latent)
        assert np.mean((truth >= lower) & (truth <= upper)) >= 0.85


def test_mean_covariance_and_draws_are_of_one_gaussian_process(fitted):
    mean, std = fitted.predict(NEW[:20], return_std=True, latent=True)
    same, covariance = fitted.predict(NEW[:20], return_cov=True, latent=True)
    np.testing.assert_allclose(same, mean)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std, rtol=1e-6, atol=1e-9)
    draws = fitted.sample_y(NEW[:20], 4000, random_state=3)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.1)


def test_a_file_brings_the_model_back(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted.save(path)
    again = dpgp.load(path)
    for one, other in zip(
        fitted.predict(NEW, return_std=True), again.predict(NEW, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_synthetic_inputs_stand_for_the_rows(fitted):
    density = fitted.input_density_
    np.testing.assert_allclose(density.points.mean(axis=0), X.mean(axis=0), atol=0.06)
    assert density.weights.sum() == pytest.approx(N)
    assert density.points.min() >= 0.0
    assert density.points.max() <= 1.0


def test_the_report_is_written(fitted, tmp_path):
    path = tmp_path / "report.html"
    fitted.report(path)
    assert "stage 1" in path.read_text(encoding="utf-8")


def test_the_certificate_adds_up_to_the_budget(fitted):
    labels = [event.label for event in fitted.certificate_.releases]
    assert labels[:4] == [
        "target histograms",
        "input histograms",
        "linear stage",
        "cells of the inputs",
    ]
    assert sum(event.mu**2 for event in fitted.certificate_.releases) == pytest.approx(
        fitted.certificate_.mu**2
    )


def test_several_targets_share_the_metric():
    other = X[:, 3] ** 2
    both = np.column_stack([Y, other])
    model = regressor(10.0, target_bounds=[(-2, 3), (0, 1)]).fit(X, both)
    mean = model.predict(NEW)
    assert np.sqrt(np.mean((mean[:, 0] - ridge(NEW)) ** 2)) < 0.3 * ridge(NEW).std()
    truth = NEW[:, 3] ** 2
    assert np.sqrt(np.mean((mean[:, 1] - truth) ** 2)) < 0.3 * truth.std()


def test_without_noise_the_function_is_found():
    assert relative_error(regressor(float("inf")).fit(X, Y)) < 0.1


@pytest.mark.parametrize(
    "changes", [{"neighbours": "add-remove"}, {"missing": "ignore"}, {"warp": False}]
)
def test_other_neighbours_missing_values_and_no_warp_work(changes):
    incomplete = X.copy()
    if "missing" in changes:
        incomplete[::50, 1] = np.nan
    assert relative_error(regressor(**changes).fit(incomplete, Y)) < 0.6


def test_rows_of_persons_are_told_apart():
    units = np.repeat(np.arange(N // 2), 2)
    model = regressor(10.0, max_rows_per_unit=2).fit(X, Y, units=units)
    assert relative_error(model) < 0.6


def test_odd_columns_do_no_harm():
    rng = np.random.default_rng(4)
    odd = np.column_stack([X[:, :3], np.full(N, 0.5), X[:, 0], rng.random(N) < 0.1])
    new = np.column_stack([NEW[:, :3], np.full(300, 0.5), NEW[:, 0], np.zeros(300)])
    model = regressor().fit(odd, Y)
    error = model.predict(new) - ridge(NEW)
    assert np.sqrt(np.mean(error**2)) < 0.4 * ridge(NEW).std()


def test_few_rows_and_a_small_budget_are_no_worse_than_the_mean():
    models = [regressor(0.3, random_state=seed).fit(X[:300], Y[:300]) for seed in range(4)]
    assert np.mean([relative_error(model) for model in models]) < 1.1


def test_inputs_in_a_corner_of_their_bounds_leave_a_model():
    rng = np.random.default_rng(0)
    skewed = rng.lognormal(0, 1.5, (1500, 6))
    f = np.log(skewed[:, 0]) + np.log(skewed[:, 1])
    model = regressor(1.0, bounds=(0, 200), target_bounds=(-8, 8)).fit(skewed, np.clip(f, -8, 8))
    assert np.isfinite(model.predict(skewed, return_std=True)).all()
    assert model.score(skewed, f) > 0.0


def test_an_input_that_acts_only_with_another_leaves_room_for_doubt():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(2500, 12))
    f = 0.3 * (Z[:, 0] + np.tanh(Z[:, 1] * Z[:, 2]))
    y = f + 0.2 * rng.normal(size=len(f))
    model = regressor(1.0, bounds=(-4, 4), target_bounds=(-2, 2)).fit(Z[:2000], y[:2000])
    lower, upper = model.predict_interval(Z[2000:], 0.95, latent=True)
    assert np.mean((lower <= f[2000:]) & (f[2000:] <= upper)) > 0.55


def test_intervals_know_that_a_close_fit_flatters_its_own_rows():
    rng = np.random.default_rng(0)
    rows, new = rng.uniform(0, 1, (400, 5)), rng.uniform(0, 1, (4000, 5))
    y, y_new = (ridge(Z) + 0.3 * rng.normal(size=len(Z)) for Z in (rows, new))
    model = regressor(30.0).fit(rows, y)
    held = [
        np.mean((lower <= t) & (t <= upper))
        for (lower, upper), t in (
            (model.predict_interval(rows), y),
            (model.predict_interval(new), y_new),
        )
    ]
    assert held[1] > 0.92
    assert held[0] > held[1] - 0.02  # not flattered by more than chance: 400 rows know it to 0.01


def test_more_inputs_than_rows_are_refused_before_anything_is_spent():
    with pytest.raises(ValueError, match="more rows than inputs") as caught:
        regressor().fit(X[:5], Y[:5])
    assert not hasattr(caught.value, "spent")
    with pytest.raises(ValueError, match="more rows than inputs"):
        dpgp.plan(n=5, bounds=[(0, 1)] * 5, target_bounds=(0, 1), epsilon=1.0)


def test_rare_events_at_a_small_budget_are_not_denied():
    """One in ten, 1,000 rows, ε = 0.3: intervals of 0.00 ± 0.01 were stated."""
    rng = np.random.default_rng(0)
    X, T = rng.uniform(-1, 1, (1000, 5)), rng.uniform(-1, 1, (100, 5))
    y = (rng.random(1000) < 0.1).astype(float)
    gp = PrivateGPRegressor(
        0.3, 1e-6, bounds=[(-1, 1)] * 5, target_bounds=(0, 1), random_state=0, n_jobs=1
    ).fit(X, y)
    lower, upper = gp.predict_interval(T, latent=True)
    assert np.mean((lower <= 0.1) & (upper >= 0.1)) > 0.9


def test_no_bias_is_expected_that_no_law_has():
    """300 rows at ε = 0.3, a bell: a bias of 0.9 sds was feared, and no law has more than 0.3."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, 1, (300, 5))
    y = rows[:, 0] + 0.3 * rng.standard_normal(300)
    model = regressor(0.3, random_state=1).fit(rows, y).model_
    clip, noise = model.stages[0][-1].clip, model.posteriors[0].moments.noise
    assert model.recorded.guards == (None,)
    assert model.recorded.biases[0].size == pytest.approx(largest_bias(clip, noise))


def test_residuals_of_two_values_are_not_clipped():
    """Clipped ones follow the commoner value at every x: 0.2 off, 95 % intervals covered half."""
    rng = np.random.default_rng(1)
    X, T = rng.uniform(-1, 1, (4000, 5)), rng.uniform(-1, 1, (300, 5))
    share, expected = (1 / (1 + np.exp(-1.5 * Z.sum(axis=1))) for Z in (X, T))
    gp = PrivateGPRegressor(
        1.0, 1e-6, bounds=[(-1, 1)] * 5, target_bounds=(0, 1), random_state=0, n_jobs=1
    ).fit(X, (rng.random(4000) < share).astype(float))
    lower, upper = gp.predict_interval(T, latent=True)
    assert np.mean((lower <= expected) & (upper >= expected)) > 0.9
    assert np.sqrt(np.mean((gp.predict(T) - expected) ** 2)) < 0.07
    assert any("PrivateGPClassifier" in line for line in gp.health_)


def test_rows_of_a_person_that_err_together_count_once():
    """Everybody five times: what they say is known as well as from one row each, and no better."""
    rng, people = np.random.default_rng(2), np.repeat(np.arange(300), 5)
    X, T = rng.uniform(-1, 1, (300, 4)), rng.uniform(-1, 1, (200, 4))
    y = np.clip(0.5 * np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(300), -2, 2)
    settings = {"bounds": [(-1, 1)] * 4, "target_bounds": (-2, 2), "random_state": 0, "n_jobs": 1}
    once = PrivateGPRegressor(10.0, 1e-6, **settings).fit(X, y)
    often = PrivateGPRegressor(10.0, 1e-6, max_rows_per_unit=5, **settings).fit(
        X[people], y[people], units=people
    )
    widths = [np.ptp(gp.predict_interval(T, latent=True), axis=0).mean() for gp in (once, often)]
    assert widths[1] > 0.8 * widths[0]


WISHES = {
    "a kernel": {"kernel": ConstantKernel(0.1) * RBF([1.0] * D)},
    "several kernels": {
        "kernel": [ConstantKernel(0.1) * DotProduct(), ConstantKernel(0.1) * RBF([1.0] * D)]
    },
    "features": {"features": "joint", "inducing_points": 160},
    "points": {"inducing_points": X[:64]},
    "a number of points": {"inducing_points": 96},
}


@pytest.mark.parametrize("wish", WISHES)
def test_a_wish_is_a_dictionary_like_any_other(wish, tmp_path):
    model = regressor(**WISHES[wish], stages=4).fit(X, Y)
    assert relative_error(model) < 0.25
    labels = [event.label for event in model.certificate_.releases]
    assert {"linear stage", "stage 4"} <= set(labels)
    model.save(tmp_path / "model.json")
    again = dpgp.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_several_kernels_the_one_of_the_larger_evidence_is_kept(order):
    kernels = WISHES["several kernels"]["kernel"]
    model = regressor(kernel=[kernels[k] for k in order], stages=4).fit(X, Y)
    assert "RBF" in str(model.posterior_.kernel)
