import numpy as np
import pytest

from dpgp.blas import single_threaded_blas
from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.inference.predictive import Predictive
from dpgp.inference.warp import Warp
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.exact_sums import UnevenArithmeticError
from dpgp.privacy.noise import noise_source
from dpgp.private.fit import fit_rows
from dpgp.private.rows import scaled_rows
from dpgp.private.sums import BLOCK_ROWS
from dpgp.regressor import PrivateGPRegressor


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

    def predictions_from(first):
        places = np.arange(first, BLOCK_ROWS, 97)
        block = rng.uniform(-1, 1, (BLOCK_ROWS, columns))
        block[places] = row
        mean, std = gp.model_.mean_and_std(0, gp.model_.inputs(block))
        return zip(mean[places].tolist(), std[places].tolist(), strict=True)

    with single_threaded_blas():
        assert len({pair for first in (0, 1, 29, 96) for pair in predictions_from(first)}) == 1


def test_uneven_arithmetic_ends_a_fit_before_anything_is_booked(monkeypatch):
    booked = []
    monkeypatch.setattr(Books, "reserve", lambda _, release: booked.append(release))
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
        (
            Predictive,
            "at",
            ["input histograms", "stage 1", "guard of the mean"],
        ),
    ],
)
def test_arithmetic_that_depends_on_a_rows_place_ends_a_fit_before_that_release(
    owner, name, booked, monkeypatch
):
    monkeypatch.setattr(owner, name, Uneven(getattr(owner, name)))
    labels, reserve = [], Books.reserve
    monkeypatch.setattr(
        Books, "reserve", lambda self, r: (labels.append(r.label), reserve(self, r))
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


class Repeated:
    """A source whose every row stands for many: their sums, for the price of few."""

    def __init__(self, rows, times):
        self.rows, self.times = rows, times
        self.like = rows.like

    def __len__(self):
        return len(self.rows) * self.times

    def total(self, question, threads=None):
        return self.times * self.rows.total(question, threads)


def test_no_number_of_rows_ends_a_fit_after_it_was_paid_for():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1000, 1))
    y = np.sin(3 * X.T) + rng.normal(0, 0.1, (1, 1000))
    options = Options.parse(
        epsilon=1.0,
        delta=1e-12,
        box=Box.from_bounds((-1, 1), 1),
        target_box=Box.from_bounds((-2, 2), 1),
    )
    rows = Repeated(scaled_rows(X, y, options, None), 10**8)
    model = fit_rows(rows, options, noise_source(0))
    mean = model.predict(X[:50])
    # a thousand rows are all that there is to learn from
    assert np.abs(mean - np.sin(3 * X[:50, 0])).max() < 0.1
