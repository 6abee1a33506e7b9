import math

import numpy as np
import pytest

from dpgp.inference.clip_choice import DIRECTIONS, best_kappa, guard_kappa
from dpgp.inference.noisy_law import believe
from dpgp.inference.residual_families import outcome_candidates
from dpgp.inference.residual_law import LAW_EDGES, gaussian_law, measured_law


def law_of(rows, noise_std=20.0, largest=12.0):
    rng = np.random.default_rng(1)
    counts = np.histogram(rows, LAW_EDGES)[0] + noise_std * rng.normal(size=len(LAW_EDGES) - 1)
    family = outcome_candidates(tuple(LAW_EDGES))
    return measured_law(believe(counts, noise_std, len(rows), family), largest)


RNG = np.random.default_rng(0)
GAUSSIAN = law_of(RNG.normal(size=20_000))
EXPONENTIAL = law_of(RNG.exponential(size=20_000) - 1)
ONES = law_of(np.where(RNG.random(20_000) < 0.2, 2.0, -0.5), largest=2.5)


def test_skewed_laws_are_clipped_wider():
    n, mu = 5000, 0.08
    assert best_kappa(GAUSSIAN, n, mu, 8.0) < best_kappa(EXPONENTIAL, n, mu, 8.0)


def test_two_values_are_not_clipped_where_rows_allow_it():
    assert best_kappa(ONES, 50_000, 0.3, 8.0) >= 2.0


@pytest.mark.parametrize("law", [GAUSSIAN, EXPONENTIAL, gaussian_law()])
def test_more_rows_clip_wider(law):
    kappas = [best_kappa(law, n, 0.2, 8.0) for n in (300, 3000, 300_000)]
    assert kappas == sorted(kappas)
    assert kappas[0] >= 1.0
    guards = [guard_kappa(law, n, 0.05) for n in (300, 3000, 300_000)]
    assert guards == sorted(guards)


def test_the_guard_clips_wider_than_the_stages():
    assert guard_kappa(EXPONENTIAL, 5000, 0.08) > best_kappa(EXPONENTIAL, 5000, 0.08, 8.0)


def test_without_noise_nothing_is_clipped():
    assert math.isinf(best_kappa(GAUSSIAN, 5000, math.inf, 8.0))


def test_more_inputs_have_more_directions():
    directions = [DIRECTIONS[columns] for columns in sorted(DIRECTIONS)]
    assert directions == sorted(directions)
