from itertools import product

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm

from dpgp.inference.conformal import EDGES, FINE_EDGES
from dpgp.inference.noisy_law import believe
from dpgp.inference.residual_families import (
    GRID,
    both_sides,
    gamma_law,
    skewed_candidates,
    skewed_law,
)

LAWS = {
    "gaussian": lambda n, rng: rng.normal(size=n),
    "wide": lambda n, rng: 1.7 * rng.normal(size=n),
    "t3": lambda n, rng: rng.standard_t(3, n) / np.sqrt(3),
    "exponential": lambda n, rng: rng.exponential(size=n) - 1,
    "mirrored": lambda n, rng: 1 - rng.exponential(size=n),
    "two values": lambda n, rng: np.where(rng.random(n) < 0.2, 2.0, -0.5),
}


SHAPES = [*product([0.0, 0.4], [-1.0, 0.0, 0.5])]
CANDIDATES = [
    *(skewed_law(inverse_df, 0.7, skew) for inverse_df, skew in SHAPES),
    *(gamma_law(shape, scale) for shape, scale in product([1.0, 4.0], [0.7, -0.7])),
]


@pytest.mark.parametrize("law", CANDIDATES)
def test_a_skewed_law_is_a_law_of_mean_zero(law):
    assert law(np.array([-np.inf, np.inf])) == pytest.approx([0.0, 1.0])
    x = np.concatenate([-np.geomspace(1e5, 1e-4, 20_001), np.geomspace(1e-4, 1e5, 20_001)])
    F = law(x)
    assert (np.diff(F) >= 0).all()
    # E[x] = ∫₀^∞ (1 − F) − ∫_−∞^0 F
    mean = trapezoid(np.where(x > 0, 1 - F, -F), x)
    assert mean == pytest.approx(0.0, abs=2e-3)


def test_without_skewness_it_is_the_normal_law():
    x = np.linspace(-4, 4, 41)
    np.testing.assert_allclose(skewed_law(0.0, 2.0, 0.0)(x), norm.cdf(x / 2), atol=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_counts_with_little_noise_give_the_law_at_the_edges(name):
    rng, edges = np.random.default_rng(0), both_sides(FINE_EDGES)
    rows = LAWS[name](50_000, rng)
    counts = np.histogram(rows, edges)[0] + 20.0 * rng.normal(size=len(edges) - 1)
    belief = believe(counts, 20.0, 50_000, skewed_candidates(tuple(edges)))
    cdf = np.interp(edges[1:-1], GRID, belief.cdf)
    truth = np.searchsorted(np.sort(rows), edges[1:-1]) / len(rows)
    np.testing.assert_allclose(cdf, truth, atol=0.006)


def test_both_sides_of_edges():
    edges = both_sides(EDGES)
    assert edges[0] == -np.inf
    assert 0.0 in edges
    np.testing.assert_array_equal(edges, -edges[::-1])


def test_mirrored_counts_give_the_mirrored_law():
    family, counts = skewed_candidates(tuple(both_sides(EDGES))), np.arange(14.0) * 10
    one, other = (believe(c, 30.0, 900.0, family).cdf for c in (counts, counts[::-1]))
    np.testing.assert_allclose(other, 1 - one[::-1], atol=1e-5)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"counts": np.ones(3)}, "counts"),
        ({"edges": both_sides(EDGES)[1:]}, "counts"),
        ({"edges": both_sides(EDGES)[:-1]}, "edges"),
        ({"n": 0.0}, "n"),
    ],
)
def test_bad_input(change, word):
    good = {"counts": np.ones(14), "noise_std": 1.0, "n": 14.0, "edges": both_sides(EDGES)}
    asked = good | change
    with pytest.raises(ValueError, match=word):
        believe(candidates=skewed_candidates(tuple(asked.pop("edges"))), **asked)
