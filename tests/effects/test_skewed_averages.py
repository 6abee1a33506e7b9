"""Averages of outcomes with zeros and long tails, whose bounds may be far too wide."""

import math

import numpy as np
import pytest

from dpgp.inference.frame import InputModel
from dpgp.inference.many.location import locate
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.noise import SeededNoiseWarning
from dpgp.regressor import PrivateGPRegressor

N, EPSILON, DELTA, REPEATS = 3000, 1.0, 1e-6, 8


def costs(x, rng):
    """A third of zeros, the others lognormal."""
    values = np.exp(2.0 + 0.5 * x + rng.standard_normal(len(x)))
    return np.minimum(values, 200.0) * (rng.random(len(x)) < 0.7)


def waits(x, rng):
    return np.minimum(rng.exponential(10.0 * np.exp(0.4 * x)), 100.0)


LAWS = {"costs": (costs, 200.0), "waits": (waits, 100.0)}


def average_of(law, width, seed):
    """Fit once; return the average's error, its stated sd and that of a private mean."""
    draw, top = LAWS[law]
    rng = np.random.default_rng(seed)
    truth = draw(rng.uniform(-1, 1, 400_000), rng)
    x, high = rng.uniform(-1, 1, N), width * top
    with pytest.warns(SeededNoiseWarning):
        gp = PrivateGPRegressor(
            EPSILON, DELTA, bounds=[(-1, 1)], target_bounds=(0, high), random_state=seed, n_jobs=1
        ).fit(x[:, None], draw(x, rng))
    found = gp.average()
    noise = high / (N * mu_of_guarantee(EPSILON, DELTA))
    private = math.hypot(float(truth.std()) / math.sqrt(N), noise)
    return float(found.mean[0] - truth.mean()), float(found.std[0]), private


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("width", [1.0, 8.0])
def test_averages_are_right_and_as_sure_as_a_private_mean(law, width):
    gaps, stated, private = np.array([average_of(law, width, s) for s in range(REPEATS)]).T
    # half of the sd, and twice the standard error of a mean of so many
    assert abs(gaps.mean()) < (0.5 + 2.0 / math.sqrt(REPEATS)) * stated.mean()
    assert np.sqrt(np.mean((gaps / stated) ** 2)) < 2.0
    assert stated.mean() < 4.5 * private.mean()


@pytest.mark.parametrize("width", [1.0, 8.0, 30.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_target_at_one_end_of_wide_bounds_is_not_taken_to_fill_them(width, side):
    rng, bins, noise = np.random.default_rng(0), 64, 40.0
    values = side * (costs(rng.uniform(-1, 1, 4000), rng) / (100.0 * width) - 1.0)
    counts = np.histogram(values, np.linspace(-1.0, 1.0, bins + 1))[0]
    place = locate(counts + noise * rng.standard_normal(bins), noise, 4000.0)
    assert abs(place.centre - values.mean()) < 2.0 / bins
    assert 0.4 * values.std() < place.scale < 1.5 * values.std() + 1.5 / bins


def test_few_places_keep_the_average_of_the_function_that_they_are_taken_along():
    rng = np.random.default_rng(0)
    places = rng.uniform(-1, 1, (4096, 3))
    values = np.exp(places[:, 0])
    rows = InputModel(places, np.full(4096, 2.0))
    kept = rows.thinned_along(values, 512)
    assert len(kept.places) == 512
    assert kept.weights.sum() == pytest.approx(rows.weights.sum())
    assert np.exp(kept.places[:, 0]).mean() == pytest.approx(values.mean(), abs=1e-3)
    assert rows.thinned_along(values, 5000) is rows
