"""Kernels of finitely many functions: a constant, lines, bumps; and none at all, noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from dpgp.arithmetic import NUMPY, Library, transposed
from dpgp.checked_values import as_positive, as_whole
from dpgp.kernels.base import Box, Leaf, Tree
from dpgp.kernels.parameters import (
    LOG_VARIANCE_SD,
    Constant,
    Measure,
    Parameter,
    third_of_the_range,
)
from dpgp.types import Array

SIZE = Parameter("size", Measure.VARIANCE, third_of_the_range, LOG_VARIANCE_SD, may_be_zero=True)
POSITIVE = Constant(lambda value, where, _: as_positive(value, where))
KNOTS = Constant(lambda value, where, _: as_whole(value, where, 2, 100), int)


@dataclass(frozen=True, repr=False, eq=False)
class ConstantKernel(Leaf):
    """One variance v for all points, k(x, y) = v: a level, or the size of what it multiplies."""

    name = "ConstantKernel"
    part = "constant part"

    constant_value: Annotated[float, SIZE]

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return v."""
        return tree["constant_value"][:, :, None]

    @classmethod
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t v_t."""
        return np.full((len(X), len(Y)), weights @ tree["constant_value"][:, 0])

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return v."""
        return tree["constant_value"]

    def values(self, X: Array, Y: Array) -> Array | float:
        """Return v."""
        return float(self.constant_value)

    def factor(self, X: Array) -> Array | None:
        """Return √v."""
        return np.full((len(X), 1), math.sqrt(self.constant_value))

    def variance_bound(self, box: Box | None) -> float:
        """Return v."""
        return float(self.constant_value)

    def __repr__(self) -> str:
        return f"{math.sqrt(self.constant_value):.3g}**2"


@dataclass(frozen=True, repr=False, eq=False)
class WhiteKernel(Leaf):
    """Variance v at each point, k(x, x) = v, and 0 between draws, also at equal points."""

    name = "WhiteKernel"
    part = "white part"

    noise_level: Annotated[float, Parameter("size", Measure.VARIANCE, may_be_zero=True)]

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return 0."""
        return 0.0 * tree["noise_level"][:, :, None]

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return v."""
        return tree["noise_level"]

    def values(self, X: Array, Y: Array) -> Array | float:
        """Return 0."""
        return 0.0

    def variance_bound(self, box: Box | None) -> float:
        """Return v."""
        return float(self.noise_level)


@dataclass(frozen=True, repr=False, eq=False)
class DotProduct(Leaf):
    r"""Lines with slopes of variance 1 and an offset, :math:`k(x, y) = \sigma_0^2 + x^\top y`."""

    name = "DotProduct"
    part = "straight part"

    sigma_0: Annotated[float, Parameter("offset", Measure.DEVIATION, may_be_zero=True)]

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return σ₀² + xᵀy."""
        return tree["sigma_0"][:, :, None] ** 2 + X @ transposed(Y, library)

    @classmethod
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t (σ_t² + xᵀy)."""
        return np.asarray(weights @ tree["sigma_0"][:, 0] ** 2 + weights.sum() * (X @ Y.T))

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return σ₀² + ‖x‖²."""
        return tree["sigma_0"] ** 2 + library.einsum("nd,nd->n", X, X)

    def factor(self, X: Array) -> Array | None:
        """Return (σ₀, x)."""
        return np.column_stack([np.full(len(X), self.sigma_0), X]) if self.sigma_0 else X

    def variance_bound(self, box: Box | None) -> float:
        """Return σ₀² + max ‖x‖², which the box reaches in a corner."""
        if box is None:
            raise ValueError(
                "`kernel` must have a bounded variance, and DotProduct grows without limit; "
                "give public `bounds` for the inputs, or wrap it in NormalizedKernel."
            )
        corner = np.maximum(np.abs(box[0]), np.abs(box[1]))
        return float(self.sigma_0**2 + corner @ corner)


@dataclass(frozen=True, repr=False, eq=False)
class AdditiveRBF(Leaf):
    r"""A sum of smooth functions of one input each, of finite rank; nothing of it is learned.

    .. math:: k(x, y) = \tfrac1D \sum_n r(x_n)^\top R^{-1} r(y_n), \quad
              r(x) = (\exp(-(x - c_i)^2/2\ell^2))_i

    with knots c evenly over [−1, 1] and R their covariance: a Nyström approximation of the sum of
    one RBF an input, at a price that does not grow with the number of inducing points.
    """

    name = "AdditiveRBF"
    part = "sum of functions of one input"

    length_scale: Annotated[float, POSITIVE] = 0.4
    knots: Annotated[int, KNOTS] = 6

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the length, the knots and R^{−1/2}."""
        count = 1 if thetas is None else len(thetas)
        return {
            "type": self.name,
            "length_scale": np.full((count, 1), self.length_scale),
            "knots": _knots(self.knots),
            "whitening": _inverse_root(self.knots, self.length_scale),
        }

    @classmethod
    def basis(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return R^{−1/2} r(x_n)/√D, (|X|, inputs, knots)."""
        scaled = (X[:, :, None] - tree["knots"][None, None, :]) / tree["length_scale"][:1, :, None]
        bumps = library.exp(-0.5 * scaled**2.0) / math.sqrt(X.shape[1])
        return library.einsum("ndk,kl->ndl", bumps, tree["whitening"])

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return the mean over inputs of r(x_n)ᵀR⁻¹r(y_n)."""
        A, B = (cls.basis(tree, U, library) for U in (X, Y))
        one = library.einsum("ndk,mdk->nm", A, B)
        return one[None, :, :] + 0.0 * tree["length_scale"][:, :, None]

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return the mean over inputs of r(x_n)ᵀR⁻¹r(x_n)."""
        A = cls.basis(tree, X, library)
        return library.einsum("ndk,ndk->n", A, A)[None, :] + 0.0 * tree["length_scale"]

    def factor(self, X: Array) -> Array | None:
        """Return R^{−1/2} r(x_n)/√D of all inputs, side by side."""
        return np.asarray(self.basis(self.tree(), X, NUMPY).reshape(len(X), -1))

    def variance_bound(self, box: Box | None) -> float:
        """Return 1: a Nyström approximation of a kernel of variance 1."""
        return 1.0


def _knots(count: int) -> Array:
    return np.linspace(-1.0, 1.0, count)


@lru_cache(maxsize=16)
def _inverse_root(count: int, length_scale: float) -> Array:
    c = _knots(count)
    R = np.exp(-0.5 * ((c[:, None] - c) / length_scale) ** 2) + 1e-4 * np.eye(count)
    eigenvalues, Q = np.linalg.eigh(R)
    return np.asarray((Q / np.sqrt(eigenvalues)) @ Q.T)


def constant(value: float, *, fixed: bool = False) -> ConstantKernel:
    """Return the kernel of an unknown level, or the size of what it multiplies."""
    return ConstantKernel(value, fixed=("constant_value",) if fixed else ())


def straight() -> DotProduct:
    """Return the kernel of straight lines through the centre."""
    return DotProduct(0.0, fixed=("sigma_0",))
