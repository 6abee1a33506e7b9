"""Public arguments of the estimator, one reader for each. The seed is no part of a model."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from dpgp.design import FAMILIES
from dpgp.model_file.kernels import kernel_from_json, kernel_to_json
from dpgp.model_file.values import (
    ModelFileError,
    as_choice,
    as_fields,
    as_flag,
    as_items,
    as_matrix,
    as_number,
    as_positive,
    as_text,
    as_vector,
    as_whole,
    number_to_json,
)
from dpgp.privacy.neighbours import Neighbours

SETTINGS = (
    "epsilon",
    "delta",
    "bounds",
    "target_bounds",
    "kernel",
    "inducing_points",
    "features",
    "stages",
    "neighbours",
    "max_rows_per_unit",
    "warp",
    "calibrate",
    "missing",
    "n_jobs",
)


def settings_to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the estimator as plain values, without its seed."""
    values = {name: _to_json(name, parameters[name]) for name in SETTINGS if name != "kernel"}
    kernel = parameters["kernel"]
    if isinstance(kernel, Kernel):
        return values | {"kernel": kernel_to_json(kernel)}
    return values | {"kernel": kernel and [kernel_to_json(each) for each in kernel]}


def _to_json(name: str, value: Any) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Neighbours):
        return value.value
    if isinstance(value, np.bool_ | Integral):
        return value.item() if isinstance(value, np.generic) else int(value)
    if isinstance(value, Real):
        return number_to_json(value)
    if isinstance(value, Mapping):
        return {as_text(key, name): _to_json(name, part) for key, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_to_json(name, part) for part in value]
    if hasattr(value, "__array__"):
        return _to_json(name, np.asarray(value))
    raise ModelFileError(f"`{name}` is a {type(value).__name__} and cannot be saved.")


def settings_from_json(value: Any, columns: int) -> dict[str, Any]:
    """Return arguments for the estimator."""
    fields = as_fields(value, "settings", SETTINGS)
    relations = tuple(relation.value for relation in Neighbours)
    return {
        "epsilon": as_positive(fields["epsilon"], "settings.epsilon", infinite=True),
        "delta": as_number(fields["delta"], "settings.delta", low=0.0),
        "bounds": _bounds(fields["bounds"], "settings.bounds"),
        "target_bounds": _bounds(fields["target_bounds"], "settings.target_bounds"),
        "kernel": _kernel(fields["kernel"], columns),
        "inducing_points": _points(fields["inducing_points"], columns),
        "features": _families(fields["features"]),
        "stages": _stages(fields["stages"]),
        "neighbours": as_choice(fields["neighbours"], "settings.neighbours", relations),
        "max_rows_per_unit": as_whole(fields["max_rows_per_unit"], "settings.max_rows_per_unit"),
        "warp": as_flag(fields["warp"], "settings.warp"),
        "calibrate": as_flag(fields["calibrate"], "settings.calibrate"),
        "missing": as_choice(fields["missing"], "settings.missing", ("error", "ignore")),
        "n_jobs": _optional_whole(fields["n_jobs"], "settings.n_jobs", -(10**6)),
    }


def _bounds(value: Any, where: str) -> Any:
    """Return (low, high), a list of such pairs, a mapping to them by name, or None."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {as_text(name, where): _pair(pair, where) for name, pair in value.items()}
    items = as_items(value, where)
    if isinstance(items[0], list):
        return [_pair(pair, where) for pair in items]
    return _pair(items, where)


def _pair(value: Any, where: str) -> tuple[Any, Any]:
    as_vector(value, where, 2)
    return value[0], value[1]


def _kernel(value: Any, columns: int) -> Any:
    where = "settings.kernel"
    if value is None or isinstance(value, dict):
        return value and kernel_from_json(value, where, columns)
    return [kernel_from_json(each, where, columns) for each in as_items(value, where, 100)]


def _points(value: Any, columns: int) -> Any:
    where = "settings.inducing_points"
    if isinstance(value, list):
        return as_matrix(value, where, columns)
    return _optional_whole(value, where, 1)


def _families(value: Any) -> Any:
    where = "settings.features"
    if value is None or isinstance(value, str):
        return value and as_choice(value, where, FAMILIES)
    return [as_choice(name, where, FAMILIES) for name in as_items(value, where, 100)]


def _stages(value: Any) -> Any:
    where = "settings.stages"
    if isinstance(value, list):
        return [as_positive(weight, where) for weight in as_items(value, where)]
    return _optional_whole(value, where, 1)


def _optional_whole(value: Any, where: str, low: int) -> int | None:
    return None if value is None else as_whole(value, where, low)
