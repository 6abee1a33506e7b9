r"""What earlier releases said of the weights, under every prior of them.

With :math:`w \sim N(0, C)` and earlier records of precision :math:`J = RR^\top` and linear term
h, the new records meet :math:`w \sim N(\bar w, V)`, :math:`V = C - CR(I + R^\top CR)^{-1}R^\top
C`, :math:`\bar w = Vh`. Hyperparameters are told by the new records alone, whose evidence can
then be compared with that of a curve which has moved, :math:`w \sim N(0, C)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpgp.inference.many.records import NormalEquations, lower_root
from dpgp.types import Array


class Prior(NamedTuple):
    """Mean and covariance of the weights under every θ."""

    mean: Array
    covariance: Array


@dataclass(frozen=True)
class ToldBefore:
    """Normal equations of earlier records, and the sd of an observation that they ended with."""

    equations: NormalEquations
    noise: float

    def given(self, C: Array, U: Array) -> Prior:
        """Return the prior of w' = U⁻¹w under every θ, whose own covariances are C."""
        R, h = U.T @ lower_root(self.equations.J), U.T @ self.equations.h
        CR = C @ R
        S = R.T @ CR + np.eye(R.shape[1])
        root = np.linalg.cholesky((S + np.swapaxes(S, 1, 2)) / 2)
        half = np.linalg.solve(root, np.swapaxes(CR, 1, 2))
        V = C - np.swapaxes(half, 1, 2) @ half
        return Prior(np.asarray(V @ h), np.asarray(V))
