"""What the page computes with: its scripts, and all numbers that it makes predictions from.

Formulas of kernels and feature maps come from where these are written: a kernel's formula g(s) is
run on placeholders, and its trace written as JavaScript. What kernels are made of is no formula but
a structure, with short cuts that a page needs: kernels.js. Numbers are plain values for strict
JSON.
"""

from __future__ import annotations

import json
from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpgp.arithmetic import TRACE, Placeholder
from dpgp.dates import Days
from dpgp.effects.functionals import function_factor
from dpgp.export.specify import specification_of
from dpgp.features.base import WhitenedMap, map_scripts
from dpgp.features.inducing import InducingFeatures
from dpgp.inference.conformal import COVERAGE
from dpgp.kernels.base import fields_of
from dpgp.kernels.known import FORMULAS
from dpgp.kernels.parameters import Parameter
from dpgp.kernels.stationary import Stationary
from dpgp.model.input_model import densities
from dpgp.model.predictions import CENTILES
from dpgp.report.names import date_ticks
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


DRAWING = ("scales.js", "drawing.js", "curve.js", "heatmap.js", "controls.js", "page.js")

JAVASCRIPT = {
    "Add": "({} + {})",
    "Sub": "({} - {})",
    "Mul": "({} * {})",
    "Div": "({} / {})",
    "Pow": "({} ** {})",
    "Exp": "Math.exp({})",
    "Sqrt": "Math.sqrt({})",
    "Sin": "Math.sin({})",
    "Max": "Math.max({}, {})",
    "Min": "Math.min({}, {})",
}

DATE_LETTERS = 42  # along the axis of a narrow page

ROUNDING = 1e-13
"""Of the range of a matrix: two that differ by less are the same."""


def page_script() -> str:
    """Return all scripts of the page in a scope of their own."""
    return '"use strict";\n{\n' + "\n".join([posterior_script(), *map(asset, DRAWING)]) + "}\n"


def posterior_script() -> str:
    """Return what computes predictions, without a document."""
    formulas, maps = _table("FORMULAS", kernel_formulas()), _table("MAPS", map_scripts())
    return "\n".join([formulas, asset("kernels.js"), asset("posterior.js"), maps])


def kernel_formulas() -> dict[str, str]:
    """Return g(s) for row t of a tree, for every type of tree of a stationary kernel."""
    return {
        tree_type: f"(s, tree, t) => {written(_trace(known, tree_type))}"
        for tree_type, known in FORMULAS.items()
        if issubclass(known, Stationary)
    }


def _trace(known: type[Stationary], tree_type: str) -> Any:
    """Return the trace of g(s)."""
    names = fields_of(known, Parameter)
    rows = {n: Placeholder("Input", [], np.ones((1, 1)), name=f"tree.{n}[t][0]") for n in names}
    s = Placeholder("Input", [], np.ones((1, 1, 1)), name="s")
    return known.value({"type": tree_type, **rows}, s, TRACE)


def written(value: Any) -> str:
    """Return a trace of single numbers as an expression."""
    if not isinstance(value, Placeholder):
        return f"({float(value)!r})"
    if value.operation == "Input":
        return str(value.options["name"])
    if value.operation == "Unsqueeze":
        return written(value.inputs[0])
    return JAVASCRIPT[value.operation].format(*map(written, value.inputs))


def asset(name: str) -> str:
    """Return a file of the page."""
    return (files("dpgp.report.html") / name).read_text(encoding="utf-8")


def _table(name: str, entries: dict[str, str]) -> str:
    lines = "".join(f'  "{key}": {script},\n' for key, script in entries.items())
    return f"const {name} = {{\n{lines}}};\n"


class Digits(NamedTuple):
    """Bytes of a number in projections and in covariances; 8 is a double, as it is."""

    projection: int
    covariance: int


ALL_DIGITS, FEWER_DIGITS = Digits(8, 8), Digits(5, 3)
MOST_CHARACTERS = 1_500_000
"""Of a payload with more digits than a screen can show: a page is sent by mail."""


def payload(model: FittedModel) -> dict[str, Any]:
    """Return all numbers of the page, large matrices with fewer digits; a ValueError if it cannot.

    Variances then differ by some 10⁻⁶ of the squared half-width of the target, means by less.
    """
    numbers = numbers_of(model, ALL_DIGITS)
    if len(json.dumps(numbers, separators=(",", ":"))) <= MOST_CHARACTERS:
        return numbers
    return numbers_of(model, FEWER_DIGITS)


def numbers_of(model: FittedModel, digits: Digits) -> dict[str, Any]:
    """Return inputs, features, and the posterior of every target.

    The kernels are those of :func:`dpgp.export.specification`. Anchors are left out where the
    features have the same, and so is a projection that the page makes of a kernel at its points.
    """
    specifications = [
        turned(specification_of(model, k), posterior.features)
        for k, posterior in enumerate(model.posteriors)
    ]
    shared = specifications[0]
    features, P, Z = shared["features"], shared["projection"], shared["anchors"]
    box, known = model.inputs.box, densities(model)
    box_and_warp = ("low", "high", "edges", "values")
    return {
        "inputs": {
            **{name: plain(shared["inputs"][name]) for name in box_and_warp},
            "names": model.input_names,
            "categories": [kind and list(kind.labels) for kind in box.categories] or None,
            "dates": [days and _dates(days, float(box.high[k])) for k, days in enumerate(box.dates)]
            or None,
            "density": known and [plain(density._asdict()) for density in known],
        },
        "features": plain(features, digits.projection),
        "anchors": None if np.array_equal(features.get("anchors", ()), Z) else plain(Z),
        "projection": None if "root" in features else packed(P, digits.projection),
        "scale_features": plain((shared["local_scale"] or {}).get("features")),
        "targets": [_target(model, k, each, digits) for k, each in enumerate(specifications)],
        "atoms": _atoms(model),
    }


def turned(specification: dict[str, Any], features: WhitenedMap) -> dict[str, Any]:
    r"""Return a specification whose whitened kernel values are a triangular root's.

    With :math:`LL^\top = P^{-2}` and U = LᵀP, which is orthogonal, :math:`U\phi = L^{-1}k_Z(x)`.
    A page makes L of the kernel at the points, and needs no matrix for it. Other maps stay.
    """
    if not isinstance(features, InducingFeatures):
        return specification
    P, m, S = (specification[name] for name in ("projection", "m", "S"))
    # P⁻¹ = QR: P⁻² = RᵀR, so that L = Rᵀ and U = Qᵀ, up to signs
    Q, R = np.linalg.qr(np.linalg.inv(P))
    U = np.where(np.diag(R) < 0.0, -1.0, 1.0)[:, None] * Q.T
    tree = {n: v for n, v in specification["features"].items() if n != "projection"}
    return specification | {
        "projection": U @ P,
        "m": U @ m,
        "S": U @ S @ U.T,
        "features": tree | {"root": features.root},
    }


def _dates(days: Days, last: float) -> dict[str, Any]:
    """Return what a column counts from, and where dates stand along its axis."""
    return {"origin": days.origin.isoformat(), "ticks": date_ticks(days, last, DATE_LETTERS)}


def _target(
    model: FittedModel, k: int, specification: dict[str, Any], digits: Digits
) -> dict[str, Any]:
    P = specification["projection"]
    low, high = model.outcome.bounds(model.options.functions, k)
    noise = specification["scale"] * specification["noise_variance"] ** 0.5
    local_scale, outcome = specification["local_scale"], model.outcome
    return {
        "name": model.target_in_words(k),
        "low": low,
        "high": high,
        "centre": specification["centre"],
        "scale": specification["scale"],
        "noise_variance": specification["noise_variance"],
        "m": plain(specification["m"]),
        # var f = φᵀ(S + P K_zz Pᵀ)φ − 2 k_zᵀPᵀφ + k(x, x)
        "Q": packed(
            _symmetric(specification["S"] + P @ specification["K_zz"] @ P.T), digits.covariance
        ),
        "kernel": plain(specification["kernel"]),
        "function_factor": function_factor(model.posteriors[k], COVERAGE),
        "interval_ends": list(model.calibrations[k].ends(COVERAGE)),
        "centiles": [[level, model.calibrations[k].quantile(level)] for level in CENTILES],
        "local_scale": local_scale
        and {"w": plain(local_scale["w"]), "V": packed(_symmetric(local_scale["V"]))},
        # how the kind of outcome is predicted and spoken of, at this noise
        **outcome.in_browser,
        "odds": model.odds(k)._asdict(),
        "label": str(outcome.labels[k]) if outcome.is_joint else None,
        "mean_word": outcome.mean_word,
        "mean_in_words": outcome.mean_in_words(model.target_names[k]),
        "shows_observations": outcome.shows_observations,
        "little_known": outcome.little_known(noise),
        "little_known_is": outcome.little_known_is,
    }


def _symmetric(A: Array) -> Array:
    return np.asarray((A + A.T) / 2)


def packed(matrix: Array, size: int = 8) -> dict[str, Any]:
    """Return a matrix as text, half of it where it is symmetric, with so many bytes a number.

    Row after row, little-endian, in base 64: doubles with all digits, which are half as long as
    decimals, or whole multiples of a unit.
    """
    A = np.asarray(matrix, dtype="<f8")
    rows, columns = A.shape
    symmetric = rows == columns and np.allclose(A, A.T, rtol=0.0, atol=ROUNDING * np.ptp(A))
    content = A[np.tril_indices(len(A))] if symmetric else A.ravel()
    shape = {"rows": rows, "columns": columns, "symmetric": symmetric}
    if size == 8:
        return {**shape, "doubles": b64encode(content.tobytes()).decode()}
    unit = float(np.abs(content).max()) / (2 ** (8 * size - 1) - 1)
    whole = np.rint(content / unit).astype("<i8").view(np.uint8).reshape(-1, 8)
    text = b64encode(whole[:, :size].tobytes()).decode()
    return {**shape, "unit": unit, "size": size, "multiples": text}


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
