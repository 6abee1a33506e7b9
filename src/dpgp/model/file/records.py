"""What the stages measured of f, in a model file: docs/model-file.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpgp.checked_values import (
    LARGEST,
    ModelFileError,
    as_between,
    as_choice,
    as_fields,
    as_flag,
    as_items,
    as_number,
    as_positive,
    as_vector,
    as_whole,
    with_present,
)
from dpgp.features.base import UnitFeatures, WrittenMap, features_from_json, features_to_json
from dpgp.features.inducing import InducingFeatures, ProjectedFeatures
from dpgp.features.linear import LinearFeatures, UnitLine
from dpgp.inference.guard import BiasPrior
from dpgp.inference.recorded import (
    WHOLE_BOUNDS,
    Corrections,
    GridRecords,
    MetricRecords,
    Recorded,
    RecordedGuard,
    RecordedStage,
    RecordedSums,
)
from dpgp.kernels.known import kernel_from_json, kernel_to_json
from dpgp.outcomes import Location
from dpgp.packed import DOUBLE, SINGLE, content_digest, pack, unpack
from dpgp.types import Array

VERSION = 1
GRID, METRIC = "grid", "metric"
MOST_PLACES = 2**16
_TARGET = ("bias", "guard")
_FOLLOWS = "follows"  # not in files of earlier versions
_GUARD = ("A", "sigma_a", "middle", "beyond", "centre")
_STAGE = ("features", "B", "weight", "fraction", "targets")
_SUMS = ("A", "slope", "square", "centre")


def records_to_json(recorded: Recorded) -> dict[str, Any]:
    """Return what was measured as plain values and packed arrays."""
    rows = zip(recorded.biases, recorded.guards, recorded.follows, strict=True)
    targets = [
        {"bias": [bias.mean, bias.sd, bias.uneven], "guard": _guard_to_json(guard)}
        | ({} if follows is None else {_FOLLOWS: pack(follows, SINGLE)})
        for bias, guard, follows in rows
    ]
    if isinstance(recorded, GridRecords):
        return _grid_to_json(recorded, targets)
    if isinstance(recorded, MetricRecords):
        return _metric_to_json(recorded, targets)
    raise ModelFileError("records of this kind cannot be saved.")


def digest_of_records(recorded: Recorded | None) -> str | None:
    """Return what an id covers of them; None where nothing was recorded."""
    return None if recorded is None else content_digest(records_to_json(recorded), "records")


def records_from_json(
    value: Any, features: WrittenMap, stages: Sequence[Any], rows_per_unit: int, coordinates: int
) -> Recorded:
    """Return the records of a model whose ``stages`` of every target have their noise."""
    kind = value.get("kind") if isinstance(value, dict) else None
    as_choice(kind, "records.kind", (GRID, METRIC))
    own = ("corrections",) if kind == GRID else ("dictionaries", "locations", "stages")
    fields = as_fields(value, "records", ("version", "kind", "places", "targets", *own))
    as_whole(fields["version"], "records.version", 1, VERSION)
    places = unpack(fields["places"], "records.places", None, coordinates)
    if not 0 < len(places) <= MOST_PLACES or np.abs(places).max() > 1.0:
        raise ModelFileError("`records.places` must lie in the cube.")
    targets = _items(fields["targets"], "records.targets", len(stages))
    read = [
        as_fields(target, "records.targets", with_present(_TARGET, target, _FOLLOWS))
        for target in targets
    ]
    biases = tuple(_bias(target["bias"]) for target in read)
    guards = tuple(_guard(target["guard"], coordinates, len(places)) for target in read)
    follows = tuple(_follows(target, len(places)) for target in read)
    if kind == GRID:
        given = _items(fields["corrections"], "records.corrections", len(stages))
        found = tuple(_corrections(each, len(stages[0])) for each in given)
        return GridRecords(
            places=places,
            locations=(WHOLE_BOUNDS,) * len(stages),
            biases=biases,
            guards=guards,
            follows=follows,
            features=features,
            gram_stages=tuple(stages[0]),
            corrections=found,
            rows_per_unit=rows_per_unit,
        )
    dictionaries = [
        _dictionary(each, coordinates)
        for each in as_items(fields["dictionaries"], "records.dictionaries", len(stages[0]) + 1)
    ]
    locations = _items(fields["locations"], "records.locations", len(stages))
    told = _items(fields["stages"], "records.stages", len(stages[0]))
    return MetricRecords(
        places=places,
        locations=tuple(_location(each) for each in locations),
        biases=biases,
        guards=guards,
        follows=follows,
        n=float(stages[0][0].n),
        stages=tuple(
            _stage(each, dictionaries, coordinates, len(places), len(stages)) for each in told
        ),
    )


def _items(value: Any, where: str, count: int) -> list[Any]:
    items = as_items(value, where)
    if len(items) != count:
        raise ModelFileError(f"`{where}` must have {count} entries.")
    return items


# --- stages over one fixed dictionary -------------------------------------------------------------


def _grid_to_json(recorded: GridRecords, targets: list[Any]) -> dict[str, Any]:
    return {
        "version": VERSION,
        "kind": GRID,
        "places": pack(recorded.places),
        "targets": targets,
        "corrections": [
            [each.slopes.tolist(), each.distortions.tolist()] for each in recorded.corrections
        ],
    }


def _corrections(value: Any, stages: int) -> Corrections:
    where = "records.corrections"
    slopes, added = (as_vector(row, where, stages) for row in _items(value, where, 2))
    if np.any(slopes <= 0.0) or np.any(slopes > 1.0) or np.any(added < 0.0):
        raise ModelFileError(f"`{where}` must be slopes in (0, 1] and variances.")
    return Corrections(slopes, added)


# --- stages with features of their own ------------------------------------------------------------


def _metric_to_json(recorded: MetricRecords, targets: list[Any]) -> dict[str, Any]:
    inner: list[WrittenMap] = []
    stages = [_stage_to_json(stage, inner) for stage in recorded.stages]
    return {
        "version": VERSION,
        "kind": METRIC,
        "places": pack(recorded.places, SINGLE),
        "targets": targets,
        "locations": [
            [place.centre, place.scale, bool(place.has_two_values)] for place in recorded.locations
        ],
        "dictionaries": [_dictionary_to_json(each) for each in inner],
        "stages": stages,
    }


def _stage_to_json(stage: RecordedStage, inner: list[WrittenMap]) -> dict[str, Any]:
    return {
        "features": _features_to_json(stage.features, inner),
        "B": pack(stage.B, SINGLE),
        "weight": float(stage.weight),
        "fraction": float(stage.fraction),
        "targets": [
            None
            if told is None
            else {
                "A": pack(told.A, DOUBLE),
                "slope": float(told.slope),
                "square": float(told.square),
                "centre": pack(told.centre, SINGLE),
            }
            for told in stage.targets
        ],
    }


def _features_to_json(features: UnitFeatures, inner: list[WrittenMap]) -> dict[str, Any]:
    """Return a line's fields, or directions in a dictionary, which is noted where it is new."""
    if isinstance(features, ProjectedFeatures):
        known = [k for k, other in enumerate(inner) if other is features.inner]
        if not known:
            inner.append(features.inner)  # type: ignore[arg-type]
        number = known[0] if known else len(inner) - 1
        smallest = float(features.smallest_norm)
        return {"dictionary": number, "P": pack(features.P, SINGLE), "smallest_norm": smallest}
    if isinstance(features, UnitLine):
        share, smallest = float(features.constant_share), float(features.smallest)
        return {"line": "unit line", "constant_share": share, "smallest": smallest}
    if isinstance(features, LinearFeatures):
        return {"line": "line", "constant_share": float(features.constant_share)}
    raise ModelFileError("features of a stage cannot be saved.")


def _stage(
    value: Any, dictionaries: Sequence[WrittenMap], columns: int, places: int, targets: int
) -> RecordedStage:
    fields = as_fields(value, "records.stages", _STAGE)
    features = _features(fields["features"], dictionaries, columns)
    B = unpack(fields["B"], "records.B", None, None)
    if B.shape[0] != B.shape[1] or len(B) > features.dimension:
        raise ModelFileError("`records.B` must be square, of the leading features.")
    told = _items(fields["targets"], "records.stages.targets", targets)
    return RecordedStage(
        features,
        (B + B.T) / 2,
        as_between(fields["weight"], "records.weight", 1e-9, 1.0),
        as_between(fields["fraction"], "records.fraction", 1e-9, 1.0),
        tuple(None if each is None else _sums(each, features.dimension, places) for each in told),
    )


def _sums(value: Any, dimension: int, places: int) -> RecordedSums:
    fields = as_fields(value, "records.stages.targets", _SUMS)
    return RecordedSums(
        unpack(fields["A"], "records.A", dimension),
        as_between(fields["slope"], "records.slope", 1e-6, 1.0),
        as_between(fields["square"], "records.square", 0.0, 1.0),
        unpack(fields["centre"], "records.centre", places),
    )


def _features(value: Any, dictionaries: Sequence[WrittenMap], columns: int) -> UnitFeatures:
    where = "records.features"
    if isinstance(value, dict) and "line" in value:
        kind = as_choice(value["line"], f"{where}.line", ("line", "unit line"))
        numbers = ("constant_share",) if kind == "line" else ("constant_share", "smallest")
        fields = as_fields(value, where, ("line", *numbers))
        share, *rest = (as_between(fields[name], where, 0.0, 1.0) for name in numbers)
        return UnitLine(columns, share, *rest) if rest else LinearFeatures(columns, share)
    fields = as_fields(value, where, ("dictionary", "P", "smallest_norm"))
    number = as_whole(fields["dictionary"], where, 0, len(dictionaries) - 1)
    inner = dictionaries[number]
    P = unpack(fields["P"], f"{where}.P", inner.dimension, None)
    return ProjectedFeatures(inner, P, as_positive(fields["smallest_norm"], where))


def _dictionary_to_json(features: WrittenMap) -> dict[str, Any]:
    """Return a map; many inducing points are packed."""
    if isinstance(features, InducingFeatures):
        return {"kernel": kernel_to_json(features.kernel), "anchors": pack(features.anchors)}
    return {"map": features_to_json(features)}


def _dictionary(value: Any, columns: int) -> WrittenMap:
    where = "records.dictionaries"
    if isinstance(value, dict) and "map" in value:
        found = features_from_json(as_fields(value, where, ("map",))["map"], where, columns)
    else:
        fields = as_fields(value, where, ("kernel", "anchors"))
        anchors = unpack(fields["anchors"], where, None, columns)
        if not 0 < len(anchors) <= LARGEST:
            raise ModelFileError(f"`{where}` are too many.")
        kernel = kernel_from_json(fields["kernel"], f"{where}.kernel", columns)
        found = InducingFeatures(kernel, anchors)
    if max(found.dimension, found.most_anchors) > LARGEST:
        raise ModelFileError(f"`{where}` are too large.")
    return found


def _location(value: Any) -> Location:
    centre, scale, pair = _items(value, "records.locations", 3)
    return Location(
        as_between(centre, "records.locations", -1.0, 1.0),
        as_between(scale, "records.locations", 1e-9, 2.0),
        as_flag(pair, "records.locations"),
    )


# --- what clipping may have done, and what was asked about it -------------------------------------


def _bias(value: Any) -> BiasPrior:
    mean, sd, uneven = as_vector(value, "records.bias", 3).tolist()
    if sd < 0.0 or uneven < 0.0:
        raise ModelFileError("`records.bias` must be a mean and two sds.")
    return BiasPrior(mean, sd, uneven)


def _guard_to_json(guard: RecordedGuard | None) -> dict[str, Any] | None:
    if guard is None:
        return None
    return {
        "A": guard.A.tolist(),
        "sigma_a": float(guard.sigma_a),
        "middle": float(guard.middle),
        "beyond": float(guard.beyond),
        "centre": pack(guard.centre, SINGLE),
    }


def _guard(value: Any, columns: int, places: int) -> RecordedGuard | None:
    if value is None:
        return None
    fields, where = as_fields(value, "records.guard", _GUARD), "records.guard"
    A: Array = as_vector(fields["A"], where, columns + 1)
    return RecordedGuard(
        A,
        as_number(fields["sigma_a"], where, low=0.0),
        as_number(fields["middle"], where),
        unpack(fields["centre"], where, places),
        as_number(fields["beyond"], where, low=0.0),
    )


def _follows(target: dict[str, Any], places: int) -> Array | None:
    where = f"records.{_FOLLOWS}"
    return unpack(target[_FOLLOWS], where, places) if _FOLLOWS in target else None
