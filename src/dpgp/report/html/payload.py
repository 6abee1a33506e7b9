"""All numbers that the page computes predictions from, as plain values for strict JSON."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpgp.export.specify import specification_of
from dpgp.inference.conformal import COVERAGE
from dpgp.inference.posterior import mixture_half_width
from dpgp.model.centiles import CENTILES
from dpgp.model.marginals import densities
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel
    from dpgp.outcomes import OutcomeKind


ROUNDING = 1e-13
"""Of the range of a matrix: two that differ by less are the same."""


class Digits(NamedTuple):
    """Bytes of a number in projections and in covariances; 8 is a double, as it is."""

    projection: int
    covariance: int


ALL_DIGITS, FEWER_DIGITS, FEWEST_DIGITS = Digits(8, 8), Digits(5, 3), Digits(4, 3)
MOST_CHARACTERS = 4_830_000
"""Of a payload with these digits; beyond, a page would not be sent by mail any more."""


def payload(model: FittedModel) -> dict[str, Any]:
    """Return all numbers of the page, large matrices with fewer digits; a ValueError if it cannot.

    Variances then differ by some 10⁻⁶ of the squared half-width of the target, means by less; with
    the fewest digits means differ by some 10⁻⁵ of the half-width.
    """
    for digits in (ALL_DIGITS, FEWER_DIGITS):
        numbers = numbers_of(model, digits)
        if len(json.dumps(numbers, separators=(",", ":"))) <= MOST_CHARACTERS:
            return numbers
    return numbers_of(model, FEWEST_DIGITS)


def numbers_of(model: FittedModel, digits: Digits) -> dict[str, Any]:
    """Return inputs, features, and the posterior of every target.

    The kernels are those of :func:`dpgp.export.specification`. Anchors are left out where the
    features have the same, and a projection that is a multiple of theirs is a number.
    """
    count = len(model.calibrations)
    specifications = [specification_of(model, k) for k in range(count)]
    shared = specifications[0]
    features, P, Z = shared["features"], shared["projection"], shared["anchors"]
    names = model.input_names
    return {
        "inputs": {
            **_box_and_warp(shared["inputs"]),
            "names": names,
            "categories": _labels(model),
            "density": plain(densities(model)),
        },
        "features": plain(features, digits.projection),
        "anchors": None if np.array_equal(features.get("anchors", ()), Z) else plain(Z),
        "projection": _multiple(P, features.get("projection")) or packed(P, digits.projection),
        "scale_features": plain((shared["local_scale"] or {}).get("features")),
        "targets": [_target(model, k, specifications[k], digits) for k in range(count)],
        "atoms": _atoms(model),
    }


def _multiple(P: Array, other: Array | None) -> float | None:
    """Return how many times another matrix P is, up to rounding; None where it is not."""
    if other is None or P.shape != other.shape:
        return None
    factor = float(np.vdot(P, other) / np.vdot(other, other))
    same = np.allclose(P, factor * other, rtol=0.0, atol=ROUNDING * np.ptp(P))
    return factor if same else None


def _box_and_warp(inputs: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(inputs[name]) for name in ("low", "high", "edges", "values")}


def _labels(model: FittedModel) -> list[list[str] | None] | None:
    """Return the levels of every column as text, None for columns of numbers."""
    categories = model.inputs.box.categories
    return [None if kind is None else list(kind.labels) for kind in categories] or None


def _target(
    model: FittedModel, k: int, specification: dict[str, Any], digits: Digits
) -> dict[str, Any]:
    box, spreads = model.options.target_box, model.posteriors[k].spreads
    scales = np.sqrt(spreads / spreads.mean())[None]
    P = specification["projection"]
    noise = specification["scale"] * specification["noise_variance"] ** 0.5
    return {
        "name": model.target_in_words(k),
        "low": float(box.low[k]),
        "high": float(box.high[k]),
        "centre": specification["centre"],
        "scale": specification["scale"],
        "noise_variance": specification["noise_variance"],
        "m": plain(specification["m"]),
        # var f = φᵀ(S + P K_zz Pᵀ)φ − 2 k_zᵀPᵀφ + k(x, x)
        "Q": packed(
            _symmetric(specification["S"] + P @ specification["K_zz"] @ P.T), digits.covariance
        ),
        "kernel": plain(specification["kernel"]),
        "function_factor": float(mixture_half_width(scales, COVERAGE)[0]),
        "interval_ends": list(model.calibrations[k].ends(COVERAGE)),
        "centiles": [[level, model.calibrations[k].quantile(level)] for level in CENTILES],
        "local_scale": _local_scale(specification["local_scale"]),
        **_words(model.outcome, noise),
    }


def _words(outcome: OutcomeKind, noise: float) -> dict[str, Any]:
    """Return how a kind of outcome is predicted and spoken of, at this noise."""
    return {
        **outcome.in_browser,
        "mean_word": outcome.mean_word,
        "shows_observations": outcome.shows_observations,
        "little_known": outcome.little_known(noise),
        "little_known_is": outcome.little_known_is,
    }


def _local_scale(scale: dict[str, Any] | None) -> dict[str, Any] | None:
    if scale is None:
        return None
    return {"w": plain(scale["w"]), "V": packed(_symmetric(scale["V"]))}


def _symmetric(A: Array) -> Array:
    return np.asarray((A + A.T) / 2)


def packed(matrix: Array, size: int = 8) -> dict[str, Any]:
    """Return a matrix as text, half of it where it is symmetric, with so many bytes a number.

    Row after row, little-endian, in base 64: doubles with all digits, which are half as long as
    decimals, or whole multiples of a unit.
    """
    A = np.asarray(matrix, dtype="<f8")
    symmetric = _is_symmetric(A)
    content = A[np.tril_indices(len(A))] if symmetric else A.ravel()
    rows, columns = A.shape
    shape = {"rows": rows, "columns": columns, "symmetric": symmetric}
    if size == 8:
        return {**shape, "doubles": b64encode(content.tobytes()).decode()}
    unit = float(np.abs(content).max()) / (2 ** (8 * size - 1) - 1)
    whole = np.rint(content / unit).astype("<i8").view(np.uint8).reshape(-1, 8)
    text = b64encode(whole[:, :size].tobytes()).decode()
    return {**shape, "unit": unit, "size": size, "multiples": text}


def _is_symmetric(A: Array) -> bool:
    rows, columns = A.shape
    return rows == columns and np.allclose(A, A.T, rtol=0.0, atol=ROUNDING * np.ptp(A))


def plain(value: Any, size: int = 8) -> Any:
    """Return nested arrays as nested lists, and projections, which are large, as text."""
    if isinstance(value, dict):
        return {
            n: packed(v, size) if n == "projection" else plain(v, size) for n, v in value.items()
        }
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part, size) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _atoms(model: FittedModel) -> dict[str, Any] | None:
    density = model.density
    if density is None or model.options.columns != 2:  # a map alone shows them
        return None
    return {
        "points": plain(density.points),
        "shares": plain(density.weights / density.weights.sum()),
    }
