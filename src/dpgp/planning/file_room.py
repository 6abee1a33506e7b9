"""What a model file has room for where a metric is learned: inducing points, and a local scale.

Of C coordinates, m inducing points and T targets a file has 1 + T kernels of two metrics each and a
line with its knots, the points, T covariances of weights, and synthetic rows; the scale has 4C + 1
points of its own. What else there is, such as laws of residuals, is small.

A fit whose model no file could hold is refused before it spends.
"""

from __future__ import annotations

import numpy as np

from dpgp.checked_values import LARGEST, MOST_NUMBERS, MOST_ROWS, MOST_TARGETS, ModelFileError
from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.plan import FEWEST_POINTS, MOST_POINTS, POINTS_STEP
from dpgp.options import Options
from dpgp.planning.design import asked_features, asked_layout, layouts

SHARE_OF_MATRICES = 0.75
"""Share of a file's numbers and rows that matrices may take; by hand: the rest is for all else."""

KNOTS = 65  # of a line in inputs with long tails: one more than bins of an input, at most

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
    kernels = (1 + targets) * 2 * coordinates * (coordinates + KNOTS)
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


def check_savable(options: Options) -> None:
    """Raise where no file could hold the model that these options lead to."""
    if options.columns > LARGEST or options.n_targets > MOST_TARGETS:
        raise ModelFileError(
            f"a model has at most {LARGEST} inputs and {MOST_TARGETS} targets; leave some out."
        )
    # the fewest inducing points must leave room for learned metrics
    if options.learns_metric and not most_points(_coordinates(options), options.n_targets):
        raise ModelFileError(
            f"{options.columns} inputs and {options.n_targets} targets make a model too large for "
            "a file; leave inputs out of `bounds` and `categories`, or fit some targets at a time."
        )
    _check_sizes(options)


def _coordinates(options: Options) -> int:
    return UnitInputs(options.box).dimension


def _check_sizes(options: Options) -> None:
    """Raise where a map that the fit may choose has matrices that are too large."""
    kept = 0 if options.learns_metric else len(options.stages)  # Gram matrices of stages
    matrices = kept + options.n_targets
    for dimension, anchors in _possible_sizes(options):
        rows = matrices * dimension
        numbers = rows * (dimension + 1) / 2
        too_many = max(numbers / MOST_NUMBERS, rows / MOST_ROWS) > SHARE_OF_MATRICES
        if too_many or max(dimension, anchors) > LARGEST:
            raise ModelFileError(
                "these inputs and targets make a model too large for a file; ask for fewer "
                "`inducing_points` or `stages`, or for `features` = 'linear'."
            )


def _possible_sizes(options: Options) -> list[tuple[int, int]]:
    """Return dimension and number of anchors of all maps that the fit may choose."""
    points, columns = options.inducing_points, options.columns
    if isinstance(points, np.ndarray):
        return [(len(points), len(points))]
    if options.learns_metric:
        own = asked_features(options)
        maps = [] if own is None else [own]
    else:
        asked = asked_layout(columns, options.families, points)
        maps = [each.features(columns) for each in (layouts(columns) if asked is None else [asked])]
    return [(features.dimension, features.most_anchors) for features in maps]
