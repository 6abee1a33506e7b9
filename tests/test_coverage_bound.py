"""The bounds of docs/proofs/coverage.md: never exceeded, and the general one attained."""

import runpy
from pathlib import Path

import numpy as np
import pytest

BOUND = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "coverage_bound.py"))
any_learner, linear_learner = BOUND["any_learner"], BOUND["linear_learner"]
features, leverages_of, simulate = BOUND["features"], BOUND["leverages_of"], BOUND["simulate"]


def test_a_learner_that_knows_the_sums_attains_the_general_bound():
    """Rows are orthogonal unit vectors, present or replaced; it sees the noise, and lets miss."""
    random, rows, mu, miss = np.random.default_rng(0), 200_000, 0.8, 0.05
    # what noise says along the change of a row: N(0, 1) with the row, N(μ, 1) without it
    within, fresh = random.normal(size=rows), random.normal(mu, 1.0, rows)
    threshold = np.quantile(within, 1.0 - miss)
    assert np.mean(fresh > threshold) == pytest.approx(any_learner(miss, mu), abs=0.01)


@pytest.mark.parametrize("noise", [0.0, 2.0])
@pytest.mark.parametrize(("n", "d"), [(60, 20), (200, 49), (500, 10)])
def test_linear_sums_never_exceed_theirs(n, d, noise):
    phi = features(n, d)
    within, fresh = simulate(phi, noise, 100)
    assert within == pytest.approx(0.05, abs=0.01)
    assert within < fresh < linear_learner(within, leverages_of(phi))


def test_the_bound_falls_to_the_level_as_rows_are_added():
    # it is a mean over rows, which are alike: one of them says it
    bounds = [linear_learner(0.05, np.array([20 / n])) for n in (100, 1000, 100_000)]
    assert bounds[0] > bounds[1] > bounds[2] > 0.05
    assert bounds[2] < 0.053


def test_leverage_is_what_one_row_moves_in_the_noise_of_the_others():
    random = np.random.default_rng(1)
    phi = random.normal(size=(30, 4))
    others = np.linalg.inv(phi[1:].T @ phi[1:])
    h = leverages_of(phi)[0]
    assert phi[0] @ others @ phi[0] == pytest.approx(h / (1 - h))
