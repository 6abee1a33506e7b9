"""The options of a fit as plain values, one reader for each. The seed is no part of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpgp.checked_values import (
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
from dpgp.domain import Box
from dpgp.kernels.known import kernel_to_json, own_kernel_from_json
from dpgp.missing import Missing
from dpgp.model.file.categories import has_entry
from dpgp.options import FAMILIES, Options
from dpgp.outcomes import outcome_options
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


def settings_to_json(options: Options) -> dict[str, Any]:
    """Return the options of a fit as plain values."""
    points = options.inducing_points
    if isinstance(points, np.ndarray):
        points = (options.box.centre + points * options.box.half_width).tolist()
    kernels = [kernel_to_json(kernel) for kernel in options.own_kernels]
    return {
        "epsilon": number_to_json(options.epsilon),
        "delta": number_to_json(options.delta),
        "bounds": _pairs(options.box),
        "target_bounds": _pairs(options.target_box),
        "kernel": kernels or None,
        "inducing_points": points,
        "features": None if options.families is None else list(options.families),
        "stages": list(options.stages),
        "neighbours": options.neighbours.value,
        "max_rows_per_unit": options.max_rows_per_unit,
        "warp": options.warp,
        "calibrate": options.calibrate,
        "missing": options.missing.value,
        "n_jobs": None,
        **options.outcome.settings,
    }


def _pairs(box: Box) -> list[list[float] | None]:
    """Return the bounds of every column, null for categories."""
    return [
        [float(box.low[k]), float(box.high[k])] if box.category(k) is None else None
        for k in range(len(box.low))
    ]


def settings_from_json(value: Any, box: Box, target_box: Box, per_person: bool) -> Options:
    """Return the options of the fit; a ModelFileError where they contradict the rest."""
    wishes = [name for name in outcome_options() if has_entry(value, name, True)]
    fields, columns = as_fields(value, "settings", (*SETTINGS, *wishes)), len(box.low)
    relations = tuple(relation.value for relation in Neighbours)
    _check_same(_bounds(fields["bounds"], "settings.bounds"), box)
    _check_same(_bounds(fields["target_bounds"], "settings.target_bounds"), target_box)
    _optional_whole(fields["n_jobs"], "settings.n_jobs", -(10**6))
    return Options.parse(
        box=box,
        target_box=target_box,
        epsilon=as_positive(fields["epsilon"], "settings.epsilon", infinite=True),
        delta=as_number(fields["delta"], "settings.delta", low=0.0),
        kernel=_kernel(fields["kernel"], columns),
        inducing_points=_points(fields["inducing_points"], columns),
        features=_families(fields["features"]),
        stages=_stages(fields["stages"]),
        neighbours=as_choice(fields["neighbours"], "settings.neighbours", relations),
        per_person=per_person,
        max_rows_per_unit=as_whole(fields["max_rows_per_unit"], "settings.max_rows_per_unit"),
        warp=as_flag(fields["warp"], "settings.warp"),
        calibrate=as_flag(fields["calibrate"], "settings.calibrate"),
        missing=as_choice(fields["missing"], "settings.missing", tuple(Missing)),
        **{name: as_flag(fields[name], f"settings.{name}") for name in wishes},
    )


def _check_same(bounds: Any, box: Box) -> None:
    """Refuse bounds that are not those of the columns."""
    same = Box.from_bounds(bounds, len(box.low), box.names, categories=box.categories)
    if not (np.array_equal(same.low, box.low) and np.array_equal(same.high, box.high)):
        raise ModelFileError("`settings` contradict the bounds of the columns.")


def _bounds(value: Any, where: str) -> Any:
    """Return (low, high), a list of such pairs, a mapping to them by name, or None."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {as_text(name, where): _pair(pair, where) for name, pair in value.items()}
    items = as_items(value, where)
    if any(item is None or isinstance(item, list) for item in items):
        return [None if pair is None else _pair(pair, where) for pair in items]
    return _pair(items, where)


def _pair(value: Any, where: str) -> tuple[Any, Any]:
    as_vector(value, where, 2)
    return value[0], value[1]


def _kernel(value: Any, columns: int) -> Any:
    where = "settings.kernel"
    if value is None or isinstance(value, dict):
        return value and own_kernel_from_json(value, where, columns)
    return [own_kernel_from_json(each, where, columns) for each in as_items(value, where, 100)]


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
