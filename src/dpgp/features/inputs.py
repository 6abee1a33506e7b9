"""From raw inputs to the cube [−1, 1]^D in which features are defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.domain import Box
from dpgp.features.base import UnitFeatures

Array = NDArray[np.float64]

OFF_GRID = 0.2360679774997897
"""√5 − 2, a point of [−1, 1] that no regular grid has."""


class InputWarp(Protocol):
    """An increasing map of [−1, 1] onto itself for every input, linear between ``edges``."""

    @property
    def edges(self) -> Array:
        """Where slopes may change, from −1 to 1."""
        ...

    @property
    def values(self) -> Array:
        """What the edges are mapped to, a row an input."""
        ...

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

    @property
    def filler(self) -> Array:
        """A point of the box on no grid, so that its features are numbers with all their digits."""
        return self.box.centre + OFF_GRID * self.box.half_width

    def __call__(self, X: Array) -> Array:
        """Return the scaled and warped inputs."""
        scaled = (self.box.clip(X) - self.box.centre) / self.box.half_width
        U = np.clip(scaled, -1.0, 1.0)
        return U if self.warp is None else self.warp.apply(U)

    def specify(self) -> dict[str, Array]:
        """Return the public box and the warp, that of no warp where there is none."""
        edges = np.array([-1.0, 1.0]) if self.warp is None else self.warp.edges
        none = np.tile(edges, (len(self.box.low), 1))
        values = none if self.warp is None else self.warp.values
        return {"low": self.box.low, "high": self.box.high, "edges": edges, "values": values}

    def invert(self, V: Array) -> Array:
        """Return the raw inputs whose scaled and warped values are ``V``."""
        U = V if self.warp is None else self.warp.invert(V)
        return np.asarray(self.box.centre + U * self.box.half_width)


def unit_inputs(tree: dict[str, Any], X: Any, library: Library) -> Any:
    """Return what :class:`UnitInputs` with the numbers of ``tree`` returns, in any library."""
    low, high = tree["low"], tree["high"]
    within = library.clip(X, low, high)
    U = library.clip((within - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)
    return _warped(U, tree["edges"], tree["values"], library)


def _warped(U: Any, edges: Any, values: Any, library: Library) -> Any:
    """g(u) = g(−1) + Σ_j slope_j · how far u has come in bin j."""
    steps = edges[1:] - edges[:-1]
    slopes = (values[:, 1:] - values[:, :-1]) / steps
    within = library.clip(U[:, :, None] - edges[:-1], 0.0 * steps, steps)
    return values[:, 0] + library.einsum("nde,de->nd", within, slopes)


@dataclass(frozen=True)
class BoxFeatures:
    """Features of raw inputs: what a release evaluates on rows."""

    inputs: UnitInputs
    inner: UnitFeatures
    rows_per_call: int | None = None

    @property
    def dimension(self) -> int:
        """Number of features."""
        return self.inner.dimension

    @property
    def filler(self) -> Array:
        """That of the inputs."""
        return self.inputs.filler

    def evaluate(self, X: Array, out: Array | None = None) -> Array:
        """Return the features of raw rows as columns."""
        return self.inner.evaluate(self.inputs(X), out)
