"""The function of the scale: its formulas, what it finds, and what it does not invent."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpgp.inference.frame import InputModel
from dpgp.inference.local_scale import (
    FAR,
    NEAR,
    Distances,
    LocalScale,
    learn_scale,
    mean_distance,
    slope_of_distance,
    variance_of_distance,
)
from dpgp.planning.scale_design import scale_layout

LAYOUT = scale_layout((0,), True)
ROWS = 5000


def moment(log_scale, power):
    """E[q^power] by quadrature."""

    def integrand(z):
        return cut(abs(z) * np.exp(log_scale)) ** power * norm.pdf(z)

    first, last = np.array([NEAR, FAR]) * np.exp(-log_scale)
    ends = [0.0, first, last, max(12.0, 2 * last)]
    return 2 * sum(quad(integrand, *pair)[0] for pair in pairwise(ends))


def cut(distance):
    return 2 * np.clip((distance - NEAR) / (FAR - NEAR), 0, 1) - 1


@pytest.mark.parametrize("log_scale", [-1.5, -0.3, 0.0, 0.7, 1.5])
def test_moments_of_distances_match_their_integrals(log_scale):
    at = np.array([log_scale])
    assert mean_distance(at)[0] == pytest.approx(moment(log_scale, 1), abs=1e-9)
    variance = moment(log_scale, 2) - moment(log_scale, 1) ** 2
    assert variance_of_distance(at)[0] == pytest.approx(variance, abs=1e-9)
    step = 1e-5
    difference = (mean_distance(at + step) - mean_distance(at - step)) / (2 * step)
    assert slope_of_distance(at)[0] == pytest.approx(difference[0], rel=1e-6)


def test_a_row_tells_most_of_a_scale_near_one_and_half_of_it_twice_as_far():
    near, small, large = slope_of_distance(np.log([1.0, 0.5, 2.0]))
    # the sign of |z| − 1 would tell most, 4φ(1) = 0.97
    assert 0.85 < near < 4 * norm.pdf(1)
    assert min(small, large) > near / 2


def released(scale_of, noise_std, seed=0, law="normal"):
    """Sums of φq of rows on [−1, 1] whose residuals have this scale, and where the rows are."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(-1, 1, (ROWS, 1))
    z = rng.standard_normal(ROWS) if law == "normal" else rng.standard_t(4, ROWS) / np.sqrt(2)
    q, asked = cut(np.abs(z) * scale_of(U[:, 0])), LAYOUT.asked()
    a = asked.evaluate(U) @ q
    places = np.linspace(-1, 1, 121)[:, None]
    weights = np.full(121, ROWS / 121)
    noisy = a + noise_std * rng.standard_normal(len(a))
    return Distances(asked, noisy, noise_std), InputModel(places, weights)


def learned(scale_of, noise_std, **options):
    return scale_from(*released(scale_of, noise_std, **options))


def scale_from(distances, inputs, log_ratios=0.0):
    ratios = np.zeros(len(inputs.places)) + log_ratios
    return learn_scale([distances], LAYOUT.features, LAYOUT.parts, inputs, ratios).scale


GRID = np.linspace(-0.95, 0.95, 39)[:, None]


@pytest.mark.parametrize("law", ["normal", "student"])
def test_a_scale_that_changes_fourfold_is_found(law):
    truth = np.exp(0.7 * GRID[:, 0])
    found = learned(lambda u: np.exp(0.7 * u), 20.0, law=law).factor(GRID)
    ratio = found / truth
    # the level is the calibration's to find: Student laws are narrower in their core
    assert np.ptp(np.log(ratio)) < 0.3
    assert np.log(found[-1] / found[0]) == pytest.approx(2 * 0.7 * 0.95, abs=0.2)


def test_no_change_is_invented_where_there_is_none():
    spreads = [
        np.std(np.log(learned(lambda u: np.ones_like(u), 60.0, seed=seed).factor(GRID)))
        for seed in range(5)
    ]
    # least squares would have 0.1 and more of this noise
    assert np.mean(spreads) < 0.06


def test_the_models_own_sd_is_taken_into_account():
    distances, inputs = released(lambda u: np.exp(0.5 * u), 10.0)
    factor = scale_from(distances, inputs, 0.5 * inputs.places[:, 0]).factor(GRID)
    assert np.ptp(np.log(factor)) < 0.2


def test_what_is_not_known_of_the_scale_widens():
    knows, does_not = (learned(lambda u: np.ones_like(u), noise) for noise in (5.0, 1e6))
    assert np.mean(does_not.factor(GRID)) > 1.05
    assert np.mean(knows.factor(GRID)) == pytest.approx(1.0, abs=0.05)
    certain = LocalScale(does_not.features, does_not.w, np.zeros_like(does_not.V))
    assert (does_not.factor(GRID) >= certain.factor(GRID)).all()


def test_a_wrong_density_of_the_rows_is_part_of_the_uncertainty():
    distances, inputs = released(lambda u: np.exp(0.5 * u), 10.0)
    doubted = replace(inputs, covariance=np.diag((0.5 * inputs.weights) ** 2))
    sure, unsure = (scale_from(distances, known) for known in (inputs, doubted))
    assert np.trace(unsure.V) > np.trace(sure.V)


# --- parts ---------------------------------------------------------------------------------------

MIXED = scale_layout((0, 0, 5), False)
FREQUENCIES = (0.5, 0.25, 0.12, 0.08, 0.05)
LEVELS = np.log([0.7, 1.4, 2.0, 0.5, 1.6])


def mixed_rows(rng, rows=20_000):
    """Two numbers and a category whose levels have scales of their own."""
    level = rng.choice(5, rows, p=FREQUENCIES)
    hot = 2.0 * (level[:, None] == np.arange(5)) - 1.0
    return np.hstack([rng.uniform(-1, 1, (rows, 2)), hot]), LEVELS[level]


def swept(rng, U, q, sweeps, noise_std):
    """Ask in sweeps, each for what the one before made of the parts."""
    distances, belief = [], None
    places = InputModel(U[:1000], np.full(1000, len(U) / 1000))
    for _ in range(sweeps):
        asked = MIXED.asked(None if belief is None else belief.variances)
        a = asked.evaluate(U) @ q
        noisy = a + noise_std * rng.standard_normal(len(a))
        distances.append(Distances(asked, noisy, noise_std))
        belief = learn_scale(distances, MIXED.features, MIXED.parts, places, np.zeros(1000))
    return belief


def test_the_category_that_matters_is_found_and_asked_again():
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(4):
        U, log_scale = mixed_rows(rng)
        q = cut(np.abs(rng.standard_normal(len(U))) * np.exp(log_scale))
        # two sweeps with the price of one
        once, twice = swept(rng, U, q, 1, 100.0), swept(rng, U, q, 2, 100.0 * np.sqrt(2))
        assert twice.variances.argmax() == 2
        assert (twice.variances[:2] < 0.01).all()
        errors.append([np.std(np.log(b.scale.factor(U)) - log_scale) for b in (once, twice)])
    once, twice = np.mean(errors, axis=0)
    assert twice < 0.85 * once
    assert twice < 0.15


def test_parts_that_do_nothing_stay_at_one():
    rng = np.random.default_rng(1)
    U, _ = mixed_rows(rng)
    q = cut(np.abs(rng.standard_normal(len(U))))
    spreads = [np.std(np.log(swept(rng, U, q, 2, 150.0).scale.factor(U))) for _ in range(4)]
    # least squares would have 0.2 and more of this noise
    assert np.mean(spreads) < 0.05
