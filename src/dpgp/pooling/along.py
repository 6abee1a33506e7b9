"""A difference between releases along one input, through the place where it stands out most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.pooling.curve import PooledFit
from dpgp.types import Array

POINTS = 41  # of a line from bound to bound
EQUAL = 1e-6
"""Relative difference of what counts as equal: the first of such inputs is taken."""
DIGITS = 6  # of what is kept for a picture

Guess = Callable[[Array], tuple[Array, Array]]
"""The best guess of a difference at places of the cube, and the sd of what is left of it."""


@dataclass(frozen=True)
class Along:
    """What lies along an input, all others as they are at a place; ``at`` in the input's units.

    A category has its levels, by their numbers.
    """

    input: str
    at: Array
    difference: Array
    sd: Array

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, rounded for a picture."""
        lists = {name: getattr(self, name) for name in ("at", "difference", "sd")}
        rounded = {
            name: [float(f"{value:.{DIGITS}g}") for value in values]
            for name, values in lists.items()
        }
        return {"input": self.input, **rounded}


def along_the_largest(fit: PooledFit, u: Array, guess: Guess) -> Along:
    """Return the line through a place along which the difference changes most."""
    lines = [_line(fit, u, column, guess) for column in range(len(fit.models[0].input_names))]
    changes = np.array([np.ptp(line.difference) for line in lines])
    return lines[int(np.argmax(changes >= (1.0 - EQUAL) * changes.max()))]


def _line(fit: PooledFit, u: Array, column: int, guess: Guess) -> Along:
    box = fit.models[0].options.box
    low, high = float(box.low[column]), float(box.high[column])
    is_numeric = box.category(column) is None
    at = np.linspace(low, high, POINTS) if is_numeric else np.arange(low, high + 1.0)
    X = np.tile(fit.inputs.invert(u[None]), (len(at), 1))
    X[:, column] = at
    return Along(fit.models[0].input_names[column], at, *guess(fit.inputs(X)))
