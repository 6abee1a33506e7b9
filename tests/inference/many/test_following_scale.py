"""Where the scale is large a clip takes more of a tail: the mean follows."""

from types import SimpleNamespace

import numpy as np
import pytest

import dpgp
from dpgp.features.linear import LinearFeatures
from dpgp.inference.many import final
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.final import SHAPE_KEPT, following_scale, moved_by_scale
from dpgp.inference.posterior import Moments, Posterior

RNG = np.random.default_rng(0)
ROWS = RNG.uniform(-1, 1, (400, 3))
LINE = Dictionary(SimpleNamespace(), ROWS[:0], ROWS, LinearFeatures(3))
CLIP = 1.0


def biased(a):
    """b of exponential noise, e^(−1 − a) beyond a clip of a ≥ 1 sds, to first order."""
    return np.exp(-1.0 - a)


def target_of(bias=biased, tail_odds=1.0, is_clipped=True, reach=2.0):
    place = SimpleNamespace(is_clipped=is_clipped, reach=reach, scale=1.0)
    law = SimpleNamespace(expected_bias=bias, tail_odds=tail_odds)
    return SimpleNamespace(location=place, law=law, least_sd=0.0)


def posterior():
    d = LINE.features.dimension
    return Posterior(LINE.features, None, Moments(np.ones(d), np.eye(d), 0.5), None, None, 0.0)


def moved(scale, **changes):
    moved = moved_by_scale(posterior(), target_of(**changes), CLIP, LINE, scale)
    return following_scale(posterior(), moved)


def scale_along(slope):
    return SimpleNamespace(typical=lambda U: np.exp(slope * U[:, 0]))


def test_the_mean_rises_where_the_scale_does_and_its_average_stays():
    before, after = posterior().moments, moved(scale_along(0.3)).moments
    change = LINE.at_synthetic(after.w - before.w)
    assert abs(change.mean()) < 1e-6
    # β = τ e^(−1 − R/τ): its slope along log τ is (1 + R/τ)β, at τ = 0.5 about 0.075
    slope = np.polyfit(0.3 * ROWS[:, 0], change, 1)[0]
    assert slope == pytest.approx(SHAPE_KEPT * 3 * 0.5 * np.exp(-3), rel=0.1)
    np.testing.assert_allclose(after.V - before.V, np.outer(*[after.w - before.w] * 2), atol=1e-12)
    assert after.noise == before.noise


@pytest.mark.parametrize(
    "changes",
    [
        {"bias": lambda a: 0.0 * a},
        {"tail_odds": 0.0},
        {"is_clipped": False},
        {"reach": CLIP},
    ],
    ids=["no skewness", "no tail", "two values", "nothing is cut"],
)
def test_nothing_moves_without_a_bias(changes):
    np.testing.assert_array_equal(moved(scale_along(0.3), **changes).moments.w, np.ones(4))


def test_nothing_moves_where_the_scale_is_even():
    np.testing.assert_allclose(moved(scale_along(0.0)).moments.w, np.ones(4), atol=1e-9)


def test_costs_whose_spread_grows_with_their_mean_are_better_at_the_top(monkeypatch):
    X = RNG.uniform(-1, 1, (6000, 4))

    def mean(X):
        return np.exp(0.8 * X[:, 0] + 0.5 * X[:, 1])

    y = mean(X) * RNG.standard_exponential(len(X))
    test, errors = RNG.uniform(-1, 1, (2000, 4)), []
    for part in (0.0, SHAPE_KEPT):
        monkeypatch.setattr(final, "SHAPE_KEPT", part)
        gp = dpgp.PrivateGPRegressor(
            1.0, 1e-6, bounds=(-1, 1), target_bounds=(0, 20), random_state=0
        )
        found = gp.fit(X, y).predict(test)
        errors.append(np.sqrt(np.mean((found - mean(test)) ** 2)))
    assert errors[1] < 0.95 * errors[0]  # 0.89 here; the noise of both is the same
    recorded = gp.model_.recorded  # whoever pools the model corrects it alike
    assert np.corrcoef(recorded.follows[0], recorded.places[:, 0])[0, 1] > 0.5
