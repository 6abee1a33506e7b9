r"""From raw rows to the cube [−1, 1]^D in which features are defined, and to residuals.

A category of K levels becomes K indicators of ±1, and of two levels one: level c of a row gives
:math:`u_k = 1 - 2\min(|c - k|, 1)^2`. What a public function leaves of the targets is a function of
one row too, like a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpgp.arithmetic import Library
from dpgp.domain import Box
from dpgp.features.base import FeatureMap, UnitFeatures, weighted
from dpgp.features.gaps import Columns, Completion, over_gaps
from dpgp.features.inducing import DictionaryValues, ProjectedFeatures
from dpgp.types import Array

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
    """Clip to the public box, scale to [−1, 1], warp, and put indicators in place of categories.

    The warp has a row for every column, which is not used for categories.
    """

    box: Box
    warp: InputWarp | None = None
    completion: Completion | None = None

    @property
    def dimension(self) -> int:
        """Number D of coordinates in the cube."""
        return len(self.coordinates.source)

    @cached_property
    def coordinates(self) -> Coordinates:
        """Which coordinates come from which column."""
        return Coordinates.of(self.box)

    @property
    def filler(self) -> Array:
        """A point of the box on no grid, so that its features are numbers with all their digits."""
        return self.box.centre + OFF_GRID * self.box.half_width

    def __call__(self, X: Array) -> Array:
        """Return the scaled and warped inputs."""
        U = self.scaled(X)
        warped = U if self.warp is None else self.warp.apply(U)
        return self.coordinates.with_indicators(warped, X) if self.box.categories else warped

    def completed_by(self, rows: Array) -> UnitInputs:
        """Return the same, where rows with gaps are completed as these public ones go."""
        return replace(self, completion=Completion.of(rows, self.coordinates.blocks()))

    def averaged(self, function: Columns, X: Array, out: Array | None = None) -> tuple[Array, ...]:
        """Return columns of every row, those of a row with gaps averaged over what it may have."""
        if self.completion is None:
            return function(self(X), out)
        return over_gaps(self.completion, function, self(X), OFF_GRID, out)

    def without_gaps(self, X: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return complete rows, public ones where a row has gaps, and which these are."""
        gaps = np.asarray(np.isnan(X).any(axis=1))
        return self(np.where(gaps[:, None], self.filler, X)), gaps

    def one_of(self, X: Array) -> Array:
        """Return the rows, each with gaps as one that it may be."""
        V = self(X)
        return V if self.completion is None else self.completion.one_of(V)

    def scaled(self, X: Array) -> Array:
        """Return all columns scaled to [−1, 1], neither warped nor replaced."""
        # one column after the other in memory: NumPy's loops run along rows, not across them
        U, box = np.array(X.T, dtype=np.float64, order="C"), self.box
        np.clip(U, box.low[:, None], box.high[:, None], out=U)
        U -= box.centre[:, None]
        U /= box.half_width[:, None]
        return np.clip(U, -1.0, 1.0, out=U).T

    def specify(self) -> dict[str, Array]:
        """Return the public box and the warp, that of no warp where there is none."""
        edges = np.array([-1.0, 1.0]) if self.warp is None else self.warp.edges
        none = np.tile(edges, (len(self.box.low), 1))
        values = none if self.warp is None else self.warp.values
        box = {"low": self.box.low, "high": self.box.high, "edges": edges, "values": values}
        return box | (self.coordinates.specify() if self.box.categories else {})

    def invert(self, V: Array) -> Array:
        """Return the raw inputs whose scaled and warped values are ``V``."""
        columns = self.coordinates.without_indicators(V) if self.box.categories else V
        U = columns if self.warp is None else self.warp.invert(columns)
        X = np.asarray(self.box.centre + U * self.box.half_width)
        return self.coordinates.with_levels(X, V) if self.box.categories else X


@dataclass(frozen=True)
class Coordinates:
    """For every coordinate its column, and for indicators the level that they stand for."""

    source: NDArray[np.intp]
    is_indicator: NDArray[np.bool_]
    level: Array

    @classmethod
    def of(cls, box: Box) -> Coordinates:
        """Return the coordinates of a box, in the order of its columns."""
        kinds = [box.category(column) for column in range(len(box.low))]
        hot = [None if kind is None else kind.hot for kind in kinds]
        return cls(
            source=np.repeat(np.arange(len(hot)), [1 if h is None else len(h) for h in hot]),
            is_indicator=np.concatenate([[False] if h is None else h >= 0.0 for h in hot]),
            level=np.concatenate([[0.0] if h is None else h for h in hot]),
        )

    def blocks(self) -> list[NDArray[np.intp]]:
        """Return the coordinates of every category."""
        columns = np.unique(self.source[self.is_indicator])
        return [np.flatnonzero(self.source == column) for column in columns]

    def with_indicators(self, U: Array, X: Array) -> Array:
        """Return the columns of ``U``, with u_k = 1 − 2 min(|c − k|, 1)² for levels c in ``X``."""
        indicators = 1.0 - 2.0 * np.clip(X[:, self.source] - self.level, -1.0, 1.0) ** 2
        return np.where(self.is_indicator, indicators, U[:, self.source])

    def without_indicators(self, V: Array) -> Array:
        """Return one coordinate for every column: that of numbers, and any of a category."""
        return np.asarray(V[:, np.unique(self.source, return_index=True)[1]])

    def with_levels(self, X: Array, V: Array) -> Array:
        """Return ``X`` with the levels whose indicators are largest; that of none is 0."""
        levels = X.copy()
        for block in self.blocks():
            most, at = V[:, block].max(axis=1), V[:, block].argmax(axis=1)
            found = self.level[block][at]
            levels[:, self.source[block[0]]] = np.where(most > 0.0, found, 0.0)
        return levels

    def specify(self) -> dict[str, Array]:
        """Return a matrix that copies columns to coordinates, which are indicators, and levels."""
        columns = np.arange(self.source[-1] + 1)
        return {
            "copies": np.asarray(columns[:, None] == self.source, dtype=np.float64),
            "is_indicator": self.is_indicator.astype(np.float64),
            "level": self.level,
        }


def unit_inputs(tree: dict[str, Any], X: Any, library: Library) -> Any:
    """Return what :class:`UnitInputs` with the numbers of ``tree`` returns, in any library."""
    low, high = tree["low"], tree["high"]
    within = library.clip(X, low, high)
    U = library.clip((within - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)
    warped = _warped(U, tree["edges"], tree["values"], library)
    if "copies" not in tree:
        return warped
    apart = library.clip(within @ tree["copies"] - tree["level"], -1.0, 1.0)
    mask = tree["is_indicator"]
    return (1.0 - mask) * (warped @ tree["copies"]) + mask * (-2.0 * apart * apart + 1.0)


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
        return self.inputs.averaged(lambda U, out: (self.inner.evaluate(U, out),), X, out)[0]

    def sums_at(self, weights: Array, U: Array) -> Array:
        """Return weighted sums of the features of complete rows of the cube."""
        if isinstance(self.inner, DictionaryValues):
            return self.inner.sums(weights, U)
        return weighted(weights, self.inner.evaluate(U))


# --- what is left of targets ----------------------------------------------------------------------


class RowValues(Protocol):
    """What stands beside the features of a row in a Gram matrix: a value in [−1, 1] a target."""

    def beside(self, features: FeatureMap, inputs: Array, targets: Array, out: Array) -> Array:
        """Return the values of a block, and write its features to ``out``."""
        ...


class Means(NamedTuple):
    """What functions are at every row, and the square of how far they spread over its gaps."""

    mean: Array
    spread: Array | float


@dataclass(frozen=True)
class Residuals:
    r""":math:`(t - \phi(x)^\top w - m)/R` for every target t its weights w, clip R, middle m.

    Of a row with gaps :math:`\phi(x)^\top w` is averaged over what it may have there.
    """

    features: BoxFeatures
    weights: Array  # (K, d)
    clips: Array  # (K,)
    middles: Array | float = 0.0  # (K, 1)

    def of(self, inputs: Array, targets: Array) -> Array:
        """Return the residuals of a block."""
        (mean,) = self.features.inputs.averaged(
            lambda U, _: (self.features.sums_at(self.weights, U),), inputs
        )
        return self.from_means(mean, targets)

    def beside(self, features: FeatureMap, inputs: Array, targets: Array, out: Array) -> Array:
        """Return the residuals of a block, and write its features to ``out``."""
        return self.from_means(self.means_beside(features, inputs, out).mean, targets)

    def means_beside(self, features: FeatureMap, inputs: Array, out: Array) -> Means:
        """Return φᵀw and its spread; the features are written to ``out``."""
        if not isinstance(features, BoxFeatures):  # another map, whose weights these are
            return Means(weighted(self.weights, features.evaluate(inputs, out)), 0.0)
        if features.inputs.completion is None:
            return Means(self._at(features, features.inputs(inputs), out)[1], 0.0)

        def moments(U: Array, out: Array | None) -> tuple[Array, Array, Array]:
            phi, mean = self._at(features, U, out)
            return phi, mean, mean**2

        _, mean, square = features.inputs.averaged(moments, inputs, out)
        return Means(mean, np.maximum(square - mean**2, 0.0))

    def _at(self, features: BoxFeatures, U: Array, out: Array | None) -> tuple[Array, Array]:
        """Return φ and φᵀw of complete rows; values that both are made of are computed once."""
        own, asked = self.features.inner, features.inner
        if (
            isinstance(asked, ProjectedFeatures)
            and isinstance(own, DictionaryValues)
            and own.inner is asked.inner
        ):
            return asked.evaluate_with_sums(U, self.weights, out)
        phi = asked.evaluate(U, out)
        if features is self.features:
            return phi, weighted(self.weights, phi)
        return phi, self.features.sums_at(self.weights, U)

    def from_means(self, mean: Array, targets: Array) -> Array:
        """Return what is left of targets by means."""
        return np.asarray((targets - mean - self.middles) / self.clips[:, None])


@dataclass(frozen=True)
class CutDistances:
    r""":math:`q = 2\min(\max(|r| - a, 0)/(1 - a), 1) - 1` of residuals r divided by their clip.

    Those of a row with gaps are first made as small as those of complete rows, whose sd is
    ``sizes``: the function spreads over what the row may have there.
    """

    residuals: Residuals
    start: float = 0.0  # a
    sizes: Array | float = 1.0  # (K, 1)

    def beside(self, features: FeatureMap, inputs: Array, targets: Array, out: Array) -> Array:
        """Return how far the targets of a block are from the function, cut and centred."""
        mean, spread = self.residuals.means_beside(features, inputs, out)
        r = np.abs(self.residuals.from_means(mean, targets))
        r /= np.sqrt(1.0 + spread / self.sizes**2)
        return np.asarray(2.0 * np.clip((r - self.start) / (1.0 - self.start), 0.0, 1.0) - 1.0)
