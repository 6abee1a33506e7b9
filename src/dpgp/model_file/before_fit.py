"""What the arguments of a fit must meet for its model to be saved, checked before it spends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpgp.design import asked_layout, layouts
from dpgp.model_file.features import anchor_count
from dpgp.model_file.settings import settings_from_json, settings_to_json
from dpgp.model_file.values import LARGEST, MOST_NUMBERS, MOST_ROWS, MOST_TARGETS, ModelFileError
from dpgp.options import read_families, read_stages

SHARE_OF_MATRICES = 0.75
"""Share of a file's numbers and rows that covariances and Gram matrices may take."""


def settings_of_fit(parameters: Mapping[str, Any], columns: int, targets: int) -> dict[str, Any]:
    """Return the arguments as a file holds them; a ValueError where no file could hold the model.

    They are kept with the model: arguments that change later say nothing about it.
    """
    settings = settings_to_json(parameters)
    settings_from_json(settings, columns)
    if columns > LARGEST or targets > MOST_TARGETS:
        raise ModelFileError(
            f"a model has at most {LARGEST} inputs and {MOST_TARGETS} targets; leave some out."
        )
    stages = len(read_stages(parameters["stages"]))
    for features in _possible_features(parameters, columns):
        _check_size(*features, stages + targets)
    return settings


def _possible_features(parameters: Mapping[str, Any], columns: int) -> list[tuple[int, int]]:
    """Return dimension and number of anchors of all maps that the fit may choose."""
    points = parameters["inducing_points"]
    if np.ndim(points) > 0:
        return [(len(points), len(points))]
    asked = asked_layout(columns, read_families(parameters["features"]), points)
    maps = [layout.features(columns) for layout in (layouts(columns) if asked is None else [asked])]
    return [(features.dimension, anchor_count(features)) for features in maps]


def _check_size(dimension: int, anchors: int, matrices: int) -> None:
    rows = matrices * dimension
    numbers = rows * (dimension + 1) / 2
    too_many = numbers > SHARE_OF_MATRICES * MOST_NUMBERS or rows > SHARE_OF_MATRICES * MOST_ROWS
    if too_many or max(dimension, anchors) > LARGEST:
        raise ModelFileError(
            "these inputs and targets make a model too large for a file; ask for fewer "
            "`inducing_points` or `stages`, or for `features` = 'linear'."
        )
