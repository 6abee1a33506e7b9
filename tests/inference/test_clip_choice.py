import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp.inference.clip_choice import (
    DIRECTIONS,
    ClipInterval,
    best_kappa,
    beyond_interval,
    guard_interval,
)
from dpgp.inference.noisy_law import believe
from dpgp.inference.residual_families import outcome_candidates
from dpgp.inference.residual_law import (
    CLIPS,
    FAR_DOUBT,
    LAW_EDGES,
    gaussian_law,
    measured_law,
)


def law_of(rows, noise_std=20.0, largest=12.0):
    rng = np.random.default_rng(1)
    counts = np.histogram(rows, LAW_EDGES)[0] + noise_std * rng.normal(size=len(LAW_EDGES) - 1)
    family = outcome_candidates(tuple(LAW_EDGES))
    return measured_law(believe(counts, noise_std, len(rows), family), largest)


RNG = np.random.default_rng(0)
GAUSSIAN = law_of(RNG.normal(size=20_000))
EXPONENTIAL = law_of(RNG.exponential(size=20_000) - 1, largest=50.0)
DOWN = law_of(1 - RNG.exponential(size=20_000))
FAR = ClipInterval(60.0, 60.0)
ONES = law_of(np.where(RNG.random(20_000) < 0.2, 2.0, -0.5), largest=2.5)


def test_skewed_laws_are_clipped_wider():
    n, mu = 5000, 0.08
    assert best_kappa(GAUSSIAN, n, mu, 8.0) < best_kappa(EXPONENTIAL, n, mu, 8.0)


def test_two_values_are_not_suspected_of_a_tail():
    assert ONES.odds > 0.95
    assert ONES.unseen(1.0) < 1e-3 < EXPONENTIAL.unseen(1.0)


def test_two_values_are_not_clipped_where_rows_allow_it():
    assert best_kappa(ONES, 50_000, 0.3, 8.0) >= 2.0


@pytest.mark.parametrize("law", [GAUSSIAN, EXPONENTIAL, gaussian_law()])
def test_more_rows_clip_wider(law):
    kappas = [best_kappa(law, n, 0.2, 8.0) for n in (300, 3000, 300_000)]
    assert kappas == sorted(kappas)
    assert kappas[0] >= 1.0
    guards = [guard_interval(law, 1.0, n, 0.05, FAR) for n in (300, 3000, 300_000)]
    assert guards == sorted(guards, key=lambda interval: interval.half_width)


def test_the_guard_clips_wider_than_the_stages():
    interval = guard_interval(EXPONENTIAL, 1.0, 5000, 0.08, FAR)
    assert interval.above > best_kappa(EXPONENTIAL, 5000, 0.08, 8.0)


def test_a_tail_on_one_side_moves_the_middle():
    up, down, bell = (
        guard_interval(law, 0.1, 5000, 0.08, FAR) for law in (EXPONENTIAL, DOWN, GAUSSIAN)
    )
    assert up.middle > 0.3 * up.half_width
    assert down.middle < -0.3 * down.half_width
    assert abs(bell.middle) < 0.1 * bell.half_width


def test_the_guard_balances_its_noise_and_what_it_cuts():
    n, mu = 5000, 0.08
    interval = guard_interval(EXPONENTIAL, 0.1, n, mu, FAR)
    noise = 2 * interval.half_width / (n * mu)
    assert 0.3 * noise < beyond_interval(EXPONENTIAL, 0.1, interval, FAR) < 2 * noise


def test_nothing_lies_where_residuals_end():
    widest = ClipInterval(0.0634020167658829, 0.5)
    interval = guard_interval(EXPONENTIAL, 0.1, 10**7, 0.08, widest)
    assert interval == widest
    half, middle = interval.half_width, interval.middle
    rounded = ClipInterval(half - middle, half + middle)
    assert beyond_interval(EXPONENTIAL, 0.1, rounded, widest) == 0.0
    assert beyond_interval(EXPONENTIAL, 0.1, interval, FAR) > 0.0


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_no_law_of_that_sd_has_more_beyond(share):
    """Few values at v, the others below: mean 0 and sd FAR_DOUBT."""
    low, high = -np.sqrt(share / (1 - share)), np.sqrt((1 - share) / share)
    excess = share * np.maximum(FAR_DOUBT * high - CLIPS, 0.0)
    skewed = np.array([np.zeros_like(CLIPS), np.full_like(CLIPS, 1e-30)])
    law = replace(EXPONENTIAL, tail_odds=1.0, beyond=skewed, largest=np.inf)
    assert (excess <= np.sqrt(law.doubted_beyond[1]) * (1 + 1e-9)).all()
    # attained where the clip is halfway between the two values
    halfway = FAR_DOUBT * (low + high) / 2
    attained = share * (FAR_DOUBT * high - halfway)
    assert attained == pytest.approx(np.sqrt(law.unseen(halfway)), rel=1e-9)


def test_without_noise_nothing_is_clipped():
    assert math.isinf(best_kappa(GAUSSIAN, 5000, math.inf, 8.0))


def test_more_inputs_have_more_directions():
    directions = [DIRECTIONS[columns] for columns in sorted(DIRECTIONS)]
    assert directions == sorted(directions)
