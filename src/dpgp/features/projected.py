"""Features of a stage: a few directions of a dictionary, scaled to norm at most one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpgp.features.inducing import InducingFeatures
from dpgp.types import Array

SLACK = 1.0 - 1e-12
"""Keeps the norm of a divided vector at most one in floating point."""


@dataclass(frozen=True)
class ProjectedFeatures:
    r""":math:`\phi(x) = v/\max(\|v\|, a)`, :math:`v = P^\top\phi_0(x)`, for features φ₀.

    The norm is at most one for any P and any φ₀, hence for any function of earlier releases.
    """

    inner: InducingFeatures
    P: Array  # (d, N)
    smallest_norm: float

    @property
    def dimension(self) -> int:
        """Number of directions."""
        return int(self.P.shape[1])

    @cached_property
    def _coefficients(self) -> Array:
        return np.asarray(self.P.T @ self.inner.projection)

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of the rows of ``U`` as columns of norm at most one."""
        values = np.matmul(self._coefficients, self.inner.kernel_values(U), out=out)
        squares = np.einsum("dn,dn->n", values, values)
        values *= SLACK / np.maximum(np.sqrt(squares), self.smallest_norm)
        return np.asarray(values)


@dataclass(frozen=True)
class KernelValues:
    """k(z_j, x) of a dictionary's inducing points, for functions whose weights are on them."""

    inner: InducingFeatures

    @property
    def dimension(self) -> int:
        """Number of inducing points."""
        return self.inner.dimension

    def weights(self, w: Array) -> Array:
        """Return weights on kernel values of the function φ₀(x)ᵀw."""
        return np.asarray(w @ self.inner.projection)

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the kernel values of the rows of ``U`` as columns."""
        values = self.inner.kernel_values(U)
        if out is not None:
            out[:] = values
        return values
