import numpy as np
import pytest

from dpgp.point_sets import Grid, as_grid, low_discrepancy_points, regular_grid


def test_a_regular_grid_reaches_from_bound_to_bound():
    grid = regular_grid([0.0, -1.0], [1.0, 1.0], (3, 2))
    assert grid.shape == (3, 2)
    assert len(grid) == 6
    assert np.array_equal(grid.points[:2], [[0.0, -1.0], [0.0, 1.0]])
    assert np.array_equal(grid.points[-1], [1.0, 1.0])


def test_a_single_point_stands_in_the_middle():
    assert regular_grid(0.0, 4.0, 1).points.tolist() == [[2.0]]


def test_low_discrepancy_points_fill_the_box_evenly():
    points = low_discrepancy_points([0.0, 10.0], [1.0, 20.0], 64)
    assert points.shape == (64, 2)
    quarters = np.histogram2d(points[:, 0], points[:, 1], bins=2, range=[(0, 1), (10, 20)])[0]
    assert quarters.min() >= 14
    assert np.array_equal(points, low_discrepancy_points([0.0, 10.0], [1.0, 20.0], 64))


def test_a_grid_is_recognised_in_its_own_order_only():
    grid = regular_grid([0.0, 0.0], [1.0, 1.0], (3, 4))
    assert as_grid(grid.points).shape == (3, 4)
    assert as_grid(grid) is grid
    assert as_grid(grid.points[::-1]) is None
    assert as_grid(np.random.default_rng(0).uniform(size=(12, 2))) is None


@pytest.mark.parametrize("make", [regular_grid, low_discrepancy_points])
def test_no_points_are_refused(make):
    with pytest.raises(ValueError, match="at least 1"):
        make(0.0, 1.0, 0)


def test_a_grid_is_made_of_axes():
    assert Grid((np.array([0.0, 1.0]), np.array([5.0]))).points.tolist() == [[0, 5], [1, 5]]
