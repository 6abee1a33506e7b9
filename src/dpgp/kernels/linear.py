"""Kernels of finitely many functions: a constant, lines, bumps, given ones; and none, noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from dpgp.arithmetic import NUMPY, Library, transposed
from dpgp.checked_values import ModelFileError, as_items, as_matrix, as_positive, as_whole
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


def _as_table(value: Any, where: str, columns: int) -> Array:
    """Return a matrix with a row for each input, and two columns at least."""
    width = len(as_items(as_items(value, where)[0], where))
    if width < 2:
        raise ModelFileError(f"`{where}` must have two numbers an input at least.")
    return as_matrix(value, where, width, columns)


def _as_steps(value: Any, where: str, columns: int) -> Array:
    """Return such a matrix whose rows increase."""
    table = _as_table(value, where, columns)
    if not np.all(np.diff(table) > 0.0):
        raise ModelFileError(f"`{where}` must increase along every input.")
    return table


STEPS = Constant(_as_steps, lambda table: np.asarray(table).tolist())
HEIGHTS = Constant(_as_table, lambda table: np.asarray(table).tolist())


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
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t times it, by one product: nothing of it is learned."""
        A, B = (cls.basis(tree, U, NUMPY).reshape(len(U), -1) for U in (X, Y))
        return np.asarray(weights.sum() * (A @ B.T))

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


@dataclass(frozen=True, repr=False, eq=False)
class BrokenLines(Leaf):
    r"""A given function of every input, linear between its knots; nothing of it is learned.

    .. math:: k(x, y) = \sum_n h_n(x_n)\,h_n(y_n)

    with :math:`h_n` of row n of ``heights`` at the knots of row n, and constant beyond them.
    """

    name = "BrokenLines"
    part = "straight part in inputs that are not warped"

    knots: Annotated[Any, STEPS]
    heights: Annotated[Any, HEIGHTS]

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return knots and heights; ``one`` has a row for every θ."""
        return {
            "type": self.name,
            "one": np.ones((1 if thetas is None else len(thetas), 1)),
            "knots": np.asarray(self.knots, dtype=np.float64),
            "heights": np.asarray(self.heights, dtype=np.float64),
        }

    @classmethod
    def basis(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return h_n(x_n) = h_n(first knot) + Σ_j slope_j · how far x_n has come in piece j."""
        knots, heights = tree["knots"], tree["heights"]
        steps = knots[:, 1:] - knots[:, :-1]
        slopes = (heights[:, 1:] - heights[:, :-1]) / steps
        within = library.clip(X[:, :, None] - knots[None, :, :-1], 0.0 * steps, steps)
        return heights[None, :, 0] + library.einsum("nde,de->nd", within, slopes)

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return Σ_n h_n(x_n) h_n(y_n)."""
        A, B = (cls.basis(tree, U, library) for U in (X, Y))
        return library.einsum("nd,md->nm", A, B)[None, :, :] * tree["one"][:, :, None]

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return Σ_n h_n(x_n)²."""
        A = cls.basis(tree, X, library)
        return library.einsum("nd,nd->n", A, A)[None, :] * tree["one"]

    def values(self, X: Array, Y: Array) -> Array | float:
        """Return the same by interpolation, which is faster."""
        A, B = (self._interpolated(U) for U in (X, Y))
        return np.asarray(A.T @ B)

    def factor(self, X: Array) -> Array | None:
        """Return h_n(x_n), a column an input."""
        return self._interpolated(X).T

    def _interpolated(self, X: Array) -> Array:
        rows = zip(X.T, np.asarray(self.knots), np.asarray(self.heights), strict=True)
        return np.array([np.interp(*row) for row in rows])

    def variance_bound(self, box: Box | None) -> float:
        """Return Σ_n max h_n²: every function is largest at a knot."""
        return float(np.sum(np.max(np.asarray(self.heights) ** 2, axis=1)))


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
