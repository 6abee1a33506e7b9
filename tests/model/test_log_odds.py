"""Probabilities add up over the private model of the inputs, and lose least."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import expit, logit, ndtri
from scipy.stats import norm

import dpgp
from dpgp.model.file.model import decode, encode
from dpgp.outcomes.chances import chance, chance_interval, shifted
from dpgp.outcomes.labels import named_classes
from dpgp.outcomes.log_odds import AS_BELIEVED, UNTOLD_DOUBT, LogOdds, fitted_log_odds
from dpgp.outcomes.yes_no import YesNo


@pytest.fixture(scope="module", params=[1, 5])
def rare(request):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, request.param))
    y = (rng.random(3000) < expit(-3.2 + X[:, 0])).astype(int)
    clf = dpgp.PrivateGPClassifier(
        1.0, 1e-6, bounds=[(-1, 1)] * request.param, classes=(0, 1), random_state=1
    )
    return clf.fit(X, y)


def beliefs(places=200, doubt=0.0):
    """Return means, sds, shares and covariance of beliefs about rare outcomes.

    ``doubt`` is the sd of a factor of all deviations from the average.
    """
    rng = np.random.default_rng(3)
    mean = 0.05 + 0.06 * rng.standard_normal(places)
    shares = rng.random(places)
    shares /= shares.sum()
    deviation = mean - shares @ mean
    covariance = doubt**2 * np.outer(deviation, deviation) + 0.03**2 * np.eye(places)
    return mean, np.sqrt(np.diag(covariance)), shares, covariance


def test_the_average_over_the_released_inputs_is_that_of_the_function(rare):
    model = rare.model_
    shares = model.density.weights / model.density.weights.sum()
    p = model.mean(model.density.points)
    mean, _ = model.belief(0, model.unit_inputs(model.density.points))
    U = model.unit_inputs(model.density.points)
    error = np.sqrt(shares @ model.posteriors[0].covariance(U) @ shares) / 2
    assert shares @ p == pytest.approx(chance(shares @ mean[:, None], np.array([error]))[0])
    assert abs(shares @ p - 0.045) < 0.03
    assert model.log_odds[0].shift < 0.0


def test_the_slope_is_the_mode_of_its_law_times_its_probability():
    mean, std, shares, covariance = beliefs(doubt=0.3)
    found = fitted_log_odds(mean, std, shares, covariance)
    whole = chance(shares @ mean[:, None], np.sqrt(shares @ covariance @ shares)[None])[0]
    odds = logit(chance(mean, np.full_like(mean, np.sqrt(shares @ std**2))))
    along, variance = shares * (odds - shares @ odds), np.cov(odds, aweights=shares, ddof=0)
    S, v = along @ mean, UNTOLD_DOUBT * along @ covariance @ along

    def likelihood(b):
        level = brentq(lambda a: shares @ expit(a + b * odds) - whole, -200.0, 200.0)
        gap = S - along @ expit(level + b * odds)
        return np.exp(-(gap**2) / (2.0 * v))

    def density(b):
        return likelihood(b) * 2.0 * norm.pdf(b, scale=1.0 / np.sqrt(variance))

    mode = minimize_scalar(lambda b: -density(b), (0.1, 20.0), method="bounded", bounds=(0, 20)).x
    slope, none = quad(density, 0.0, 20.0)[0], likelihood(0.0)
    assert 0.05 < none / (slope + none) < 0.9
    assert found.slope == pytest.approx(mode * slope / (slope + none), rel=0.03)
    assert shares @ found.probability(mean, std) == pytest.approx(whole)


def test_noise_that_a_posterior_takes_for_signal_costs_less_than_half_of_what_it_did():
    """Means of 12 directions of noise, and what the posterior of a prior of half its size says.

    Were S as sure as that, log loss would be 0.0075 above the constant's.
    """
    rng, shares, q = np.random.default_rng(5), np.full(300, 1 / 300), 0.2
    directions, lost = rng.standard_normal((300, 12)) / np.sqrt(12), []
    for _ in range(20):
        # y ~ N(0, r) and the prior N(0, r/2): m = y/3, V = r/3, r = 0.15²
        mean = q + directions @ rng.standard_normal(12) * 0.15 / 3.0
        covariance = directions @ directions.T * 0.15**2 / 3.0 + 1e-6 * np.eye(300)
        std = np.sqrt(np.diag(covariance))
        p = fitted_log_odds(mean, std, shares, covariance).probability(mean, std)
        lost.append(q * np.log(q / p) + (1.0 - q) * np.log((1.0 - q) / (1.0 - p)))
    assert np.mean(lost) < 0.0035


def test_expected_log_loss_is_least_where_f_is_known():
    mean, std, shares, _ = beliefs()
    found = fitted_log_odds(mean, std, shares, 1e-12 * np.eye(len(mean)))
    odds = logit(chance(mean, np.full_like(mean, np.sqrt(shares @ std**2))))

    def loss(line):
        eta = line[0] + line[1] * odds
        return shares @ (np.logaddexp(0.0, eta) - mean * eta)

    best = minimize(loss, [-3.0, 1.0], options={"gtol": 1e-10}).x
    np.testing.assert_allclose([found.level, found.slope], best, rtol=1e-4)


def test_what_may_be_constant_is_nearly_one_probability_for_all():
    sure, unsure = (
        fitted_log_odds(*beliefs(doubt=doubt)).probability(*beliefs()[:2]) for doubt in (0.0, 10.0)
    )
    assert unsure.std() < 0.05 * sure.std()
    mean, std, shares, covariance = beliefs()
    same = fitted_log_odds(np.full_like(mean, 0.05), std, shares, covariance)
    assert same.slope == 0.0
    assert np.ptp(same.probability(mean, std)) == 0.0


def test_what_is_known_well_is_left_alone():
    shares, mean = np.full(100, 0.01), np.linspace(0.05, 0.9, 100)
    found = fitted_log_odds(mean, np.full(100, 1e-3), shares, 1e-6 * np.eye(100))
    np.testing.assert_allclose(found.probability(mean, np.full(100, 1e-3)), mean, rtol=2e-3)


def test_beliefs_beyond_all_bounds_have_probabilities_within():
    mean = np.where(np.arange(100) < 10, 3.0, -0.3)
    std, shares = np.full(100, 0.01), np.full(100, 0.01)
    found = fitted_log_odds(mean, std, shares, 1e-4 * np.eye(100))
    p = found.probability(np.array([-50.0, 50.0]), np.full(2, 0.01))
    assert 0.0 < p[0] < p[1] < 1.0


def test_intervals_move_along_and_hold_the_probability_and_what_is_believed(rare):
    model, X = rare.model_, rare.model_.density.points[:200]
    a, p = model.odds(0).shift, model.mean(X)
    mean, std = model.belief(0, model.inputs(X), latent=True)
    half = ndtri(0.6) * std
    given = chance_interval(mean, std, 0.2)
    lower, upper = model.odds(0).interval(mean, std, 0.2)
    low, high = shifted(given[0], a), shifted(given[1], a)
    np.testing.assert_allclose(lower, np.min([low, p, np.maximum(mean - half, 0)], axis=0))
    np.testing.assert_allclose(upper, np.max([high, p, np.minimum(mean + half, 1)], axis=0))
    np.testing.assert_allclose(rare.predict_proba(X).sum(axis=1), 1.0)
    ones = rare.model_.log_predictive_density(X, [1] * len(X))
    np.testing.assert_allclose(np.exp(ones), rare.predict_proba(X)[:, 1])


def test_a_file_keeps_the_link_and_older_ones_have_theirs(rare):
    document = json.loads(json.dumps(encode(rare.model_)))
    assert decode(document).log_odds == rare.model_.log_odds
    a = document["shifts"][0]
    del document["log_odds"]
    X = rare.model_.density.points[:20]
    before = decode(document)
    assert before.log_odds == (LogOdds(shift=a, level=a),)
    assert encode(before).get("log_odds") is None
    plain = replace(before, log_odds=())
    np.testing.assert_allclose(before.predict(X), shifted(plain.predict(X), a))
    del document["shifts"]
    assert decode(document).log_odds == ()
    assert decode(document).odds(0) == AS_BELIEVED


@pytest.mark.parametrize("wrong", [[61.0], [0.1, 0.1], "a", [float("nan")]])
def test_a_file_with_an_impossible_shift_is_refused(rare, wrong):
    document = json.loads(json.dumps(encode(rare.model_)))
    with pytest.raises(ValueError, match="shifts"):
        decode({**document, "shifts": wrong})


@pytest.mark.parametrize(
    "wrong",
    [[[0.1, -1.0, 0.1]], [[0.1, 1.0, 0.0]], [[0.1, 1.0]], [], [[0.0, 1.0, 0.1]] * 2, "a", None],
)
def test_a_file_with_an_impossible_link_is_refused(rare, wrong):
    document = json.loads(json.dumps(encode(rare.model_)))
    with pytest.raises(ValueError, match="log_odds"):
        decode({**document, "log_odds": wrong})


def test_shifts_are_of_log_odds():
    p = np.array([0.0, 1e-6, 0.3, 1.0])
    np.testing.assert_allclose(logit(shifted(p, 0.7)[1:3]), logit(p[1:3]) + 0.7)
    assert shifted(p, 0.7)[[0, 3]].tolist() == [0.0, 1.0]
    assert shifted(p, 0.0) is p


@pytest.mark.parametrize(
    ("rows", "prevalence", "told"),
    [(2700, 0.01, True), (2700, 0.99, True), (2700, 0.2, False), (200, None, True)],
)
def test_few_events_are_told(rows, prevalence, told):
    kind = YesNo(named_classes(("no", "yes")))
    assert ("events are too few" in kind.few_events(rows, 0.23, prevalence)) is told


def test_a_plan_says_when_events_are_too_few():
    about = {"bounds": [(0, 1)] * 4, "classes": ("no", "yes"), "epsilon": 1.0, "delta": 1e-6}
    few, enough = (dpgp.plan(n=2700, prevalence=q, **about) for q in (0.01, 0.2))
    assert any("events are too few" in line for line in few.why)
    assert not any("events are too few" in line for line in enough.why)
