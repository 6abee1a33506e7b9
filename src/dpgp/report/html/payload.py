"""All numbers that the page computes predictions from, as plain values for strict JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpgp.export.specify import specification_of
from dpgp.inference.conformal import COVERAGE
from dpgp.inference.posterior import mixture_half_width
from dpgp.report.released import densities

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

Array = NDArray[np.float64]


def payload(model: FittedModel) -> dict[str, Any]:
    """Return inputs, features, and the posterior of every target; a ValueError where it cannot.

    The kernels are those of :func:`dpgp.export.specification`.
    """
    count = len(model.calibrations)
    specifications = [specification_of(model, k) for k in range(count)]
    shared = specifications[0]
    names = model.input_names
    return {
        "inputs": {
            **_box_and_warp(shared["inputs"]),
            "names": names,
            "categories": _labels(model),
            "density": plain(densities(model)),
        },
        "features": plain(shared["features"]),
        "anchors": plain(shared["anchors"]),
        "projection": plain(shared["projection"]),
        "targets": [_target(model, k, specifications[k]) for k in range(count)],
        "atoms": _atoms(model),
    }


def _box_and_warp(inputs: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(inputs[name]) for name in ("low", "high", "edges", "values")}


def _labels(model: FittedModel) -> list[list[str] | None] | None:
    """Return the levels of every column as text, None for columns of numbers."""
    categories = model.inputs.box.categories
    return [None if kind is None else list(kind.labels) for kind in categories] or None


def _target(model: FittedModel, k: int, specification: dict[str, Any]) -> dict[str, Any]:
    box, spreads = model.options.target_box, model.posteriors[k].spreads
    scales = np.sqrt(spreads / spreads.mean())[None]
    return {
        "name": model.target_names[k],
        "low": float(box.low[k]),
        "high": float(box.high[k]),
        "centre": specification["centre"],
        "scale": specification["scale"],
        "noise_variance": specification["noise_variance"],
        "m": plain(specification["m"]),
        "S": lower_triangle(specification["S"]),
        "kernel": plain(specification["kernel"]),
        "K_zz": lower_triangle(specification["K_zz"]),
        "function_factor": float(mixture_half_width(scales, COVERAGE)[0]),
        "interval_factor": model.calibrations[k].factor(COVERAGE),
    }


def lower_triangle(S: Array) -> list[list[float]]:
    """Return the rows of a symmetric matrix up to the diagonal."""
    return [row[: i + 1].tolist() for i, row in enumerate(np.asarray(S))]


def plain(value: Any) -> Any:
    """Return nested arrays as nested lists."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _atoms(model: FittedModel) -> dict[str, Any] | None:
    density = model.density
    if density is None:
        return None
    return {
        "points": plain(density.points),
        "shares": plain(density.weights / density.weights.sum()),
    }
