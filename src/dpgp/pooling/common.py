"""What several models have in common: the study, one cube for their inputs, and one guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.warp import Warp
from dpgp.model.fitted import FittedModel
from dpgp.options import Options
from dpgp.outcomes import Location
from dpgp.pooling.places import moved_together
from dpgp.pooling.reading import Release
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.certificate import Certificate
from dpgp.study.errors import RefusedError, Words
from dpgp.types import Array


class PoolingError(RefusedError):
    """Models that cannot be read as one."""

    code = "pooling"


def check_poolable(models: Sequence[FittedModel], names: Sequence[str]) -> None:
    """Raise where there are no two models with records of the same study; say what differs."""
    if len(models) < 2:
        raise PoolingError("pooling needs two models or more", "pass a list of them")
    for model, name in zip(models, names, strict=True):
        check_recorded(model, name)
    ids = [model.id for model in models]
    for k, (model, name) in enumerate(zip(models, names, strict=True)):
        if model.id in ids[:k]:
            other = names[ids.index(model.id)]
            raise PoolingError(
                f"{name} is the same release as {other}, whose people would count twice",
                "pass every release once",
                code="pooled-twice",
            )
        different = difference(models[0].options, model.options)
        if different:
            raise PoolingError(
                f"{name} differs from {names[0]} in {different}",
                "only models of the same columns, bounds, levels and outcome are read as one",
                code="different-studies",
            )


def check_recorded(model: FittedModel, name: str) -> None:
    """Raise where a model cannot be read again."""
    if model.recorded is None:
        raise PoolingError(
            f"{name} has no records of what its stages measured",
            Words(
                "ask for it as it was saved with `records=True`",
                "ask for it as dpgp fit writes it without --no-records",
            ),
            code="no-records",
        )


def difference(one: Options, two: Options) -> str:
    """Return what keeps two studies apart, nothing where nothing does."""
    if type(one.outcome) is not type(two.outcome) or one.outcome.labels != two.outcome.labels:
        return "its kind of outcome"
    if one.learns_metric != two.learns_metric:
        return "whether its features are a grid or a learned metric"
    if one.are_weighted != two.are_weighted:
        return "whether its rows have weights"
    boxes = ((one.box, two.box, "input"), (one.target_box, two.target_box, "target"))
    for box, against, kind in boxes:
        found = _difference_of_columns(box, against, kind)
        if found:
            return found
    return ""


def _difference_of_columns(box: Box, other: Box, kind: str) -> str:
    names, others = box.column_names(kind), other.column_names(kind)
    if names != others:
        return f"its {kind}s: {', '.join(others)}, not {', '.join(names)}"
    for k, name in enumerate(names):
        if box.category(k) != other.category(k):
            return f"the levels of {name}"
        (first, last), (low, high) = box.extent_in_words(k), other.extent_in_words(k)
        if (first, last) != (low, high):
            return f"the bounds of {name}: {low} to {high}, not {first} to {last}"
    return ""


def rows_of(models: Sequence[FittedModel]) -> Array:
    """Return how many rows each model is about, as it was released."""
    return np.array([max(float(model.stages[0][0].n), 1.0) for model in models])


def common_inputs(models: Sequence[FittedModel]) -> UnitInputs:
    """Return one cube for all: every input warped by the average of the models' maps."""
    warps = [model.inputs.warp for model in models]
    box, columns = models[0].options.box, len(models[0].options.box.low)
    if all(warp is None for warp in warps):
        return UnitInputs(box)
    edges = max((warp.edges for warp in warps if warp is not None), key=len)
    shares = rows_of(models) / rows_of(models).sum()
    maps = [
        np.tile(edges, (columns, 1))
        if warp is None
        else np.array([np.interp(edges, warp.edges, values) for values in warp.values])
        for warp in warps
    ]
    return UnitInputs(box, Warp(np.asarray(edges), np.tensordot(shares, maps, axes=1)))


def releases_in(models: Sequence[FittedModel], inputs: UnitInputs) -> list[Release]:
    """Return the models with their places in the common cube, where all say that rows are."""
    return [
        Release(model, inputs(model.inputs.invert(model.recorded.places)))
        for model in moved_together(models)
        if model.recorded is not None
    ]


def common_location(releases: Sequence[Release], target: int) -> Location:
    """Return where a target lies for all people together."""
    places = [release.recorded.locations[target] for release in releases]
    shares = np.array([release.n for release in releases])
    shares = shares / shares.sum()
    centres, scales = (np.array([getattr(p, name) for p in places]) for name in ("centre", "scale"))
    centre = float(shares @ centres)
    scale = float(np.sqrt(shares @ (scales**2 + (centres - centre) ** 2)))
    return Location(centre, scale, all(place.has_two_values for place in places))


def common_options(models: Sequence[FittedModel], certificate: Certificate) -> Options:
    """Return the first model's options, with the guarantee of all of them together."""
    bounds = {model.options.weight_bound for model in models}
    return replace(
        models[0].options,
        weight_bound=bounds.pop() if len(bounds) == 1 else None,
        prior_model=None,
        epsilon=certificate.epsilon,
        delta=certificate.delta,
        neighbours=certificate.neighbours,
        per_person=certificate.per_person,
        max_rows_per_unit=certificate.rows_per_unit,
        rows_of_unit=certificate.rows_of_unit,
    )


def signal_of(models: Sequence[FittedModel]) -> tuple[float, float]:
    """Return n of all, and the μ of one fit of them whose sums would have the noise of all."""
    rows = rows_of(models)
    mus = np.array(
        [m.row_weight * mu_of_guarantee(m.options.epsilon, m.options.delta) for m in models]
    )
    units = np.array([m.options.max_rows_per_unit for m in models])
    together = float(np.sqrt(np.sum((rows * mus / units) ** 2)))
    return float(rows.sum()), together / float(rows.sum())
