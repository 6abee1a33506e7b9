r"""Features of norm at most one for any kernel and any inducing points.

A function is modelled as :math:`f(x) = \phi(x)^\top w`. Every map names public *anchors* Z and a
*projection* P, with :math:`w = P f(Z)` the weights of the function through values at the anchors.
So another kernel enters through the prior of the weights alone,
:math:`C_\theta = P K_\theta(Z, Z) P^\top`. Inputs are scaled to :math:`[-1, 1]^D` by their public
bounds. Proof of all norms: docs/proofs/whitened_features.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpgp.features.kernel_values import columnwise_kronecker
from dpgp.features.placement import Grid
from dpgp.kernels.bounds import variance_bound

Array = NDArray[np.float64]

JITTER = 1e-5  # of the unit variance; keeps the norm, and the noise that whitening amplifies, small


class WhitenedMap(Protocol):
    """Features with anchors: what the release sums and the inference is about."""

    @property
    def anchors(self) -> Array:
        """Public points Z, one a row."""
        ...

    @property
    def projection(self) -> Array:
        """P with w = P f(Z)."""
        ...

    @property
    def dimension(self) -> int:
        """Number of features."""
        ...

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of the rows of ``U`` as columns of norm at most one."""
        ...


@dataclass(frozen=True)
class InducingFeatures:
    r"""Nyström features :math:`\phi(x) = K_{ZZ}^{-1/2} k_Z(x)` of a reference kernel.

    :math:`\|\phi(x)\|^2 = k_Z(x)^\top K_{ZZ}^{-1} k_Z(x) \le k(x, x) \le 1`, by the Schur
    complement; a kernel with a larger variance is divided by its bound.
    """

    kernel: Any
    anchors: Array

    @property
    def dimension(self) -> int:
        """Number of inducing points."""
        return len(self.anchors)

    @cached_property
    def projection(self) -> Array:
        """(K_ZZ + jitter·I)^{−1/2} of the kernel scaled to unit variance."""
        return inverse_root(np.asarray(self.kernel(self.anchors)) / self._variance)

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return K_ZZ^{−1/2} k_Z(x) as columns."""
        values = np.asarray(self.kernel(self.anchors, U)) / self._variance
        return np.matmul(self.projection, values, out=out)

    @cached_property
    def _variance(self) -> float:
        D = self.anchors.shape[1]
        return max(variance_bound(self.kernel, (np.full(D, -1.0), np.ones(D))), 1.0)


@dataclass(frozen=True)
class GridFeatures:
    r"""The same for a product of one-dimensional kernels on a grid: a Kronecker product.

    .. math:: \phi(x) = \phi_1(x_1) \otimes \dots \otimes \phi_D(x_D)
    """

    factors: Sequence[InducingFeatures]

    @classmethod
    def of(cls, kernels: Sequence[Any], grid: Grid) -> GridFeatures:
        """Return the features of one kernel an axis."""
        pairs = zip(kernels, grid.axes, strict=True)
        return cls([InducingFeatures(kernel, axis[:, None]) for kernel, axis in pairs])

    @property
    def dimension(self) -> int:
        """Number of grid points."""
        return math.prod(factor.dimension for factor in self.factors)

    @cached_property
    def anchors(self) -> Array:
        """The grid's points; the last axis runs fastest."""
        return Grid(tuple(factor.anchors[:, 0] for factor in self.factors)).points

    @cached_property
    def projection(self) -> Array:
        """The Kronecker product of the axes' projections."""
        projections = [factor.projection for factor in self.factors]
        return reduce(lambda a, b: np.asarray(np.kron(a, b)), projections)

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the columnwise Kronecker product of the axes' features."""
        columns = (U[:, [n]] for n in range(U.shape[1]))
        one_dimensional = [f.evaluate(u) for f, u in zip(self.factors, columns, strict=True)]
        return columnwise_kronecker(one_dimensional, out)


@dataclass(frozen=True)
class LinearFeatures:
    r"""A constant and the inputs, :math:`\phi(x) = (\sqrt a, x\sqrt{(1 - a)/D})`."""

    columns: int
    constant_share: float = 0.5

    @property
    def dimension(self) -> int:
        """One more than the number of inputs."""
        return self.columns + 1

    @cached_property
    def anchors(self) -> Array:
        """The centre of the box and the centres of its faces."""
        return np.vstack([np.zeros(self.columns), np.eye(self.columns), -np.eye(self.columns)])

    @cached_property
    def projection(self) -> Array:
        """Least squares over the anchors."""
        return least_squares(self.evaluate(self.anchors))

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the constant and the scaled inputs as columns."""
        phi = np.empty((self.dimension, len(U))) if out is None else out
        phi[0] = math.sqrt(self.constant_share)
        phi[1:] = U.T * math.sqrt((1.0 - self.constant_share) / self.columns)
        return phi


@dataclass(frozen=True)
class ConcatenatedFeatures:
    r"""Several maps side by side, each with a share of the squared norm; shares add up to one.

    .. math:: \phi(x) = (\sqrt{a_1}\,\phi_1(x), \dots, \sqrt{a_m}\,\phi_m(x)), \quad \sum a_i = 1
    """

    maps: Sequence[WhitenedMap]
    shares: Sequence[float]
    _roots: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.maps) != len(self.shares) or min(self.shares) <= 0.0:
            raise ValueError("`shares` must hold one positive number for each map.")
        total = math.fsum(self.shares) * (1.0 + 1e-15)
        object.__setattr__(self, "_roots", tuple(math.sqrt(s / total) for s in self.shares))

    @property
    def dimension(self) -> int:
        """Number of features of all maps together."""
        return sum(inner.dimension for inner in self.maps)

    @cached_property
    def anchors(self) -> Array:
        """The anchors of all maps."""
        return np.unique(np.vstack([inner.anchors for inner in self.maps]), axis=0)

    @cached_property
    def projection(self) -> Array:
        """Least squares over all anchors."""
        return least_squares(self.evaluate(self.anchors))

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of all maps, scaled by the roots of their shares."""
        phi = np.empty((self.dimension, len(U))) if out is None else out
        start = 0
        for root, inner in zip(self._roots, self.maps, strict=True):
            part = phi[start : start + inner.dimension]
            np.multiply(root, inner.evaluate(U), out=part)
            start += inner.dimension
        return phi


@dataclass(frozen=True)
class ColumnFeatures:
    """One-dimensional features of a single input."""

    inner: InducingFeatures
    column: int
    columns: int

    @property
    def dimension(self) -> int:
        """Number of inducing points."""
        return self.inner.dimension

    @cached_property
    def anchors(self) -> Array:
        """Points along the input's axis through the centre of the box."""
        points = np.zeros((self.inner.dimension, self.columns))
        points[:, self.column] = self.inner.anchors[:, 0]
        return points

    @property
    def projection(self) -> Array:
        """That of the one-dimensional features."""
        return self.inner.projection

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of the one input."""
        return self.inner.evaluate(U[:, [self.column]], out)


def additive_features(kernels: Sequence[Any], points: int) -> ConcatenatedFeatures:
    """Return a sum of one-dimensional functions, one an input, with equal shares of the norm."""
    axis = np.linspace(-1.0, 1.0, points)[:, None]
    columns = len(kernels)
    maps = [ColumnFeatures(InducingFeatures(k, axis), n, columns) for n, k in enumerate(kernels)]
    return ConcatenatedFeatures(maps, [1.0] * columns)


def inverse_root(K_zz: Array) -> Array:
    """Return (K + jitter·I)^{−1/2}, symmetric."""
    eigenvalues, Q = np.linalg.eigh(K_zz)
    return np.asarray((Q * (np.maximum(eigenvalues, 0.0) + JITTER) ** -0.5) @ Q.T)


def least_squares(phi: Array) -> Array:
    """Return P = (φφᵀ + jitter·I)⁻¹ φ for feature columns φ at the anchors: w = P f(Z)."""
    gram = phi @ phi.T
    return np.asarray(np.linalg.solve(gram + JITTER * np.eye(len(gram)), phi))
