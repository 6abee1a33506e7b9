"""Kernels of a distance: k(x, y) = g(s), with g(0) = 1."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import reduce
from typing import Annotated, Any

import numpy as np

from dpgp.arithmetic import NUMPY, SMALLEST_SQUARE, Library, transposed
from dpgp.checked_values import ModelFileError, as_matrix, as_positive
from dpgp.kernels.base import OWN_TYPE, Box, Leaf, Tree
from dpgp.kernels.parameters import (
    LOG_LENGTH_SD,
    Constant,
    Measure,
    Parameter,
    half_ranges,
)
from dpgp.types import Array

IN_CACHE = 2**16
"""Numbers of a temporary that stays in the cache of a core."""

ONE_LENGTH = Parameter("length", Measure.LENGTH, half_ranges, LOG_LENGTH_SD)
LENGTHS = replace(ONE_LENGTH, per_input=True)
FACTOR = Parameter("factor of all lengths", Measure.NUMBER, lambda D: 0.0, 0.5)
SMOOTHNESS = Constant(lambda value, where, _: as_positive(value, where, infinite=True))


class Stationary(Leaf):
    """A function g of squared distances s of some kind; every one has a ``length_scale``."""

    part = "smooth part"

    @classmethod
    @abstractmethod
    def squares(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return s, (thetas, |X|, |Y|), where the first length may be 1."""

    @classmethod
    @abstractmethod
    def value(cls, tree: Tree, s: Any, library: Library) -> Any:
        """Return g(s): the one formula, which the report's page gets from its trace."""

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return g(s)."""
        return cls.value(tree, cls.squares(tree, X, Y, library), library)

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return g(0) = 1."""
        return 1.0 + 0.0 * tree["length_scale"][:, :1]

    def variance_bound(self, box: Box | None) -> float:
        """Return g(0) = 1."""
        return 1.0


class Radial(Stationary):
    """s = Σ_n (x_n − y_n)²/ℓ_n²; g is convex, decreasing, and a mixture of Gaussians."""

    @classmethod
    def squares(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return Σ_n (x_n − y_n)²/ℓ_n²."""
        squares = (transposed(X, library)[:, :, None] - transposed(Y, library)[:, None, :]) ** 2
        lengths = tree["length_scale"] + 0.0 * Y[:1, :]  # a row for each θ, a column an input
        return library.einsum("td,dnm->tnm", lengths**-2.0, squares)

    def values(self, X: Array, Y: Array) -> Array | float:
        """Return g(s) with few temporaries."""
        tree = self.tree()
        lengths = np.broadcast_to(tree["length_scale"][0], X.shape[1])
        squares: Any = None
        for x, y, length in zip(X.T, Y.T, lengths.tolist(), strict=True):
            distance = (x / length)[:, None] - y / length
            distance *= distance
            squares = distance if squares is None else np.add(squares, distance, out=squares)
        return self.value_in_place(tree, squares)

    def value_in_place(self, tree: Tree, squares: Array) -> Array:
        """Return g(s); ``squares`` may be overwritten."""
        return np.asarray(self.value(tree, squares[None], NUMPY)[0])

    @classmethod
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t g_t(s_t), a few θ at a time: temporaries beyond the cache cost more."""
        squares = ((X.T[:, :, None] - Y.T[:, None, :]) ** 2).reshape(X.shape[1], -1)
        total, step = np.zeros(squares.shape[1]), max(IN_CACHE // max(squares.shape[1], 1), 1)
        for start in range(0, len(weights), step):
            few = slice(start, start + step)
            part = {name: value[few] for name, value in tree.items() if name != "type"}
            lengths = np.broadcast_to(part["length_scale"], (len(weights[few]), X.shape[1]))
            s = (lengths**-2.0 @ squares).reshape(-1, len(X), len(Y))
            values = cls.value(tree | part, s, NUMPY)
            total += weights[few] @ values.reshape(len(values), -1)
        return total.reshape(len(X), len(Y))


@dataclass(frozen=True, repr=False, eq=False)
class RBF(Radial):
    r"""Smooth functions, :math:`k(x, y) = \exp(-\tfrac12 \sum_n (x_n - y_n)^2/\ell_n^2)`."""

    name = "RBF"

    length_scale: Annotated[Any, LENGTHS]

    @classmethod
    def value(cls, tree: Tree, s: Any, library: Library) -> Any:
        """Return exp(−s/2)."""
        return library.exp(-0.5 * s)

    def value_in_place(self, tree: Tree, squares: Array) -> Array:
        """Return exp(−s/2) in the memory of s."""
        squares *= -0.5
        return np.exp(squares, out=squares)

    @classmethod
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t Π_n exp(−½ (x_n − y_n)²/ℓ_tn²), on a grid from its axes."""
        axes = grid_axes(X)
        if axes is None:
            return super().weighted_gram(tree, weights, X, Y)
        lengths = np.broadcast_to(tree["length_scale"], (len(weights), X.shape[1]))
        *others, last = map(_on_axis, axes, Y.T, lengths.T)
        last *= weights
        first = reduce(_kronecker, others) if others else np.ones((1, 1, len(weights)))
        return np.asarray(np.matmul(first, last.transpose(0, 2, 1)).reshape(len(Y), -1).T)


def grid_axes(points: Array) -> list[Array] | None:
    """Return the axes of a grid whose last one runs fastest; None for other points."""
    axes = [np.unique(column) for column in points.T]
    if math.prod(map(len, axes)) != len(points):
        return None
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(points.shape)
    return axes if np.array_equal(grid, points) else None


def _on_axis(axis: Array, y: Array, lengths: Array) -> Array:
    """Return exp(−½ (x − y)²/ℓ²), (|Y|, points of the axis, θ); new memory costs more than it."""
    values = (axis - y[:, None])[:, :, None] ** 2 * (-0.5 * lengths**-2.0)
    np.exp(values, out=values)
    return np.asarray(values)


def _kronecker(first: Array, second: Array) -> Array:
    return (first[:, :, None, :] * second[:, None, :, :]).reshape(len(second), -1, second.shape[2])


@dataclass(frozen=True, repr=False, eq=False)
class Matern(Radial):
    r"""Functions with ν − ½ derivatives: a polynomial in r times :math:`\exp(-\sqrt{2\nu}\,r)`.

    Closed forms for ν of 1/2, 3/2 and 5/2 (Rasmussen & Williams 2006, eq. 4.17), and the squared
    exponential for ν = ∞. Any other ν has Bessel functions, which other programs lack.
    """

    name = "Matern"
    tree_types = ("Matern0.5", "Matern1.5", "Matern2.5", "Materninf")

    length_scale: Annotated[Any, LENGTHS]
    nu: Annotated[float, SMOOTHNESS]

    @property
    def tree_type(self) -> str:
        """The name of the formula for ν."""
        name = f"Matern{float(self.nu)}"
        return name if name in self.tree_types else OWN_TYPE

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the length scales, or kernels of them where ν has no closed form."""
        tree = super().tree(thetas)
        if tree["type"] == OWN_TYPE:
            tree["kernels"] = [replace(self, length_scale=row) for row in tree["length_scale"]]
        return tree

    @classmethod
    def value(cls, tree: Tree, s: Any, library: Library) -> Any:
        """Return e⁻ᵗ times 1, 1 + t, or 1 + t + t²/3, with t = √(2ν s)."""
        if tree["type"] == "Materninf":
            return library.exp(-0.5 * s)
        r = library.sqrt(s + SMALLEST_SQUARE)
        if tree["type"] == "Matern0.5":
            return library.exp(-r)
        if tree["type"] == "Matern1.5":
            t = 3.0**0.5 * r
            return (1.0 + t) * library.exp(-t)
        t = 5.0**0.5 * r
        return (1.0 + t + t * t / 3.0) * library.exp(-t)

    def value_in_place(self, tree: Tree, squares: Array) -> Array:
        """Return the closed form, or Bessel's where there is none."""
        if tree["type"] == OWN_TYPE:
            return _bessel(np.sqrt(2.0 * self.nu * squares), self.nu)
        return super().value_in_place(tree, squares)


def _bessel(t: Array, nu: float) -> Array:
    """Return 2^(1−ν)/Γ(ν) tᵛ K_ν(t) (Rasmussen & Williams 2006, eq. 4.14), and 1 at 0."""
    from scipy.special import gammaln, kve

    with np.errstate(divide="ignore", invalid="ignore"):
        logs = nu * np.log(t) + np.log(kve(nu, t)) - t + (1.0 - nu) * math.log(2.0) - gammaln(nu)
    return np.where(t > 0.0, np.exp(logs), 1.0)


@dataclass(frozen=True, repr=False, eq=False)
class RationalQuadratic(Radial):
    r"""Smooth on several scales, :math:`k(x, y) = (1 + \|x - y\|^2/(2\alpha\ell^2))^{-\alpha}`."""

    name = "RationalQuadratic"

    alpha: Annotated[float, Parameter("alpha", Measure.NUMBER)]
    length_scale: Annotated[float, ONE_LENGTH]

    @classmethod
    def value(cls, tree: Tree, s: Any, library: Library) -> Any:
        """Return (1 + s/(2α))^−α."""
        alpha = tree["alpha"][:, :, None]
        return (1.0 + s / (2.0 * alpha)) ** -alpha


@dataclass(frozen=True, repr=False, eq=False)
class ExpSineSquared(Stationary):
    r"""Functions that repeat, :math:`k(x, y) = \exp(-2 \sin^2(\pi\|x - y\|/p)/\ell^2)`.

    A covariance of one input alone: with two, distances have no circle to go round on. Reference:
    MacKay (1998), "Introduction to Gaussian processes", section 5.2.
    """

    name = "ExpSineSquared"
    part = "periodic part"

    length_scale: Annotated[float, replace(ONE_LENGTH, word="smoothness", measure=Measure.NUMBER)]
    periodicity: Annotated[float, replace(ONE_LENGTH, word="period")]

    @classmethod
    def squares(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return ‖x − y‖²."""
        return library.einsum("nmd->nm", (X[:, None, :] - Y[None, :, :]) ** 2)[None, :, :]

    @classmethod
    def value(cls, tree: Tree, s: Any, library: Library) -> Any:
        """Return exp(−2 (sin(πr/p)/ℓ)²), r = √s."""
        turns = library.sqrt(s + SMALLEST_SQUARE) * (math.pi / tree["periodicity"])[:, :, None]
        return library.exp(-2.0 * (library.sin(turns) / tree["length_scale"][:, :, None]) ** 2)

    def log_priors(self, columns: int) -> list[tuple[float, float]]:
        """Return the parameters' priors; refuse several inputs, on which it is no covariance."""
        if columns > 1:
            raise ValueError(
                "`kernel`: ExpSineSquared is a covariance of one input alone; with several, give "
                "dpgp.ProductKernel one kernel for each input."
            )
        return super().log_priors(columns)


def _as_root(value: Any, where: str, columns: int) -> Array:
    root = as_matrix(value, where, columns)
    if len(root) != columns:
        raise ModelFileError(f"`{where}` must have a row for each of {columns} inputs.")
    return root


ROOT = Constant(_as_root, lambda root: np.asarray(root).tolist())


@dataclass(frozen=True, repr=False, eq=False)
class MetricRBF(Stationary):
    r"""A smooth function in a metric, :math:`k(x, y) = \exp(-\|L^\top(x - y)\|^2/2\ell^2)`.

    ``root`` is L, one row an input. Radhakrishnan et al. (2024), "Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models".
    """

    name = "MetricRBF"
    part = "smooth part in a learned metric"

    root: Annotated[Any, ROOT]
    length_scale: Annotated[float, FACTOR] = 1.0

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the lengths and L."""
        return {**super().tree(thetas), "root": np.asarray(self.root, dtype=np.float64)}

    @classmethod
    def squares(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return ‖a − b‖² = ‖a‖² + ‖b‖² − 2aᵀb, with a = Lᵀx and b = Lᵀy."""
        # one column a row: of many inputs, BLAS computes a row otherwise at another place
        A, B = (transposed(tree["root"], library) @ transposed(M, library) for M in (X, Y))
        norms_x, norms_y = (library.einsum("dn,dn->n", M, M) for M in (A, B))
        squares = norms_x[:, None] + norms_y[None, :] - 2.0 * (transposed(A, library) @ B)
        return library.clip(squares, 0.0, np.inf)[None, :, :]

    @classmethod
    def value(cls, tree: Tree, s: Any, library: Library) -> Any:
        """Return exp(−s/2ℓ²)."""
        return library.exp(-0.5 * s * tree["length_scale"][:, :, None] ** -2.0)

    @classmethod
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t exp(−s/2ℓ_t²); draws of one length share an exponential."""
        lengths, which = np.unique(tree["length_scale"][:, 0], return_inverse=True)
        exponents = _exponents(tree["root"], X, Y)
        total, values = np.zeros_like(exponents), np.empty_like(exponents)
        for length, weight in zip(lengths, np.bincount(which, weights), strict=True):
            np.multiply(exponents, length**-2.0, out=values)
            np.exp(values, out=values)
            values *= weight
            total += values
        return total

    def values(self, X: Array, Y: Array) -> Array | float:
        """Return exp(−s/2), lengths within L, in place."""
        exponents = _exponents(np.asarray(self.root) / self.length_scale, X, Y)
        return np.asarray(np.exp(exponents, out=exponents))


def _exponents(root: Array, X: Array, Y: Array) -> Array:
    """Return aᵀb − ‖a‖²/2 − ‖b‖²/2 by one product, with a = Lᵀx and b = Lᵀy."""
    A, B = (root.T @ M.T for M in (X, Y))
    halves = [-0.5 * np.einsum("dn,dn->n", M, M)[None] for M in (A, B)]
    ones = [np.ones_like(half) for half in halves]
    left, right = np.vstack([A, halves[0], ones[0]]), np.vstack([B, ones[1], halves[1]])
    return np.asarray(left.T @ right)
