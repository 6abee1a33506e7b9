r"""What a feature map is, what maps share, and which of them can be written down.

A function is modelled as :math:`f(x) = \phi(x)^\top w`. Every whitened map names public *anchors* Z
and a *projection* P, with :math:`w = P f(Z)` the weights of the function through values at the
anchors. So another kernel enters through the prior of the weights alone,
:math:`C_\theta = P K_\theta(Z, Z) P^\top`. Inputs are scaled to :math:`[-1, 1]^D` by their public
bounds. Proof of all norms: docs/proofs/whitened_features.md.

A map returns its features as columns, ``(dimension, rows)``: that is the layout in which NumPy
multiplies, rounds and sums them fastest. The features of a row depend on that row alone. All of a
map is public, in files too: anchors, reference kernel, shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from importlib import import_module
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import ModelFileError, as_choice, as_fields
from dpgp.types import Array

Tree = dict[str, Any]

JITTER = 1e-5  # of the unit variance; keeps the norm, and the noise that whitening amplifies, small
SLACK = 1.0 - 1e-12
"""Keeps the norm of a divided vector at most one in floating point."""


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


class WhitenedMap(UnitFeatures, Protocol):
    """Features with anchors, of norm at most one: what the release sums, inference is about."""

    @property
    def anchors(self) -> Array:
        """Public points Z, one a row."""
        ...

    @property
    def projection(self) -> Array:
        """P with w = P f(Z)."""
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


def weighted(weights: Array, columns: Array) -> Array:
    """Return wᵀφ, summed in the same order for every row, as a matrix product need not do."""
    return np.asarray(np.einsum("kd,dn->kn", weights, columns))


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


# --- maps that can be written down ----------------------------------------------------------------


MAPS = {
    "InducingFeatures": "inducing",
    "GridFeatures": "combined",
    "LinearFeatures": "linear",
    "ColumnFeatures": "combined",
    "ConcatenatedFeatures": "combined",
}
"""Classes of maps, as model files name them, and the modules that they are in."""

DEEPEST = 8  # maps within maps of a file; a design has two


@cache
def maps() -> dict[str, type[WrittenMap]]:
    """Return the maps by the names of their classes, as in model files."""
    return {n: getattr(import_module(f"dpgp.features.{home}"), n) for n, home in MAPS.items()}


@cache
def maps_of_trees() -> dict[str, type[WrittenMap]]:
    """Return the maps by the type of their trees."""
    return {kind.tree_type: kind for kind in maps().values()}


def map_scripts() -> dict[str, str]:
    """Return the JavaScript of every type of tree."""
    return {name: kind.javascript for name, kind in maps_of_trees().items()}


def feature_tree(features: Any) -> Tree:
    """Return the numbers of a map's formula."""
    if type(features) not in maps().values():
        raise ValueError(f"features of type {type(features).__name__} cannot be exported.")
    return {"type": features.tree_type, **features.specify()}


def evaluate(tree: Tree, U: Any, library: Library) -> Any:
    """Return φ of the rows of ``U``, one a row."""
    return maps_of_trees()[tree["type"]].formula(tree, U, library)


def features_to_json(features: Any) -> Tree:
    """Return a feature map as an object of plain values."""
    name = type(features).__name__
    if type(features) not in maps().values():
        raise ModelFileError(f"features of type {name} cannot be saved.")
    return {"type": name, **features.to_json()}


def features_from_json(value: Any, where: str, columns: int, depth: int = DEEPEST) -> WrittenMap:
    """Return the feature map on ``columns`` inputs that an object describes."""
    if depth == 0:
        raise ModelFileError(f"`{where}` is nested too deeply.")
    if not isinstance(value, dict) or "type" not in value:
        raise ModelFileError(f"`{where}` must be an object with a `type`.")
    kind = maps()[as_choice(value["type"], f"{where}.type", maps())]
    fields = as_fields(value, where, ("type", *kind.fields))
    return kind.from_json(fields, where, columns, depth)


# --- what features miss ---------------------------------------------------------------------------
#
# With a(x) = Pᵀφ(x) the model's value at x is a(x)ᵀf(Z), and what it misses is
# r(x) = f(x) − a(x)ᵀf(Z). All covariances are averages over hyperparameters θ, in which the
# formulas are linear. Rows are points: a is (points, anchors).


def missing_covariance(
    K_xy: Any, K_xz: Any, K_yz: Any, K_zz: Any, a_x: Any, a_y: Any, library: Library
) -> Any:
    """Return cov(r(x), r(y)) = k(x, y) − a(x)ᵀk(Z, y) − k(x, Z)a(y) + a(x)ᵀK_zz a(y)."""
    einsum = library.einsum
    cross = einsum("nz,mz->nm", a_x, K_yz) + einsum("nz,mz->nm", K_xz, a_y)
    return K_xy - cross + einsum("nz,mz->nm", a_x @ K_zz, a_y)


def missing_variance(k_xx: Any, K_xz: Any, K_zz: Any, a: Any, library: Library) -> Any:
    """Return its diagonal, k(x, x) − 2k(x, Z)a(x) + a(x)ᵀK_zz a(x), not below 0."""
    missing = k_xx - library.einsum("nz,nz->n", 2.0 * K_xz - a @ K_zz, a)
    return library.clip(missing, 0.0, np.inf)
