import numpy as np
import pytest

from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.features.whitened import LinearFeatures
from dpgp.fitting import Wall, private_inputs
from dpgp.inference.posterior import Posterior
from dpgp.inference.warp import Warp
from dpgp.privacy.exact_sums import UnevenArithmeticError
from dpgp.privacy.ledger import BudgetExceededError, Ledger
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SimulatedNoise
from dpgp.regressor import PrivateGPRegressor
from dpgp.release import BLOCK_ROWS
from dpgp.sources.arrays import Rows
from dpgp.threads import single_threaded_blas


def fitted(columns, **options):
    rng = np.random.default_rng(columns)
    X = rng.uniform(-1, 1, (300, columns))
    gp = PrivateGPRegressor(
        3.0, 1e-5, bounds=(-1, 1), target_bounds=(-2, 2), stages=1, random_state=0, **options
    )
    return gp.fit(X, X[:, 0])


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_a_rows_scaled_residual_does_not_depend_on_its_place_in_a_block(columns):
    # else a neighbour could move other rows to another bin of the residual histogram
    gp, rng = fitted(columns), np.random.default_rng(0)
    row = rng.uniform(-1, 1, columns)

    def prediction_at(position):
        block = rng.uniform(-1, 1, (BLOCK_ROWS, columns))
        block[position] = row
        mean, std = gp.posterior_.predict(gp.inputs_(block))
        return mean[position], std[position]

    with single_threaded_blas():
        assert len({prediction_at(position) for position in range(0, BLOCK_ROWS, 97)}) == 1


def test_uneven_arithmetic_ends_a_fit_before_anything_is_booked(monkeypatch):
    booked = []
    monkeypatch.setattr(Ledger, "reserve", lambda _, release: booked.append(release))
    monkeypatch.setattr(np, "repeat", lambda a, n, axis: a * (1 + np.arange(n) / 2.0**52))
    with pytest.raises(UnevenArithmeticError):
        fitted(1)
    assert booked == []


class Uneven:
    """A function whose result has another last bit at the last place of a block."""

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, _):
        def uneven(*arguments, **options):
            result = self.function(instance, *arguments, **options)
            last = result[0] if isinstance(result, tuple) else result
            last[..., -1] *= 1 + 1e-5 if last.ndim > 1 else 1 + 2.0**-52
            return result

        return uneven


@pytest.mark.parametrize(
    ("owner", "name", "booked"),
    [
        (LinearFeatures, "evaluate", ["input histograms"]),
        (Posterior, "predict", ["input histograms", "stage 1", "guard of the mean"]),
    ],
)
def test_arithmetic_that_depends_on_a_rows_place_ends_a_fit_before_that_release(
    owner, name, booked, monkeypatch
):
    monkeypatch.setattr(owner, name, Uneven(getattr(owner, name)))
    labels, reserve = [], Ledger.reserve
    monkeypatch.setattr(
        Ledger, "reserve", lambda self, r: (labels.append(r.label), reserve(self, r))
    )
    with pytest.raises(UnevenArithmeticError, match="this pass released nothing"):
        fitted(2, features="linear")
    assert labels == booked


def test_inputs_invert_to_where_they_came_from():
    edges = np.linspace(-1, 1, 5)
    values = np.array([[-1, -0.8, 0.1, 0.6, 1], edges])
    inputs = UnitInputs(Box.from_bounds([(0, 10), (5, 9)], 2), Warp(edges, values))
    X = np.array([[1.0, 6.0], [9.5, 8.9]])
    assert np.allclose(inputs.invert(inputs(X)), X)
    assert np.array_equal(inputs(np.array([[-5.0, 99.0]])), [[-1.0, 1.0]])


def wall(rows_per_unit=1, neighbours=Neighbours.REPLACE, seed=0):
    rng = np.random.default_rng(seed)
    rows = Rows(rng.beta(2, 8, (5000, 2)), np.zeros((1, 5000)), np.ones(5000, dtype=bool))
    ledger = Ledger(5.0, 1e-5, neighbours)
    return Wall(rows, ledger, SimulatedNoise(seed), rows_per_unit)


def test_crowded_stretches_of_an_input_get_more_room():
    inputs = private_inputs(wall(), Box.from_bounds((0, 1), 2), 0.05, 5000)
    low = inputs(np.array([[0.05, 0.05], [0.35, 0.35]]))
    high = inputs(np.array([[0.65, 0.65], [0.95, 0.95]]))
    assert np.all(np.diff(low, axis=0) > 1.2 * np.diff(high, axis=0))


def test_without_a_share_inputs_are_not_warped():
    assert private_inputs(wall(), Box.from_bounds((0, 1), 2), 0.0, 5000).warp is None


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_announced_noise_of_a_histogram_is_the_drawn_one(neighbours):
    shared = wall(3, neighbours)
    announced = shared.histogram_noise(2, 0.1)
    _, drawn = shared.histograms(
        lambda block: np.zeros((2, len(block)), dtype=np.int64), 4, 0.1, np.zeros(2), ""
    )
    assert announced == drawn


def test_no_release_exceeds_what_is_left():
    shared = wall()
    shared.count(0.7)
    with pytest.raises(BudgetExceededError):
        shared.count(0.4)
