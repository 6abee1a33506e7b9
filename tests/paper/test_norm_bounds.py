import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)

from dpgp.kernels.bounds import envelope, is_gaussian_mixture
from dpgp.kernels.envelopes import BoxCells
from dpgp.kernels.given import NormalizedKernel, ProductKernel
from dpgp.paper import norm_bounds
from dpgp.paper.norm_bounds import (
    certified_bound,
    grid_centre_bound,
    norm_bound,
    one_dimensional_bound,
    separated_bound,
    trivial_bound,
)
from dpgp.point_sets import regular_grid

ROUNDING = 1 + 1e-12
LENGTHS = st.floats(0.4, 3.0)
VARIANCES = st.floats(0.2, 5.0)


@st.composite
def radial_kernels(draw, n_columns):
    """Constant times one decreasing stationary kernel."""
    lengths = draw(st.one_of(LENGTHS, st.lists(LENGTHS, min_size=n_columns, max_size=n_columns)))
    name = draw(st.sampled_from(["rbf", "matern", "rational"]))
    if name == "rbf":
        kernel = RBF(lengths)
    elif name == "matern":
        kernel = Matern(lengths, nu=draw(st.sampled_from([0.5, 0.8, 1.5, 2.5, math.inf])))
    else:
        kernel = RationalQuadratic(draw(LENGTHS), alpha=draw(st.floats(0.3, 5.0)))
    return draw(VARIANCES) * kernel


@st.composite
def mixtures(draw, n_columns):
    """Sums, products and powers of decreasing kernels, each with its own length scales."""
    kernel, other = draw(radial_kernels(n_columns)), draw(radial_kernels(n_columns))
    per_column = ProductKernel([draw(radial_kernels(1)) for _ in range(n_columns)])
    choices = [kernel + other, kernel * other, kernel**2 + WhiteKernel(0.3), per_column, kernel]
    return draw(st.sampled_from(choices))


@st.composite
def any_kernels(draw, n_columns):
    """Kernels that neither decrease with distance nor stay positive."""
    kernel = draw(mixtures(n_columns))
    choices = [
        kernel + DotProduct(draw(st.floats(0.0, 2.0))),
        kernel * DotProduct(0.5) ** draw(st.sampled_from([2, 3])),
        kernel * ExpSineSquared(draw(LENGTHS), draw(st.floats(0.5, 4.0))),
        ExpSineSquared(draw(LENGTHS), draw(st.floats(0.5, 4.0))) * kernel,
        RationalQuadratic() ** 0.5 + ExpSineSquared(draw(LENGTHS), draw(LENGTHS)),
        NormalizedKernel(DotProduct(1.0)) * kernel,
    ]
    return draw(st.sampled_from(choices))


@st.composite
def scattered(draw, kernels, max_columns=4, max_points=9):
    n_columns = draw(st.integers(1, max_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    points = rng.uniform(-2, 2, (draw(st.integers(1, max_points)), n_columns))
    return draw(kernels(n_columns)), points, rng


@st.composite
def gridded(draw, kernels, sides=(1, 2, 3, 4, 5), max_points=100):
    counts = draw(st.lists(st.sampled_from(sides), min_size=1, max_size=4))
    while math.prod(counts) > max_points:
        counts.remove(max(counts))
    low = np.array([draw(st.floats(-3, 3)) for _ in counts])
    step = np.array([draw(st.floats(0.2, 2.5)) for _ in counts])
    points = regular_grid(low, low + step * (np.array(counts) - 1), counts).points
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return draw(kernels(len(counts))), points, rng


def norms(kernel, Z, X):
    return np.linalg.norm(kernel(X, Z), axis=1)


def places(Z, rng, count=300):
    """Points near, between, among and far from the inducing points."""
    low, high = Z.min(axis=0) - 0.5, Z.max(axis=0) + 0.5
    pairs = rng.integers(len(Z), size=(2, count))
    share = rng.uniform(size=(count, 1))
    between = share * Z[pairs[0]] + (1 - share) * Z[pairs[1]]
    inside = rng.uniform(low, high, (count, Z.shape[1]))
    return np.concatenate([Z, Z.mean(axis=0, keepdims=True), between, inside, 10 * inside])


def dense_search(kernel, Z, rng):
    """The largest norm that many local searches reach."""
    starts = places(Z, rng)
    starts = starts[np.argsort(-norms(kernel, Z, starts))[:6]]
    found = [
        minimize(lambda x: -norms(kernel, Z, x[None])[0], start, method="Nelder-Mead").fun
        for start in starts
    ]
    return max(-min(found), norms(kernel, Z, starts).max())


# --- never exceeded ---


@settings(deadline=None, max_examples=60)
@given(scattered(radial_kernels))
def test_no_point_exceeds_a_bound(case):
    kernel, Z, rng = case
    largest = norms(kernel, Z, places(Z, rng)).max()
    bounds = [trivial_bound(kernel, Z), separated_bound(kernel, Z)]
    if Z.shape[1] == 1:
        bounds.append(one_dimensional_bound(kernel, Z))
    assert largest <= min(bounds) * ROUNDING
    assert largest <= certified_bound(kernel, Z).upper


@settings(deadline=None, max_examples=60)
@given(gridded(radial_kernels))
def test_no_point_exceeds_a_bound_on_a_grid(case):
    kernel, Z, rng = case
    largest = norms(kernel, Z, places(Z, rng)).max()
    assert largest <= separated_bound(kernel, Z) * ROUNDING
    assert largest <= certified_bound(kernel, Z, relative_gap=1e-3).upper


@settings(deadline=None, max_examples=60)
@given(gridded(mixtures, sides=(1, 3, 5)))
def test_no_point_exceeds_the_centre_of_an_odd_grid(case):
    kernel, Z, rng = case
    centre = grid_centre_bound(kernel, Z)
    assert norms(kernel, Z, places(Z, rng)).max() <= centre * ROUNDING
    bound = certified_bound(kernel, Z, relative_gap=1e-3)
    assert centre <= bound.upper
    assert bound.attained <= centre * ROUNDING


@settings(deadline=None, max_examples=50)
@given(scattered(any_kernels, max_columns=2, max_points=5))
def test_no_point_of_the_box_exceeds_the_certified_bound_of_any_kernel(case):
    kernel, Z, rng = case
    low, high = np.full(Z.shape[1], -1.5), np.full(Z.shape[1], 2.5)
    bound = certified_bound(kernel, Z, low, high, relative_gap=0.02)
    X = np.concatenate([rng.uniform(low, high, (300, len(low))), [low, high]])
    assert norms(kernel, Z, X).max() <= bound.upper
    assert bound.upper <= trivial_bound(kernel, Z, low, high) * ROUNDING or bound.gap <= 0.02


@settings(deadline=None, max_examples=100)
@given(scattered(any_kernels, max_columns=3), st.floats(1e-3, 3.0))
def test_kernel_stays_in_its_envelope(case, width):
    kernel, Z, rng = case
    low = rng.uniform(-2, 2, (20, Z.shape[1]))
    cells = BoxCells(low, low + width * rng.uniform(size=low.shape), Z)
    hull = envelope(kernel, cells)
    squared = hull**2
    for share in itertools.chain([0.0, 1.0], rng.uniform(size=(10, *low.shape))):
        x = low + share * (cells.high - low)
        excess = (x[:, None, :] - Z) ** 2 - cells.farthest**2
        values = kernel(x, Z)
        size = 1e-12 * np.maximum(np.abs(hull.low), np.abs(hull.high))
        assert np.all(hull.low - size <= values)
        assert np.all(values <= hull.high + size)
        assert np.all(values <= hull.corner + np.sum(hull.slope * excess, axis=-1) + size)
        majorant = squared.corner + np.sum(squared.slope * excess, axis=-1)
        assert np.all(values**2 <= majorant * (1 + 1e-9) + size)


# --- attained ---


@settings(deadline=None, max_examples=25)
@given(scattered(mixtures))
def test_certified_bound_is_attained(case):
    kernel, Z, rng = case
    bound = certified_bound(kernel, Z)
    left = 0.0 if bound.cells < norm_bounds.CELL_LIMIT else bound.gap
    assert bound.gap <= 1e-7 + left
    assert bound.attained == pytest.approx(norms(kernel, Z, bound.argmax[None])[0], rel=1e-12)
    assert dense_search(kernel, Z, rng) >= bound.upper * (1 - 1e-6 - left)


@settings(deadline=None, max_examples=25)
@given(gridded(mixtures, max_points=20))
def test_certified_bound_is_attained_on_a_grid(case):
    kernel, Z, rng = case
    bound = certified_bound(kernel, Z)
    # a flat top in three or four columns may use up the cells
    left = 0.0 if bound.cells < norm_bounds.CELL_LIMIT else bound.gap
    assert bound.gap <= max(1e-7, left)
    assert dense_search(kernel, Z, rng) >= bound.upper * (1 - 1e-6 - left)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(1.0) + DotProduct(0.5),
        RBF(2.0) * ExpSineSquared(1.0, 2.0),
        RationalQuadratic(1.0, 0.5) ** 0.5,
        DotProduct(0.3) ** 3 + Matern(1.0, nu=0.5),
    ],
)
def test_one_dimensional_kernels_that_need_a_box_are_certified_too(kernel):
    Z = np.linspace(-2, 2, 7)[:, None]
    bound = certified_bound(kernel, Z, -1.0, 3.0)
    largest = norms(kernel, Z, np.linspace(-1, 3, 100_001)[:, None]).max()
    assert bound.gap <= 1e-7
    assert largest <= bound.upper <= largest * (1 + 1e-6)


def test_even_grid_has_its_maximum_at_neither_centre_nor_point():
    Z = np.array([[0.0], [1.6]])
    bound = certified_bound(RBF(1.0), Z)
    centre, point = norms(RBF(1.0), Z, np.array([[0.8], [0.0]]))
    assert abs(bound.argmax[0] / 1.6 - 0.5) == pytest.approx(0.368, abs=1e-3)
    assert bound.attained > point * 1.01 > centre * 1.01
    with pytest.raises(ValueError, match="odd number of points"):
        grid_centre_bound(RBF(1.0), Z)


def test_bounds_that_are_attained_exactly():
    kernel = 2.0 * RBF(0.01)
    far_apart = np.arange(5.0)[:, None]
    assert separated_bound(kernel, far_apart) == pytest.approx(2.0)
    assert certified_bound(kernel, far_apart).upper == pytest.approx(2.0)
    together = np.zeros((9, 2))
    assert trivial_bound(kernel, together) == separated_bound(kernel, together) == 6.0
    assert certified_bound(kernel, together).upper == pytest.approx(6.0)


def test_box_restricts_the_maximum():
    Z = np.linspace(-2, 2, 5)[:, None]
    bound = certified_bound(RBF(1.0), Z, 4.0, 6.0)
    assert bound.attained == pytest.approx(norms(RBF(1.0), Z, np.array([[4.0]]))[0])
    assert bound.gap < 1e-7


def test_product_grid_agrees_with_the_search_and_with_any_order_of_points():
    kernel = 1.3 * RBF([0.7, 1.1])
    Z = regular_grid([0, 0], [2, 3], [4, 3]).points
    shuffled = np.random.default_rng(0).permutation(Z)
    by_factors = certified_bound(kernel, shuffled)
    by_search = certified_bound(kernel, np.concatenate([Z, [[50.0, 50.0]]]))
    assert (by_factors.method, by_search.method) == ("product grid", "branch and bound")
    assert by_factors.upper == pytest.approx(by_search.upper, rel=2e-7)


@pytest.mark.parametrize("batch", [1, 3])
def test_search_loses_no_cell_whatever_the_batch(monkeypatch, batch):
    rng = np.random.default_rng(5)
    for _ in range(10):
        kernel, Z = RBF(0.5), rng.uniform(-1, 1, (6, 2))
        exact = certified_bound(kernel, Z)
        monkeypatch.setattr(norm_bounds, "BATCH", batch)
        assert certified_bound(kernel, Z).upper == pytest.approx(exact.upper, rel=2e-7)
        monkeypatch.undo()


def test_search_that_runs_out_of_cells_stays_valid(monkeypatch):
    kernel, Z = Matern([1.0, 2.0], nu=1.5), np.random.default_rng(3).uniform(-2, 2, (12, 2))
    exact = certified_bound(kernel, Z)
    monkeypatch.setattr(norm_bounds, "CELL_LIMIT", 10)
    rough = certified_bound(kernel, Z)
    assert rough.upper >= exact.attained
    assert rough.gap > 1e-4


# --- the paper's formulas ---


@settings(deadline=None, max_examples=60)
@given(gridded(radial_kernels, sides=(1, 3, 5)))
def test_order_of_the_equations(case):
    kernel, Z, _ = case
    assert grid_centre_bound(kernel, Z) <= separated_bound(kernel, Z) * ROUNDING
    assert separated_bound(kernel, Z) <= trivial_bound(kernel, Z) * ROUNDING


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7])
def test_equations_as_naive_loops(count):
    length, variance, spacing = 0.8, 1.7, 0.9
    Z = spacing * np.arange(count)[:, None]
    kernel = variance * RBF(length)

    def k_r(r):
        return math.exp(-0.5 * (r / length) ** 2)

    distance = spacing if count > 1 else 0.0
    floor, ceil = count // 2, -(-count // 2)
    eq_7 = sum(2 * k_r(j * distance) ** 2 for j in range(floor + 1))
    eq_7 += (ceil - floor) * k_r(ceil * distance) ** 2
    eq_8 = 1 + (count - 1) * k_r(distance / 2) ** 2
    centre = spacing * (count - 1) / 2
    eq_9 = sum(k_r(centre - z) ** 2 for z in Z[:, 0])
    assert trivial_bound(kernel, Z) == pytest.approx(variance * math.sqrt(count))
    assert one_dimensional_bound(kernel, Z) == pytest.approx(variance * math.sqrt(eq_7))
    assert separated_bound(kernel, Z) == pytest.approx(variance * math.sqrt(eq_8))
    if count % 2:
        assert grid_centre_bound(kernel, Z) == pytest.approx(variance * math.sqrt(eq_9))


def test_one_dimensional_bound_has_two_terms_to_spare():
    Z = np.array([[0.0], [1.0]])
    assert one_dimensional_bound(RBF(1.0), Z) > trivial_bound(RBF(1.0), Z)


def test_distances_are_divided_by_the_length_scales():
    Z = regular_grid([0, 0], [1, 1], 3).points
    scale = np.array([3.0, 0.5])
    assert separated_bound(RBF(scale), Z * scale) == pytest.approx(separated_bound(RBF(1.0), Z))
    assert separated_bound(RBF(1.0) + RBF(2.0), Z) < trivial_bound(RBF(1.0) + RBF(2.0), Z)


# --- the rule by its name ---


def test_rule_names_the_bound():
    kernel, Z = 2.0 * RBF(1.0), np.arange(5.0)[:, None]
    assert norm_bound(kernel, Z, "trivial") == trivial_bound(kernel, Z)
    assert norm_bound(kernel, Z, "one-dimensional") == one_dimensional_bound(kernel, Z)
    assert norm_bound(kernel, Z, "separated") == separated_bound(kernel, Z)
    assert norm_bound(kernel, Z, "grid-centre") == grid_centre_bound(kernel, Z)
    assert norm_bound(kernel, Z, "certified") == certified_bound(kernel, Z).upper
    assert norm_bound(kernel, Z, 3) == 3.0


@pytest.mark.parametrize("rule", ["tight", 0.0, -1.0, math.inf, math.nan])
def test_unknown_rule_is_refused(rule):
    with pytest.raises(ValueError, match="`norm_bound` must be"):
        norm_bound(RBF(1.0), np.zeros((1, 1)), rule)


@pytest.mark.parametrize("rule", ["one-dimensional", "separated", "grid-centre"])
@pytest.mark.parametrize("kernel", [DotProduct(1.0), ExpSineSquared(), RBF() ** 0.5])
def test_equations_refuse_kernels_they_do_not_cover(rule, kernel):
    with pytest.raises(ValueError, match=f"`kernel` must be .*{rule}.*use 'trivial'"):
        norm_bound(kernel, np.arange(3.0)[:, None], rule)


def test_two_metrics_are_not_one_distance():
    Z = np.zeros((1, 2))
    with pytest.raises(ValueError, match="separated"):
        separated_bound(RBF([1.0, 2.0]) + RBF([2.0, 1.0]), Z)
    assert separated_bound(RBF([1.0, 2.0]) * Matern([2.0, 4.0]), Z) == 1.0


@pytest.mark.parametrize("rule", ["trivial", "certified"])
def test_unbounded_kernels_are_refused(rule):
    Z = np.arange(3.0)[:, None]
    with pytest.raises(
        ValueError, match=r"`kernel` must have a bounded variance.*NormalizedKernel"
    ):
        norm_bound(PairwiseKernel(metric="linear"), Z, rule, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"`low` and `high`|`bounds`"):
        norm_bound(DotProduct(1.0), Z, rule)


class SharedLetters:
    """A kernel on strings."""

    requires_vector_input = False
    variance_bound = 1.0

    def __call__(self, X, Y):
        return np.array([[len(set(x) & set(y)) / 26 for y in Y] for x in X])

    def diag(self, X):
        return np.array([len(set(x)) / 26 for x in X])


def test_kernels_on_strings_have_the_trivial_bound():
    words = ["abc", "bcd", "xyz"]
    bound = norm_bound(SharedLetters(), words, "trivial")
    assert np.linalg.norm(SharedLetters()(["abcdxyz"], words)) <= bound == math.sqrt(9 / 26)
    with pytest.raises(ValueError, match="rows of numbers"):
        certified_bound(SharedLetters(), words)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((RBF(), np.zeros(3)), "`Z` must be a finite matrix"),
        ((RBF(), np.array([[math.nan]])), "`Z` must be a finite matrix"),
        ((RBF(), np.zeros((1, 1)), 0.0), "given together"),
        ((RBF(), np.zeros((1, 1)), 1.0, 0.0), "`low` must not exceed `high`"),
        ((ExpSineSquared(), np.zeros((1, 1)), 0.0, math.inf), "must be given"),
    ],
)
def test_malformed_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        certified_bound(*arguments)


def test_one_dimensional_bound_refuses_more_columns():
    with pytest.raises(ValueError, match="`Z` must have one column"):
        one_dimensional_bound(RBF(), np.zeros((2, 2)))


@pytest.mark.parametrize("axis", [[0.0, 1.0, 3.0], [0.0, 1.0]])
def test_grid_centre_refuses_irregular_and_even_grids(axis):
    with pytest.raises(ValueError, match="`Z` must be a regular grid"):
        grid_centre_bound(RBF(), np.array(axis)[:, None])


def test_what_is_a_mixture_of_gaussians():
    assert is_gaussian_mixture(ConstantKernel(2.0) * RBF() ** 3 + WhiteKernel())
    assert not is_gaussian_mixture(ConstantKernel(-2.0) * RBF())
    assert not is_gaussian_mixture(RBF() * ExpSineSquared())
    assert not is_gaussian_mixture(RBF() ** 0.5)


def test_white_noise_does_not_count():
    Z = np.arange(3.0)[:, None]
    assert (
        certified_bound(WhiteKernel(2.0), Z).upper == certified_bound(WhiteKernel(2.0), Z).gap == 0
    )
    assert separated_bound(RBF() + WhiteKernel(2.0), Z) == separated_bound(RBF(), Z)
