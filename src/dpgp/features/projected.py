"""Features of a stage: a few directions of a dictionary, scaled to norm at most one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpgp.features.base import WhitenedMap
from dpgp.features.inducing import InducingFeatures
from dpgp.types import Array

SLACK = 1.0 - 1e-12
"""Keeps the norm of a divided vector at most one in floating point."""


@dataclass(frozen=True)
class DictionaryValues:
    """What functions of a dictionary are sums of: kernel values at its points, or its features.

    Whoever wants a few sums need not whiten all kernel values first.
    """

    inner: WhitenedMap

    @property
    def dimension(self) -> int:
        """Number of values."""
        return self.inner.dimension

    def weights(self, w: Array) -> Array:
        """Return weights on the values of functions φ₀(x)ᵀw."""
        if isinstance(self.inner, InducingFeatures):
            return np.asarray(w @ self.inner.projection)
        return w

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the values at the rows of ``U`` as columns."""
        if not isinstance(self.inner, InducingFeatures):
            return self.inner.evaluate(U, out)
        values = self.inner.kernel_values(U)
        if out is not None:
            out[:] = values
        return values


@dataclass(frozen=True)
class ProjectedFeatures:
    r""":math:`\phi(x) = v/\max(\|v\|, a)`, :math:`v = P^\top\phi_0(x)`, for features φ₀.

    The norm is at most one for any P and any φ₀, hence for any function of earlier releases.
    """

    inner: WhitenedMap
    P: Array  # (d, N)
    smallest_norm: float

    @property
    def dimension(self) -> int:
        """Number of directions."""
        return int(self.P.shape[1])

    @cached_property
    def _coefficients(self) -> Array:
        return DictionaryValues(self.inner).weights(self.P.T)

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of the rows of ``U`` as columns of norm at most one."""
        inner = DictionaryValues(self.inner).evaluate(U)
        values = np.matmul(self._coefficients, inner, out=out)
        squares = np.einsum("dn,dn->n", values, values)
        values *= SLACK / np.maximum(np.sqrt(squares), self.smallest_norm)
        return np.asarray(values)
