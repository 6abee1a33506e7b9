import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpgp.domain import Box
from dpgp.options import Options
from dpgp.privacy.books import Books
from dpgp.privacy.noise import SimulatedNoise
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_histograms
from dpgp.private.wall import Wall
from dpgp.steps import Purse, ResidualHistograms, planned_steps
from dpgp.steps.known import Known

ROWS, TARGETS = 300, 2


def rows_of(X, Y):
    return Rows(np.asarray(X), np.asarray(Y), np.ones(len(X), dtype=bool))


def made_up():
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (ROWS, 1)), rng.uniform(-0.2, 0.2, (TARGETS, ROWS))


@pytest.fixture(scope="module")
def query():
    """What the step asks after the first stage, as public functions of one row."""
    box = Box.from_bounds((-1, 1), 1)
    asked = Options.parse(
        box=box, target_box=Box.from_bounds([(-1, 1)] * TARGETS, TARGETS), epsilon=3.0, stages=2,
        warp=False, features="linear",
    )  # fmt: skip
    books = Books(asked.epsilon, asked.delta, asked.neighbours)
    steps = planned_steps(Purse(asked, books.mu, ROWS))
    known = Known.before(asked, books.mu, steps, ROWS)
    wall = Wall(rows_of(*made_up()), asked, books, SimulatedNoise(0))
    for step in steps:
        if isinstance(step, ResidualHistograms):
            return step.query(known)
        step.learn(known, wall.release(step.query(known), step.share, step.label))
    raise AssertionError("no law was planned")


@settings(deadline=None, max_examples=25)
@given(
    x=st.floats(-1, 1),
    y=st.lists(st.floats(-1, 1), min_size=TARGETS, max_size=TARGETS),
    place=st.integers(0, ROWS - 1),
)
def test_a_replaced_row_moves_the_counts_by_no_more_than_its_bound(query, x, y, place):
    X, Y = made_up()
    before = exact_histograms(rows_of(X, Y), query)
    X[place], Y[:, place] = x, y
    after = exact_histograms(rows_of(X, Y), query)
    assert np.sum(((after - before) / 2**40) ** 2.0) <= 2 * TARGETS


def test_the_bound_is_attained(query):
    X, Y = made_up()
    Y[:, 0] = -1.0
    before = exact_histograms(rows_of(X, Y), query)
    Y[:, 0] = 1.0
    after = exact_histograms(rows_of(X, Y), query)
    assert np.sum(((after - before) / 2**40) ** 2.0) == 2 * TARGETS
