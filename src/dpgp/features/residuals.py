"""What a public function leaves of the targets: a function of one row, like a feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgp.features.base import FeatureMap

Array = NDArray[np.float64]


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
