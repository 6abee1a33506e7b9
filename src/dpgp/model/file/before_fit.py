"""What the options of a fit must meet for its model to be saved, checked before it spends."""

from __future__ import annotations

import numpy as np

from dpgp.checked_values import LARGEST, MOST_NUMBERS, MOST_ROWS, MOST_TARGETS, ModelFileError
from dpgp.features.inputs import UnitInputs
from dpgp.options import Options
from dpgp.planning.design import asked_features, asked_layout, layouts
from dpgp.planning.file_room import SHARE_OF_MATRICES, most_points


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
