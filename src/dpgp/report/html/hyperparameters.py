"""What was learned of the kernel and the noise, in words and units that people understand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.kernels.known import as_kernel
from dpgp.kernels.parameters import Learned, Measure
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


@dataclass(frozen=True)
class Hyperparameter:
    """Equally likely values of one hyperparameter, and scikit-learn's name of it."""

    what: str
    unit: str
    draws: Array
    name: str


def hyperparameters(model: FittedModel, target: int) -> list[Hyperparameter]:
    """Return the noise, where it is not known, and what was learned of the kernel of one target."""
    posterior = model.posteriors[target]
    inputs = model.input_names
    unit = model.target_names[target]
    scale = float(model.options.target_box.half_width[target])
    noise = Hyperparameter("noise of one observation (sd)", unit, model.noise_draws(target), "")
    draws = np.exp(posterior.thetas[:, :-1].T)
    learned = as_kernel(posterior.kernel).learned()
    pairs = zip(learned, draws, strict=True)
    known = [] if model.outcome.law_is_known else [noise]
    return [*known, *(_described(each, values, inputs, unit, scale) for each, values in pairs)]


def _described(
    learned: Learned, values: Array, inputs: list[str], unit: str, scale: float
) -> Hyperparameter:
    words, name = learned.words, learned.name
    if learned.measure is Measure.LENGTH:
        column = 0 if len(inputs) == 1 else learned.column
        along = "" if column is None else f" along {inputs[column]}"
        return Hyperparameter(f"{words}{along}", "half ranges", values, name)
    if learned.measure is Measure.VARIANCE:
        return Hyperparameter(f"{words} (sd)", unit, scale * np.sqrt(values), name)
    if learned.measure is Measure.DEVIATION:
        return Hyperparameter(f"{words} (sd)", unit, scale * values, name)
    return Hyperparameter(words, "", values, name)
