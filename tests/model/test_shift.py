"""Probabilities add up over the private model of the inputs."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

import dpgp
from dpgp.model.file.model import decode, encode
from dpgp.outcomes.yes_no import YesNo, chance, shifted, two_classes


@pytest.fixture(scope="module", params=[1, 5])
def rare(request):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, request.param))
    y = (rng.random(3000) < expit(-3.2 + X[:, 0])).astype(int)
    clf = dpgp.PrivateGPClassifier(
        1.0, 1e-6, bounds=[(-1, 1)] * request.param, classes=(0, 1), random_state=1
    )
    return clf.fit(X, y)


def test_the_average_over_the_released_inputs_is_that_of_the_function(rare):
    model = rare.model_
    shares = model.density.weights / model.density.weights.sum()
    p = model.predict(model.density.points)
    mean, _ = model.belief(0, model.unit_inputs(model.density.points))
    U = model.unit_inputs(model.density.points)
    error = np.sqrt(shares @ model.posteriors[0].covariance(U) @ shares) / 2
    assert shares @ p == pytest.approx(chance(shares @ mean[:, None], np.array([error]))[0])
    assert abs(shares @ p - 0.045) < 0.03
    assert model.shifts[0] < 0.0


def test_intervals_and_densities_move_along(rare):
    X = rare.model_.density.points[:20]
    plain = replace(rare.model_, shifts=())
    a = rare.model_.shift(0)
    for mine, other in zip(
        (rare.model_.predict(X), *rare.predict_proba_interval(X)),
        (plain.predict(X), *plain.predict_interval(X, latent=True)),
        strict=True,
    ):
        np.testing.assert_allclose(mine, shifted(other, a))
    np.testing.assert_allclose(rare.predict_proba(X).sum(axis=1), 1.0)
    ones = rare.model_.log_predictive_density(X, [1] * len(X))
    np.testing.assert_allclose(np.exp(ones), rare.predict_proba(X)[:, 1])


def test_a_file_keeps_the_shift_and_one_without_it_has_none(rare):
    document = json.loads(json.dumps(encode(rare.model_)))
    assert decode(document).shifts == rare.model_.shifts
    del document["shifts"]
    assert decode(document).shifts == ()


@pytest.mark.parametrize("wrong", [[61.0], [0.1, 0.1], "a", [float("nan")]])
def test_a_file_with_an_impossible_shift_is_refused(rare, wrong):
    document = json.loads(json.dumps(encode(rare.model_)))
    with pytest.raises(ValueError, match="shifts"):
        decode({**document, "shifts": wrong})


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
    kind = YesNo(two_classes(("no", "yes")))
    assert ("events are too few" in kind.few_events(rows, 0.23, prevalence)) is told


def test_a_plan_says_when_events_are_too_few():
    about = {"bounds": [(0, 1)] * 4, "classes": ("no", "yes"), "epsilon": 1.0, "delta": 1e-6}
    few, enough = (dpgp.plan(n=2700, prevalence=q, **about) for q in (0.01, 0.2))
    assert any("events are too few" in line for line in few.why)
    assert not any("events are too few" in line for line in enough.why)
