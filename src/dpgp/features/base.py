r"""What a feature map is, and what maps share.

A function is modelled as :math:`f(x) = \phi(x)^\top w`. Every whitened map names public *anchors* Z
and a *projection* P, with :math:`w = P f(Z)` the weights of the function through values at the
anchors. So another kernel enters through the prior of the weights alone,
:math:`C_\theta = P K_\theta(Z, Z) P^\top`. Inputs are scaled to :math:`[-1, 1]^D` by their public
bounds. Proof of all norms: docs/proofs/whitened_features.md.

A map returns its features as columns, ``(dimension, rows)``: that is the layout in which NumPy
multiplies, rounds and sums them fastest. The features of a row depend on that row alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.types import Array

Tree = dict[str, Any]

JITTER = 1e-5  # of the unit variance; keeps the norm, and the noise that whitening amplifies, small


class FeatureMap(Protocol):
    """A public function from rows to feature columns of norm at most one."""

    @property
    def dimension(self) -> int:
        """Number of features."""
        ...

    @property
    def rows_per_call(self) -> int | None:
        """How many rows a call takes; None leaves it to the caller."""
        ...

    @property
    def filler(self) -> Any:
        """A public row to stand in for padding and for rows that cannot be used."""
        ...

    def evaluate(self, X: Any, out: Array | None = None) -> Array:
        """Return the features of the rows of ``X`` as columns, written to ``out`` if given."""
        ...


class UnitFeatures(Protocol):
    """Functions of inputs in [−1, 1]^D, as columns."""

    @property
    def dimension(self) -> int:
        """Number of features."""
        ...

    def evaluate(self, U: Array, out: Array | None = None) -> Array:
        """Return the features of the rows of ``U`` as columns."""
        ...


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


class WrittenMap(WhitenedMap, Protocol):
    """A whitened map that can be written down: in a model file, and as a formula elsewhere.

    ``tree_type`` names its formula, ``fields`` are those of its object in a model file besides the
    type, ``javascript`` is a function from a tree to the function φ of scaled inputs.
    """

    tree_type: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    javascript: ClassVar[str]

    @property
    def most_anchors(self) -> int:
        """At least the number of anchors, without writing them out."""
        ...

    def to_json(self) -> Tree:
        """Return the fields."""
        ...

    @classmethod
    def from_json(cls, fields: Tree, where: str, columns: int, depth: int) -> Self:
        """Return the map on ``columns`` inputs that has these fields, not yet checked."""
        ...

    def specify(self) -> Tree:
        """Return the numbers of the formula."""
        ...

    @staticmethod
    def formula(tree: Tree, U: Any, library: Library) -> Any:
        """Return φ of the rows of ``U``, one a row."""
        ...


def inverse_root(K_zz: Array) -> Array:
    """Return (K + jitter·I)^{−1/2}, symmetric."""
    eigenvalues, Q = np.linalg.eigh(K_zz)
    return np.asarray((Q * (np.maximum(eigenvalues, 0.0) + JITTER) ** -0.5) @ Q.T)


def least_squares(phi: Array) -> Array:
    """Return P = (φφᵀ + jitter·I)⁻¹ φ for feature columns φ at the anchors: w = P f(Z)."""
    gram = phi @ phi.T
    return np.asarray(np.linalg.solve(gram + JITTER * np.eye(len(gram)), phi))


def side_by_side(parts: Sequence[Any], library: Library) -> Any:
    """Return matrices with a row for each point as one."""
    rows = library.stack_rows([library.einsum("nd->dn", part) for part in parts])
    return library.einsum("dn->nd", rows)


def columnwise_kronecker(factors: Sequence[Array], out: Array | None = None) -> Array:
    """Return the Kronecker product of the columns of all factors, written to ``out`` if given.

    Large new arrays cost more than the arithmetic: their pages have to be mapped.
    """
    *others, last = factors
    first = reduce(_kronecker, others) if others else np.ones((1, last.shape[1]))
    return _kronecker(first, last, out)


def _kronecker(first: Array, second: Array, out: Array | None = None) -> Array:
    shape = (len(first), len(second), first.shape[1])
    target = None if out is None else out.reshape(shape)
    product = np.multiply(first[:, None, :], second[None, :, :], out=target)
    return product.reshape(-1, first.shape[1])
