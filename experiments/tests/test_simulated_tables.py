"""Simulated tables: repeatable, within their bounds, and as hard as they are said to be."""

import numpy as np
import pytest

from dpgp_experiments.simulated_tables import (
    CORRELATION,
    FAMILY,
    FUNCTIONS,
    LAWS,
    NOISE,
    SimulatedTable,
)


def test_the_family_is_complete_and_has_names_of_its_own():
    assert len(FAMILY) == 2 * 3 * len(FUNCTIONS) * len(LAWS)
    assert len({table.key for table in FAMILY}) == len(FAMILY)


@pytest.mark.parametrize("table", FAMILY[::7], ids=lambda table: table.key)
def test_rows_are_within_their_bounds_and_the_same_every_time(table):
    task, again = table.draw(), table.draw()
    assert task.X.shape == (2 * table.training_rows, table.inputs)
    low, high = np.array(task.bounds).T
    assert ((low < task.X) & (high > task.X)).all()
    assert np.mean((task.target_bounds[0] < task.y) & (task.y < task.target_bounds[1])) > 0.999
    assert np.array_equal(task.X, again.X)
    assert np.array_equal(task.y, again.y)
    assert np.var(task.y) == pytest.approx(1.0 + NOISE**2, rel=0.1)


def test_neighbouring_columns_are_correlated_where_they_are_said_to_be():
    tables = [SimulatedTable("linear", law, 5, 5000).draw().X for law in LAWS]
    uniform, correlated = (np.corrcoef(X.T)[0, 1] for X in tables)
    assert abs(uniform) < 0.05
    assert correlated == pytest.approx(CORRELATION, abs=0.05)


def test_only_the_linear_function_is_linear():
    for name in FUNCTIONS:
        task = SimulatedTable(name, "uniform", 5, 5000).draw()
        design = np.column_stack([np.ones(len(task.y)), task.X])
        residual = task.y - design @ np.linalg.lstsq(design, task.y)[0]
        assert (np.std(residual) < 1.05 * NOISE) == (name == "linear")
