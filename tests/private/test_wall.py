import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.gaussian_process.kernels import RBF, Matern

from dpgp.domain import Box
from dpgp.features.combined import ConcatenatedFeatures, GridFeatures
from dpgp.features.inducing import InducingFeatures, kernel_features
from dpgp.features.inputs import BoxFeatures, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.point_sets import as_grid, low_discrepancy_points, regular_grid
from dpgp.privacy.books import Books
from dpgp.privacy.exact_sums import UNIT, UnevenArithmeticError, shrinkage
from dpgp.privacy.mechanism import gram_noise
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SimulatedNoise
from dpgp.privacy.sensitivity import gram_sensitivity, moments_sensitivity
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_gram, exact_histograms, integer_columns
from dpgp.private.wall import Wall, release_exact_gram, release_gram, release_sum
from dpgp.steps.base import CountQuery, HistogramQuery

GRID = regular_grid([-1.0, -1.0], [1.0, 1.0], (3, 4)).points
SCATTERED = low_discrepancy_points([-1.0, -1.0], [1.0, 1.0], 11)
BOX = UnitInputs(Box.from_bounds((-1, 1), 2))
MAPS = {
    "whitened grid": BoxFeatures(BOX, GridFeatures.of([RBF(0.3), Matern(0.5)], as_grid(GRID))),
    "whitened points": BoxFeatures(BOX, InducingFeatures(Matern(0.7), SCATTERED)),
    "concatenated": BoxFeatures(
        BOX,
        ConcatenatedFeatures(
            [LinearFeatures(2), InducingFeatures(RBF(0.7), SCATTERED)], (0.3, 0.7)
        ),
    ),
    "product on a grid": kernel_features(RBF([0.4, 0.8]), GRID, 2.0),
    "any kernel, any points": kernel_features(Matern(0.7), SCATTERED, 2.5),
}


@pytest.fixture(params=MAPS, ids=list(MAPS))
def features(request):
    return MAPS[request.param]


def make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return Rows(rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, (1, n)), np.ones(n, dtype=bool))


def reorder(rows, order):
    return Rows(rows.inputs[order], rows.targets[:, order], rows.usable[order])


@pytest.mark.parametrize("block_rows", [256, 1024, 2048, 4096])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_order_block_size_and_threads_leave_every_bit(features, block_rows, n_jobs):
    rows = make_rows(3000)
    order = np.random.default_rng(1).permutation(3000)
    expected = exact_gram(rows, features)
    result = exact_gram(reorder(rows, order), features, n_jobs=n_jobs, block_rows=block_rows)
    assert np.array_equal(result, expected)


def test_a_rows_integers_do_not_depend_on_its_place_in_a_block(features):
    size = 2048
    row, others = make_rows(1, seed=5), make_rows(size, seed=6)
    alone = integer_columns(reorder(row, np.zeros(size, dtype=int)), features)
    assert np.array_equal(alone, np.repeat(alone[:, :1], size, axis=1))  # every position
    for position in range(0, size, 37):
        inputs, targets = others.inputs.copy(), others.targets.copy()
        inputs[position], targets[:, position] = row.inputs[0], row.targets[:, 0]
        block = integer_columns(Rows(inputs, targets, others.usable), features)
        assert np.array_equal(block[:, position], alone[:, 0])


class PlaceDependent(BoxFeatures):
    """Features whose values grow with a row's place in its block, by less than anybody sees."""

    def evaluate(self, X, out=None):
        phi = super().evaluate(X, out)
        phi *= 1.0 - 1e-5 * np.arange(phi.shape[1]) / phi.shape[1]
        return phi


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_features_that_depend_on_a_rows_place_release_nothing(n_jobs):
    # else replacing one row by none moves all rows behind it, and each of them changes the sum
    ledger = Books(1.0, 1e-6, Neighbours.REPLACE)
    with pytest.raises(UnevenArithmeticError, match="this pass released nothing"):
        release_gram(
            make_rows(50),
            PlaceDependent(BOX, LinearFeatures(2)),
            gram_noise(ledger.share(1.0), 1.0, 1, ledger.neighbours),
            label="sum",
            books=ledger,
            source=SimulatedNoise(0),
            n_jobs=n_jobs,
        )
    assert ledger.releases == []


def test_sums_over_shards_equal_the_sum_over_all(features):
    rows = make_rows(5000)
    shards = [reorder(rows, slice(0, 1234)), reorder(rows, slice(1234, None))]
    parts = [exact_gram(shard, features) for shard in shards]
    assert np.array_equal(parts[0] + parts[1], exact_gram(rows, features))


def test_the_integers_are_the_features_up_to_half_a_step(features):
    rows = make_rows(100)
    columns = integer_columns(rows, features)
    d = features.dimension
    assert np.abs(columns[:d] / (shrinkage(d) * UNIT) - features.evaluate(rows.inputs)).max() < 1e-6
    assert np.abs(columns[d:] / UNIT - rows.targets).max() <= 0.5 / UNIT


def test_rows_that_cannot_be_used_contribute_nothing_and_change_nothing_else(features):
    rows = make_rows(500)
    inputs, targets, usable = rows.inputs.copy(), rows.targets.copy(), rows.usable.copy()
    inputs[7], targets[:, 9] = np.nan, np.inf
    usable[[7, 9]] = False
    without = reorder(rows, np.delete(np.arange(500), [7, 9]))
    holed = exact_gram(Rows(inputs, targets, usable), features)
    assert np.array_equal(holed, exact_gram(without, features))


finite_rows = arrays(np.float64, (4, 3), elements=st.floats(-1, 1, width=64))


@settings(max_examples=200)
@given(finite_rows, arrays(np.float64, 3, elements=st.floats(-1, 1, width=64)))
def test_no_neighbour_moves_the_integers_by_more_than_the_sensitivity(data, other):
    features = MAPS["product on a grid"]
    d, neighbour = features.dimension, data.copy()
    neighbour[2] = other
    grams = [
        exact_gram(Rows(x[:, :2], x[None, :, 2], np.ones(4, dtype=bool)), features, block_rows=256)
        for x in (data, neighbour)
    ]
    change = grams[0] - grams[1]
    # the Gram matrix with weight one, and A and B alone, both in exact integers
    bound = gram_sensitivity(math.sqrt(2.0), Neighbours.REPLACE) * UNIT**2
    assert sum(int(v) ** 2 for v in change.ravel()) <= bound**2
    moments = sum(int(v) ** 2 for v in change[:d].ravel())
    assert moments <= (moments_sensitivity(1.0, 1.0, 1.0, Neighbours.REPLACE) * UNIT**2) ** 2


def test_the_release_is_the_sum_plus_noise_of_the_stated_size(features):
    rows, d = make_rows(400), features.dimension
    psi = np.vstack([features.evaluate(rows.inputs), rows.targets])
    exact, noise = psi @ psi.T, gram_noise(1.5, 1.0, 1, Neighbours.REPLACE)
    totals, errors = exact_gram(rows, features), []
    for seed in range(300):
        ledger = Books(10.0, 1e-5, Neighbours.REPLACE)
        release = release_exact_gram(
            totals, d, noise, label="", books=ledger, source=SimulatedNoise(seed)
        )
        errors.append(release.cross[:, 0] - exact[:d, d])
    assert np.std(errors) == pytest.approx(release.cross_std, rel=0.06)
    assert np.abs(np.mean(errors, axis=0)).max() < 5 * release.cross_std / math.sqrt(300)


def test_without_noise_the_release_is_the_sum(features):
    rows, d = make_rows(400), features.dimension
    psi = np.vstack([features.evaluate(rows.inputs), rows.targets])
    release = release_gram(
        rows,
        features,
        gram_noise(math.inf, 1.0, 1, Neighbours.REPLACE),
        label="",
        books=Books(math.inf, 1e-5, Neighbours.REPLACE),
        source=SimulatedNoise(0),
    )
    assert np.allclose(release.feature_gram, (psi @ psi.T)[:d, :d], atol=1e-4)
    assert np.allclose(release.cross[:, 0], (psi @ psi.T)[:d, d], atol=1e-4)
    assert np.allclose(release.target_gram, (psi @ psi.T)[d:, d:], atol=1e-4)


def test_a_released_sum_carries_its_noise():
    values, draws = np.array([0.5, -0.25, 2.0]), []
    for seed in range(500):
        ledger = Books(10.0, 1e-5, Neighbours.REPLACE)
        source = SimulatedNoise(seed)
        draws.append(release_sum(values, 1.0, label="", books=ledger, source=source))
    assert np.mean(draws) == pytest.approx(1.25, abs=5 * 2.0 / math.sqrt(500))
    assert np.std(draws) == pytest.approx(2.0, rel=0.15)


def test_rows_show_no_values():
    assert repr(make_rows(3)) == "Rows(...)"


def make_residuals(features):
    weights = np.random.default_rng(3).normal(size=(1, features.dimension))
    return Residuals(features, weights, np.array([0.4]))


def test_residuals_leave_every_bit_alone_wherever_a_row_stands(features):
    rows, residuals = make_rows(3000), make_residuals(features)
    order = np.random.default_rng(1).permutation(3000)
    expected = exact_gram(rows, features, residuals)
    for block_rows in (256, 1024, 4096):
        shuffled = reorder(rows, order)
        result = exact_gram(shuffled, features, residuals, n_jobs=2, block_rows=block_rows)
        assert np.array_equal(result, expected)


@pytest.mark.parametrize("leading", [1, 3, 10_000])
def test_what_is_released_of_a_sum_is_the_same_where_the_rest_is_not_computed(features, leading):
    rows, residuals, d = make_rows(300), make_residuals(features), features.dimension
    whole = exact_gram(rows, features, residuals)
    some = exact_gram(rows, features, residuals, leading=leading)
    stds = gram_noise(1.0, 1.0, 1, Neighbours.REPLACE).matrix(d, 1, leading)
    released = np.triu(~np.isnan(stds))
    assert np.array_equal(some[released], whole[released])
    assert not some[np.isnan(stds)].any()


def test_residuals_are_clipped_and_scaled(features):
    rows, residuals = make_rows(200), make_residuals(features)
    d = features.dimension
    columns = integer_columns(rows, features, residuals)
    left = (rows.targets - residuals.weights @ features.evaluate(rows.inputs)) / 0.4
    assert np.allclose(columns[d:] / UNIT, np.clip(left, -1, 1), atol=1e-6)


def test_residuals_may_come_from_other_features():
    rows, (first, second, *_) = make_rows(200), MAPS.values()
    residuals = make_residuals(second)
    columns = integer_columns(rows, first, residuals)
    left = (rows.targets - residuals.weights @ second.evaluate(rows.inputs)) / 0.4
    assert np.allclose(columns[first.dimension :] / UNIT, np.clip(left, -1, 1), atol=1e-6)


QUARTERS = HistogramQuery(
    lambda inputs, targets: inputs.T, 2, np.array([-0.5, 0.0, 0.5]), np.full(2, 0.1)
)


def wall(rows, neighbours, rows_per_unit, seed):
    unit = Box.from_bounds((-1, 1), 2), Box.from_bounds((-1, 1), 1)
    asked = Options(
        10.0,
        1e-5,
        *unit,
        neighbours=neighbours,
        per_person=True,
        max_rows_per_unit=rows_per_unit,
    )
    return Wall(rows, asked, Books(10.0, 1e-5, neighbours), SimulatedNoise(seed))


def share_of_one(ledger):
    """The share of the budget that is worth μ = 1."""
    return (1.0 / ledger.mu) ** 2


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_histograms_count_the_usable_rows(n_jobs):
    rows = make_rows(1000)
    rows.usable[:100] = False
    counts = exact_histograms(rows, QUARTERS, block_rows=256, n_jobs=n_jobs)
    expected = [np.histogram(x, 4, (-1, 1))[0] for x in rows.inputs[100:].T]
    assert np.array_equal(counts, np.array(expected) * int(UNIT) ** 2)


def test_more_histograms_than_their_sensitivity_counts_are_refused_before_they_are_booked():
    shared = wall(make_rows(100), Neighbours.REPLACE, 1, seed=0)
    query = replace(QUARTERS, histograms=1)  # it returns two
    with pytest.raises(ValueError, match="one value for each of its histograms"):
        shared.release(query, 0.1, "histograms")
    assert shared.books.releases == []


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_released_histograms_carry_their_noise(neighbours):
    rows, draws = make_rows(1000), []
    exact = exact_histograms(rows, QUARTERS)
    for seed in range(100):
        shared = wall(rows, neighbours, 3, seed)
        release = shared.release(QUARTERS, share_of_one(shared.books), "histograms")
        draws.append(release.counts - exact / int(UNIT) ** 2)
    sigma = release.noise_std
    assert sigma == pytest.approx(3 * (2.0 if neighbours is Neighbours.REPLACE else math.sqrt(2)))
    assert np.std(draws) == pytest.approx(sigma, rel=0.15)


def test_the_released_count_is_that_of_the_usable_rows():
    rows = make_rows(500)
    rows.usable[:50] = False
    walls = [wall(rows, Neighbours.ADD_REMOVE, 2, seed) for seed in range(300)]
    draws = [each.release(CountQuery(), share_of_one(each.books), "count") for each in walls]
    assert np.mean(draws) == pytest.approx(450, abs=5 * 2 / math.sqrt(300))
    assert np.std(draws) == pytest.approx(2.0, rel=0.2)
