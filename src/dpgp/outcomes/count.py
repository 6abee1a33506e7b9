"""A count 0, 1, 2, …: a number whose observations are whole. docs/how-to/counts.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpgp.outcomes.number import Number, ScaledLaw
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.domain import Box


@dataclass(frozen=True)
class WholeLaw(ScaledLaw):
    """The same law of observations that are whole numbers."""

    def at(self, t: float | Array) -> Array:
        """Return values that can be observed, t scaled residuals from the mean."""
        return whole_numbers(super().at(t), self.low, self.high)


@dataclass(frozen=True)
class Counted(Number):
    """A count: the mean is any number, what is observed is whole."""

    scaled_law: ClassVar[type[ScaledLaw]] = WholeLaw
    option: ClassVar[str | None] = "counts"
    may_be_classes: ClassVar[bool] = False
    file_format: ClassVar[int] = 4  # the first that holds more than numbers
    in_browser: ClassVar[Mapping[str, str | bool]] = {"link": "bounds", "whole": True}
    aside: ClassVar[str] = ", counted in whole numbers"

    @classmethod
    def of(cls, target_box: Box) -> Self:
        """Return the outcome; an error where bounds hold no whole number, or a negative one."""
        if np.any((target_box.low < 0.0) | (np.ceil(target_box.low) > target_box.high)):
            raise ValueError(
                "`target_bounds` of counts must not be negative and must hold a whole number, as "
                "in (0, 20)."
            )
        return cls()


def whole_numbers(values: Array, low: float, high: float) -> Array:
    """Return the nearest whole numbers within bounds, halves upwards."""
    return np.asarray(np.clip(np.floor(values + 0.5), np.ceil(low), np.floor(high)))
