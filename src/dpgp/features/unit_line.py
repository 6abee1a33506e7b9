"""Features of straight lines for inputs whose spread nobody knows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpgp.features.projected import SLACK
from dpgp.types import Array


@dataclass(frozen=True)
class UnitLine:
    r"""A constant and a direction, :math:`\phi = (\sqrt a, \sqrt{1 - a}\,x/\max(\|x\|, b\sqrt D))`.

    Inputs that fill a quarter of their box would leave fifteen sixteenths of the squared norm of
    :class:`~dpgp.features.linear.LinearFeatures` unused; here every row that is not nearly zero
    uses all of it. The norm is at most one by construction.
    """

    columns: int
    constant_share: float
    smallest: float  # b, the root mean square of a row's inputs below which it is left as it is

    @property
    def dimension(self) -> int:
        """One more than the number of inputs."""
        return self.columns + 1

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the constant and the directions as columns."""
        phi = np.empty((self.dimension, len(U))) if out is None else out
        phi[0] = SLACK * math.sqrt(self.constant_share)
        phi[1:] = U.T
        norms = np.sqrt(np.einsum("dn,dn->n", phi[1:], phi[1:]))
        slope = SLACK * math.sqrt(1.0 - self.constant_share)
        phi[1:] *= slope / np.maximum(norms, self.smallest * math.sqrt(self.columns))
        return phi
