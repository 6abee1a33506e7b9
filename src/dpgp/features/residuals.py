"""What a public function leaves of the targets: a function of one row, like a feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpgp.features.base import FeatureMap
from dpgp.types import Array


class RowValues(Protocol):
    """What stands beside the features of a row in a Gram matrix: a value in [−1, 1] a target."""

    def of(self, inputs: Array, targets: Array, features: FeatureMap, phi: Array) -> Array:
        """Return the values of a block, given the features ``phi`` that ``features`` made."""
        ...


@dataclass(frozen=True)
class Residuals:
    r""":math:`(t - \phi(x)^\top w)/R` for every target t, its weights w and its clip R."""

    features: FeatureMap
    weights: Array  # (K, d)
    clips: Array  # (K,)

    def of(self, inputs: Array, targets: Array, features: FeatureMap, phi: Array) -> Array:
        """Return the residuals of a block, given the features ``phi`` that ``features`` made."""
        own = phi if features is self.features else self.features.evaluate(inputs)
        # summed in the same order for every row, which a matrix product need not do
        mean = np.einsum("kd,dn->kn", self.weights, own)
        return np.asarray((targets - mean) / self.clips[:, None])


@dataclass(frozen=True)
class CutDistances:
    r""":math:`q = 2\min(|r|, 1) - 1` of residuals r that are divided by their clip."""

    residuals: Residuals

    def of(self, inputs: Array, targets: Array, features: FeatureMap, phi: Array) -> Array:
        """Return how far the targets of a block are from the function, cut and centred."""
        r = self.residuals.of(inputs, targets, features, phi)
        return np.asarray(2.0 * np.minimum(np.abs(r), 1.0) - 1.0)
