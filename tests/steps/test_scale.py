"""The step of the local scale: when it is taken, what it asks, and that its bound is attained."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import dpgp
from dpgp.audit.attacks import WorstCase, asked_once
from dpgp.audit.replay import distance
from dpgp.domain import Box
from dpgp.features.inputs import BoxFeatures, CutDistances, Residuals, UnitInputs
from dpgp.features.linear import LinearFeatures
from dpgp.options import Options
from dpgp.privacy.noise import SimulatedNoise
from dpgp.private.rows import Rows
from dpgp.steps import MeasureScale, Purse, planned_steps
from dpgp.steps.base import GramQuery

BOX = Box.from_bounds((-1, 1), 1)
LINE = BoxFeatures(UnitInputs(BOX), LinearFeatures(1, 0.5))
DISTANCES = CutDistances(Residuals(LINE, np.zeros((1, 2)), np.array([0.1])))


def purse(rows, mu, columns=2, **changes):
    box = Box.from_bounds((0, 1), columns)
    return Purse(Options.parse(box=box, target_box=BOX, **changes), mu, rows)


def taken(*about, **changes):
    return MeasureScale in map(type, planned_steps(purse(*about, **changes)))


def test_the_step_is_taken_where_rows_and_budget_can_tell_a_scale():
    assert taken(5000, 0.3)
    assert not taken(300, 0.1)
    assert taken(20_000, 0.3, columns=6)
    assert not taken(1000, 0.3, columns=6)
    assert not taken(5000, 0.3, calibrate=False)
    assert "no function of the scale" in MeasureScale.why([])


@given(arrays(np.float64, 16, elements=st.floats(allow_nan=False)))
def test_distances_lie_within_minus_one_and_one(targets):
    X = np.linspace(-1, 1, 16)[:, None]
    with np.errstate(over="ignore"):
        q = DISTANCES.beside(LINE, X, targets[None], np.empty((LINE.dimension, 16)))
    assert (np.abs(q) <= 1.0).all()


def test_the_bound_is_attained():
    # at the same x, where ‖φ‖ = 1, one row lies on the mean and the other far away: q = −1 and 1
    def rows(target):
        return Rows(np.array([[1.0], [1.0]]), np.array([[0.0, target]]), np.ones(2, dtype=bool))

    options = Options.parse(box=BOX, target_box=BOX)
    case = WorstCase(GramQuery(LINE, DISTANCES), options, rows(0.0), rows(1.0))
    source = SimulatedNoise(0)
    (one, mu), (other, _) = (asked_once(case, each, source) for each in (case.one, case.other))
    moved = distance(one.totals, other.totals, one.scales)
    assert moved == pytest.approx(mu, rel=1e-4)
    assert moved <= mu


def grown(columns, n, epsilon, seed=0):
    """Rows whose scatter grows fivefold along the first input."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, columns))
    y = 0.5 * np.sin(3 * X[:, 0]) + 0.04 * 5 ** X[:, 0] * rng.standard_normal(n)
    gp = dpgp.PrivateGPRegressor(epsilon, 1e-6, bounds=(0, 1), target_bounds=(-1.5, 1.5))
    return gp.set_params(random_state=seed, stages=3).fit(X, y)


@pytest.mark.parametrize(
    ("columns", "n", "epsilon"),
    [(1, 3000, 1.0), (2, 4000, 3.0), (1, 1000, np.inf), (5, 4000, 10.0)],
)
def test_a_fit_finds_where_observations_scatter_more(columns, n, epsilon):
    gp = grown(columns, n, epsilon)
    assert len(gp.model_.scales) == 1
    if epsilon < np.inf:
        assert "local scale" in [release.label for release in gp.certificate_.releases]
    ends = np.full((2, columns), 0.5)
    ends[:, 0] = 0.05, 0.95
    _, std = gp.predict(ends, return_std=True)
    # the truth is 5^0.9 = 4.3; a model without the scale says 1
    assert 2.2 < std[1] / std[0] < 7.0


def test_without_the_step_nothing_is_scaled():
    gp = grown(2, 300, 0.3)
    assert gp.model_.scales == ()
    np.testing.assert_array_equal(gp.model_.local_scale(0, np.zeros((3, 2))), 1.0)
