import numpy as np
import pytest

from dpgp.domain import Box
from dpgp.features.linear import UnitLine
from dpgp.inference.many.marginals import estimate_marginals
from dpgp.inference.many.synthetic import (
    CONSTANT_SHARE,
    ROWS,
    SMALLEST_SIZE,
    anchors_among,
    broad_pool,
    direction_moments,
    input_moments,
    reweighted,
    spread_cells,
    synthetic_pool,
)

N, BINS = 20_000, 64


def marginals_of(columns, bounds, noise=0.0, seed=0):
    box = Box.from_bounds(bounds, len(columns))
    U = (np.array(columns) - box.centre[:, None]) / box.half_width[:, None]
    counts = np.array([np.histogram(u, np.linspace(-1, 1, BINS + 1))[0] for u in U], dtype=float)
    counts += noise * np.random.default_rng(seed).normal(size=counts.shape)
    return estimate_marginals(counts, noise, len(columns[0]), box)


def draws(marginals, count=5000):
    levels = (np.arange(count) + 0.5) / count
    return marginals.quantiles(np.tile(levels[:, None], len(marginals.masses)))


@pytest.mark.parametrize("noise", [0.0, 30.0])
def test_a_column_of_zeros_and_ones_is_two_atoms_at_its_ends(noise):
    column = (np.random.default_rng(1).random(N) < 0.3).astype(float)
    marginals = marginals_of([column], (0, 1), noise)
    found = draws(marginals)[:, 0]
    assert np.mean(found == 1.0) == pytest.approx(0.3, abs=0.05)
    assert np.mean(found == -1.0) == pytest.approx(0.7, abs=0.05)
    np.testing.assert_allclose(marginals.warp().apply(np.array([[-1.0], [1.0]])), [[-1], [1]])


def test_whole_numbers_stay_whole_numbers():
    column = np.random.default_rng(2).integers(0, 8, N).astype(float)
    found = 4.0 + 5.0 * draws(marginals_of([column], (-1, 9), 20.0))[:, 0]
    near = np.abs(found - np.round(found)) < 1e-9
    assert near.mean() > 0.9
    assert np.mean(found[near] == 3.0) == pytest.approx(1 / 8, abs=0.02)


def test_a_constant_column_is_one_atom_and_is_not_stretched():
    marginals = marginals_of([np.full(N, 0.37)], (0, 1))
    assert draws(marginals).std() == 0.0
    assert marginals.warp().slopes().max() < 1.2


def test_a_heavy_tail_is_a_density_and_gets_room():
    column = np.minimum(np.random.default_rng(3).exponential(0.02, N), 1.0)
    marginals = marginals_of([column], (0, 1), 20.0)
    assert np.isnan(marginals.atoms[0, 0])
    V = marginals.warp().apply(2 * column[:, None] - 1)
    assert V.std() > 3 * (2 * column).std()


def test_inputs_that_fill_their_box_stay_where_they_are_but_at_its_ends():
    warp = marginals_of([np.linspace(0.0, 1.0, N)], (0, 1)).warp()
    np.testing.assert_allclose(warp.slopes()[:, 2:-2], 1.0, atol=0.05)


@pytest.mark.parametrize(("columns", "count"), [(1, 64), (2, 256)])
def test_points_of_few_inputs_leave_no_gap(columns, count):
    rows = np.random.default_rng(0).uniform(-1, 1, (4096, columns))
    anchors = anchors_among(rows, count)
    assert anchors.shape == (count, columns)

    def largest_gap(points):
        distances = np.linalg.norm(rows[:, None] - points, axis=2)
        return distances.min(axis=1).max()

    assert largest_gap(anchors) < 0.8 * largest_gap(rows[:count])


def test_points_of_many_inputs_are_draws_and_those_of_few_values_repeat():
    rows = np.random.default_rng(0).uniform(-1, 1, (4096, 3))
    assert np.array_equal(anchors_among(rows, 208), rows[:208])
    atoms = np.sign(rows[:, :1])
    found = anchors_among(atoms, 64)
    assert found.shape == (64, 1)
    np.testing.assert_allclose(np.abs(found), 1.0)
    assert found.min() < 0.0 < found.max()


def test_noise_alone_is_taken_for_an_even_spread():
    marginals = marginals_of([np.random.default_rng(4).random(200)], (0, 1), 300.0)
    np.testing.assert_allclose(marginals.masses, 1 / BINS, rtol=0.5)


def gram_of(V):
    D = V.shape[1]
    psi = np.column_stack(
        [np.full(len(V), np.sqrt(CONSTANT_SHARE)), V * np.sqrt((1 - CONSTANT_SHARE) / D)]
    )
    return psi.T @ psi


def correlated(seed=5):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(N, 1))
    return np.clip(0.3 * (0.8 * common + 0.6 * rng.normal(size=(N, 4))), -1, 1)


def test_synthetic_inputs_have_the_correlations_and_moments_of_the_rows():
    U = correlated()
    marginals = marginals_of(list(U.T), (-1, 1))
    warp = marginals.warp()
    V = warp.apply(U)
    pool = synthetic_pool(marginals, warp, input_moments(gram_of(V), 0.0, N))
    np.testing.assert_allclose(np.corrcoef(pool.T), np.corrcoef(V.T), atol=0.05)
    np.testing.assert_allclose(pool.mean(axis=0), V.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(pool.std(axis=0), V.std(axis=0), rtol=0.05)


def test_duplicated_and_constant_columns_leave_a_pool_that_is_finite():
    U = correlated()[:, :3]
    U[:, 1], U[:, 2] = U[:, 0], 0.25
    marginals = marginals_of(list(U.T), (-1, 1))
    warp = marginals.warp()
    pool = synthetic_pool(marginals, warp, input_moments(gram_of(warp.apply(U)), 0.0, N))
    assert np.isfinite(pool).all()
    assert np.abs(pool).max() <= 1.0
    assert np.corrcoef(pool[:, 0], pool[:, 1])[0, 1] > 0.9


def test_a_pool_without_histograms_has_the_moments_or_a_broad_guess():
    U = correlated()
    exact = broad_pool(input_moments(gram_of(U), 0.0, N))
    np.testing.assert_allclose(exact.std(axis=0), U.std(axis=0), rtol=0.05)
    lost = broad_pool(input_moments(gram_of(U), 1e6, N))
    np.testing.assert_allclose(lost.std(axis=0), 0.48, atol=0.05)
    assert np.abs(np.corrcoef(lost.T) - np.eye(4)).max() < 0.1


@pytest.mark.parametrize("size", [0.1, 0.4])
def test_directions_tell_correlations_and_the_size_of_small_inputs(size):
    rng = np.random.default_rng(8)
    Z = 0.8 * rng.normal(size=(N, 1)) + 0.6 * rng.normal(size=(N, 12))
    V = np.clip(size * Z, -1, 1)
    phi = UnitLine(12, CONSTANT_SHARE, SMALLEST_SIZE).evaluate(V)
    pool = broad_pool(direction_moments(phi @ phi.T, 0.0, N))
    assert 0.4 < np.corrcoef(pool.T)[np.triu_indices(12, 1)].mean() < 0.75
    low, high = (0.08, 0.12) if size < SMALLEST_SIZE else (0.3, 0.6)
    assert low < pool.std() < high


def test_counts_of_cells_move_the_synthetic_rows_where_the_rows_are():
    rng = np.random.default_rng(6)
    pool, rows = rng.uniform(-1, 1, (2 * ROWS, 4)), rng.uniform(-1, 0.2, (N, 4))
    cells = spread_cells(pool, 128)
    counts = np.bincount(cells.of(rows), minlength=128).astype(float)
    moved = reweighted(pool, cells, counts, 5.0, N)
    assert len(moved) == ROWS
    assert np.abs(moved.mean(axis=0) - rows.mean(axis=0)).max() < 0.1


def test_fewer_different_rows_than_cells_make_fewer_cells():
    pool = np.where(np.random.default_rng(7).random((500, 3)) < 0.5, -1.0, 1.0)
    assert len(spread_cells(pool, 64).centres) == 8
