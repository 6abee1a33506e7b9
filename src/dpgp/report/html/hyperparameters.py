"""What was learned of the kernel and the noise, in words and units that people understand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

Array = NDArray[np.float64]

_PARTS = {
    "RBF": "smooth part (RBF)",
    "Matern": "smooth part (Matern)",
    "RationalQuadratic": "smooth part (RationalQuadratic)",
    "DotProduct": "straight part (DotProduct)",
    "ExpSineSquared": "periodic part (ExpSineSquared)",
}


@dataclass(frozen=True)
class Hyperparameter:
    """Equally likely values of one hyperparameter, and scikit-learn's name of it."""

    what: str
    unit: str
    draws: Array
    name: str


def hyperparameters(model: FittedModel, target: int) -> list[Hyperparameter]:
    """Return the noise and everything that was learned of the kernel of one target."""
    posterior = model.posteriors[target]
    inputs = model.input_names
    unit = model.target_names[target]
    scale = float(model.options.target_box.half_width[target])
    noise = scale * np.exp(posterior.thetas[:, -1])
    found = [Hyperparameter("noise of one observation (sd)", unit, noise, "")]
    column = 0
    for hyperparameter in posterior.kernel.hyperparameters:
        if hyperparameter.fixed:
            continue
        for element in range(hyperparameter.n_elements):
            values = np.exp(posterior.thetas[:, column])
            along = inputs[element] if hyperparameter.n_elements > 1 or len(inputs) == 1 else None
            found.append(
                _described(posterior.kernel, hyperparameter.name, values, along, unit, scale)
            )
            column += 1
    return found


def _described(
    kernel: Any, name: str, values: Array, along: str | None, unit: str, scale: float
) -> Hyperparameter:
    where, _, parameter = name.rpartition("__")
    parts = kernel.get_params()
    part = _part(parts[where] if where else kernel)
    if parameter in ("length_scale", "periodicity"):
        word = "length" if parameter == "length_scale" else "period"
        what = f"{word} of the {part}" + (f" along {along}" if along else "")
        return Hyperparameter(what, "half ranges", values, name)
    if parameter in ("constant_value", "noise_level"):  # variances
        size = scale * np.sqrt(values)
        return Hyperparameter(f"size of the {_multiplied(parts, where)} (sd)", unit, size, name)
    if parameter == "sigma_0":
        return Hyperparameter(f"offset of the {part} (sd)", unit, scale * values, name)
    return Hyperparameter(f"{parameter} of the {part}", "", values, name)


def _part(kernel: Any) -> str:
    kind = type(kernel).__name__
    return _PARTS.get(kind, f"{kind} part")


def _multiplied(parts: dict[str, Any], where: str) -> str:
    """Say what a constant multiplies: the other side of its product, or 1."""
    parent, _, side = where.rpartition("__")
    product = parts[parent] if parent else None
    other = ("k2" if side == "k1" else "k1") if side else ""
    sibling = parts.get(f"{parent}__{other}" if parent else other)
    if sibling is None or (parent and type(product).__name__ != "Product"):
        return "constant part"
    return _part(sibling)
