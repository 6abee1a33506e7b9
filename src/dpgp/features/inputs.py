"""From raw inputs to the cube [−1, 1]^D in which features are defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpgp.domain import Box
from dpgp.features.whitened import WhitenedMap

Array = NDArray[np.float64]


class InputWarp(Protocol):
    """An increasing map of [−1, 1] onto itself for every input."""

    def apply(self, U: Array) -> Array:
        """Return the warped inputs."""
        ...

    def invert(self, V: Array) -> Array:
        """Return the inputs that ``apply`` maps to ``V``."""
        ...


@dataclass(frozen=True)
class UnitInputs:
    """Clip to the public box, scale to [−1, 1]^D, warp."""

    box: Box
    warp: InputWarp | None = None

    def __call__(self, X: Array) -> Array:
        """Return the scaled and warped inputs."""
        scaled = (self.box.clip(X) - self.box.centre) / self.box.half_width
        U = np.clip(scaled, -1.0, 1.0)
        return U if self.warp is None else self.warp.apply(U)

    def invert(self, V: Array) -> Array:
        """Return the raw inputs whose scaled and warped values are ``V``."""
        U = V if self.warp is None else self.warp.invert(V)
        return np.asarray(self.box.centre + U * self.box.half_width)


@dataclass(frozen=True)
class BoxFeatures:
    """Features of raw inputs: what a release evaluates on rows."""

    inputs: UnitInputs
    inner: WhitenedMap
    rows_per_call: int | None = None

    @property
    def dimension(self) -> int:
        """Number of features."""
        return self.inner.dimension

    @property
    def filler(self) -> Array:
        """A point of the box on no grid, so that its features are numbers with all their digits."""
        box = self.inputs.box
        return box.centre + 0.2360679774997897 * box.half_width

    def evaluate(self, X: Array, out: Array | None = None) -> Array:
        """Return the features of raw rows as columns."""
        return self.inner.evaluate(self.inputs(X), out)
