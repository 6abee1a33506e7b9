"""What a model file has room for where a metric is learned: inducing points, and a local scale.

Of C coordinates, m inducing points and T targets a file has 1 + T kernels of two metrics each, the
points, T covariances of weights, and synthetic rows; the scale has 4C + 1 points of its own. What
else there is, such as laws of residuals, is small.
"""

from __future__ import annotations

from dpgp.checked_values import LARGEST, MOST_NUMBERS
from dpgp.inference.many.plan import FEWEST_POINTS, MOST_POINTS, POINTS_STEP

SHARE_OF_MATRICES = 0.75
"""Share of a file's numbers and rows that matrices may take; by hand: the rest is for all else."""

DENSITY_POINTS = 512
"""Synthetic rows that a model keeps; by hand: enough for an average, few for a file."""


def most_points(coordinates: int, targets: int) -> int:
    """Return how many inducing points a model may have at most; 0 where a file holds no model."""
    with_scale = has_room_for_scale(coordinates, targets)
    for points in range(MOST_POINTS, FEWEST_POINTS - 1, -POINTS_STEP):
        if _fits(numbers(coordinates, targets, points, with_scale=with_scale)):
            return points
    return 0


def has_room_for_scale(coordinates: int, targets: int) -> bool:
    """Return whether a file holds a function of the scale besides a model of the fewest points."""
    if _scale_points(coordinates) > LARGEST:
        return False
    return _fits(numbers(coordinates, targets, FEWEST_POINTS, with_scale=True))


def numbers(coordinates: int, targets: int, points: int, *, with_scale: bool) -> int:
    """Return how many numbers the matrices of a model have."""
    kernels = (1 + targets) * 2 * coordinates**2
    model = kernels + _of_weights(coordinates, targets, points) + DENSITY_POINTS * coordinates
    scale = _of_weights(coordinates, targets, _scale_points(coordinates))
    return model + (scale if with_scale else 0)


def _fits(count: int) -> bool:
    return count <= SHARE_OF_MATRICES * MOST_NUMBERS


def _of_weights(coordinates: int, targets: int, points: int) -> int:
    """Points, and the covariance of their weights for every target."""
    return points * coordinates + targets * (points * (points + 1) // 2)


def _scale_points(coordinates: int) -> int:
    return 4 * coordinates + 1
