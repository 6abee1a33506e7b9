"""What a kernel is: declared fields, one formula, a bound; and what follows from these.

A *tree* has the numbers of a formula for many hyperparameters θ, and is plain numbers that any
array library, an export or the report can take: {"type": …, a parameter: one row for each θ,
"parts": trees within}.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Self, get_args, get_type_hints

import numpy as np

from dpgp.arithmetic import NUMPY, Library
from dpgp.kernels.parameters import Constant, Learned, Measure, Parameter, Part
from dpgp.types import Array

Box = tuple[Sequence[float] | Array, Sequence[float] | Array]
Tree = dict[str, Any]

OWN_TYPE = "own"
"""The type of trees that hold a kernel for each θ beside numbers, and never leave the process."""

MOST_AT_ONCE = 2**20
"""Numbers that covariances of many θ may take in memory at once, about: what a cache holds."""

EVEN_ROWS = 16
"""Rows are cut into multiples of this: matrix products treat the rest of a block in another way,
and a point's numbers must not depend on its place."""


@dataclass(frozen=True, repr=False, eq=False)
class Kernel(ABC):
    """A covariance function, called and named as in scikit-learn, which need not be imported.

    ``tree_types`` are the types of its trees, a formula each.
    """

    name: ClassVar[str]
    part: ClassVar[str]
    tree_types: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return K_θ(X, Y), (thetas, |X|, |Y|), with lengths of 1 where it is constant."""

    @classmethod
    @abstractmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return k_θ(x, x), (thetas, |X|), where the second length may be 1."""

    @abstractmethod
    def variance_bound(self, box: Box | None) -> float:
        """Return an upper bound of k(x, x) over the box, or over everything."""

    @classmethod
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return Σ_t ω_t K_t(X, Y) over all θ_t, (|X|, |Y|)."""
        parts = []
        for rows in _few_rows(X, (len(weights) + X.shape[1]) * max(len(Y), 1)):
            grams = cls.gram(tree, rows, Y, NUMPY)
            total = np.einsum("t,tnm->nm", weights, grams, optimize=True)
            parts.append(np.broadcast_to(total, (len(rows), len(Y))))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def values(self, X: Array, Y: Array) -> Array | float:
        """Return K(X, Y) in new memory, or the number that it is everywhere."""
        return np.array(self.gram(self.tree(), X, Y, NUMPY)[0])

    def factor(self, X: Array) -> Array | None:
        """Return F(X) with K(X, Y) = F(X)F(Y)ᵀ and few columns; None where there is none."""
        return None

    @abstractmethod
    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the tree for every row of ``thetas``, or for the kernel as it is."""

    @property
    @abstractmethod
    def theta(self) -> Array:
        """The logarithms of what is learned."""

    @abstractmethod
    def clone_with_theta(self, theta: Array) -> Self:
        """Return the kernel with these logarithms of what is learned."""

    @abstractmethod
    def log_priors(self, columns: int) -> list[tuple[float, float]]:
        """Return mean and standard deviation of every entry of θ."""

    @abstractmethod
    def learned(self, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return every entry of θ in words; ``scaled`` is what a product multiplies it with."""

    @property
    @abstractmethod
    def n_dims(self) -> int:
        """How many numbers are learned."""

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of covariances between the rows of ``X`` and those of ``Y``."""
        rows = np.asarray(X, dtype=np.float64)
        others = rows if Y is None else np.asarray(Y, dtype=np.float64)
        K = filled(self.values(rows, others), len(rows), len(others))
        if Y is None:
            np.fill_diagonal(K, self.diag(rows))
        return K

    def diag(self, X: Any) -> Array:
        """Return the variances at the rows of ``X``."""
        rows = np.asarray(X, dtype=np.float64)
        variances = self.diagonal(self.tree(), rows, NUMPY)[0]
        return np.array(np.broadcast_to(variances, len(rows)))

    def __add__(self, other: Kernel) -> Kernel:
        from dpgp.kernels.combined import Sum

        return Sum(self, other)

    def __mul__(self, other: Kernel) -> Kernel:
        from dpgp.kernels.combined import Product

        return Product(self, other)

    def __pow__(self, exponent: float) -> Kernel:
        from dpgp.kernels.combined import Exponentiation

        return Exponentiation(self, exponent)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = [each.name for each in fields(self)]
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    __hash__ = None  # type: ignore[assignment]


@cache
def fields_of(known: type[Kernel], kind: Any = Parameter | Constant | Part) -> dict[str, Any]:
    """Return the fields that a kernel declares of one kind, in the order of θ."""
    hints = get_type_hints(known, include_extras=True)
    noted = {each.name: note for each in fields(known) for note in get_args(hints[each.name])[1:]}
    return {name: note for name, note in noted.items() if isinstance(note, kind)}


@dataclass(frozen=True, repr=False, eq=False)
class Leaf(Kernel):
    """A kernel without kernels inside; parameters that are ``fixed`` are not learned."""

    fixed: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def tree_type(self) -> str:
        """The name of the formula."""
        return self.name

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return exp θ where a parameter is learned, its value where it is fixed."""
        tree: Tree = {"type": self.tree_type}
        rest = thetas
        for name, values in self._values(fields_of(type(self), Parameter)).items():
            if rest is None:
                tree[name] = values[None]
            elif name in self.fixed:
                tree[name] = np.tile(values, (len(rest), 1))
            else:
                own, rest = rest[:, : len(values)], rest[:, len(values) :]
                tree[name] = np.exp(own)
        return tree

    @property
    def theta(self) -> Array:
        """The logarithms of all parameters that are not fixed."""
        return np.asarray(np.log(np.concatenate([[], *self._values(self._free()).values()])))

    @property
    def n_dims(self) -> int:
        """How many numbers they are."""
        return sum(np.size(getattr(self, name)) for name in self._free())

    def clone_with_theta(self, theta: Array) -> Self:
        """Return the kernel with exp θ for every parameter that is not fixed."""
        rest, found = np.exp(theta), dict[str, Any]()
        for name, values in self._values(self._free()).items():
            own, rest = rest[: len(values)], rest[len(values) :]
            found[name] = own if np.ndim(getattr(self, name)) else own[0]
        return replace(self, **found)

    def log_priors(self, columns: int) -> list[tuple[float, float]]:
        """Return the parameters' priors, one for each element."""
        free = self._free()
        values = self._values(free)
        return [p.log_prior(name, v, columns) for name, p in free.items() for v in values[name]]

    def learned(self, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return the words of the parameters, one for each element."""
        found = []
        for name, parameter in self._free().items():
            size = parameter.measure is Measure.VARIANCE
            words = f"{parameter.word} of the {(size and scaled) or self.part}"
            count = np.size(getattr(self, name))
            columns = range(count) if count > 1 else [None]
            found += [Learned(f"{prefix}{name}", words, parameter.measure, n) for n in columns]
        return found

    def __repr__(self) -> str:
        values = {name: getattr(self, name) for name in fields_of(type(self))}
        short = [f"{name}={_short(v)}" for name, v in values.items() if np.ndim(v) < 2]
        return f"{self.name}({', '.join(short)})"

    def _free(self) -> dict[str, Parameter]:
        known = fields_of(type(self), Parameter)
        return {name: parameter for name, parameter in known.items() if name not in self.fixed}

    def _values(self, names: Iterable[str]) -> dict[str, Array]:
        return {n: np.atleast_1d(np.asarray(getattr(self, n), dtype=np.float64)) for n in names}


class Compound(Kernel):
    """A kernel of other kernels; θ has the entries of the first before those of the next."""

    def parts(self) -> dict[str, Kernel]:
        """Return the kernels that are learned, by what scikit-learn calls them."""
        return {name: getattr(self, name) for name in fields_of(type(self), Part)}

    def with_parts(self, parts: Iterable[Kernel]) -> Self:
        """Return the same of other kernels."""
        return replace(self, **dict(zip(self.parts(), parts, strict=True)))

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the trees of all parts."""
        return {"type": self.name, "parts": [part.tree(own) for part, own in self._split(thetas)]}

    @property
    def theta(self) -> Array:
        """Those of all parts."""
        return np.concatenate([np.empty(0), *(part.theta for part in self.parts().values())])

    @property
    def n_dims(self) -> int:
        """How many numbers they are."""
        return sum(part.n_dims for part in self.parts().values())

    def clone_with_theta(self, theta: Array) -> Self:
        """Return the same of parts with their share of θ."""
        return self.with_parts(
            part.clone_with_theta(own[0]) for part, own in self._split(theta[None])
        )

    def log_priors(self, columns: int) -> list[tuple[float, float]]:
        """Return those of all parts."""
        return [prior for part in self.parts().values() for prior in part.log_priors(columns)]

    def learned(self, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return those of all parts."""
        return [
            found
            for name, part in self.parts().items()
            for found in part.learned(f"{prefix}{name}__", self.scaled_by(name))
        ]

    def scaled_by(self, name: str) -> str | None:
        """Say what a size in the part of this name is the size of, if not its own."""
        return None

    def _split(self, thetas: Array | None) -> list[tuple[Kernel, Any]]:
        parts = list(self.parts().values())
        if thetas is None:
            return [(part, None) for part in parts]
        ends = np.cumsum([0, *(part.n_dims for part in parts)])
        return [(part, thetas[:, ends[k] : ends[k + 1]]) for k, part in enumerate(parts)]


def filled(values: Array | float, rows: int, columns: int) -> Array:
    """Return a matrix of this shape, in the memory of ``values`` where that has it."""
    if np.shape(values) == (rows, columns):
        return np.asarray(values)
    return np.array(np.broadcast_to(values, (rows, columns)))


def formula_of(tree: Tree) -> type[Kernel]:
    """Return the kernel whose formula a tree has the numbers of."""
    from dpgp.kernels.known import FORMULAS

    return FORMULAS[tree["type"]]


def takes_vectors(kernel: Any) -> bool:
    """Return whether the kernel is defined on rows of numbers rather than on strings or graphs."""
    return bool(getattr(kernel, "requires_vector_input", True))


def _short(value: Any) -> str:
    parts = [f"{part:.3g}" for part in np.ravel(value)]
    return parts[0] if np.ndim(value) == 0 else f"[{', '.join(parts)}]"


def _few_rows(X: Array, numbers: int) -> list[Array]:
    """Cut rows into even parts, each of which needs ``numbers`` numbers."""
    size = -(-len(X) // (1 + len(X) * numbers // MOST_AT_ONCE))
    size = max(-(-size // EVEN_ROWS), 1) * EVEN_ROWS
    return [X[start : start + size] for start in range(0, max(len(X), 1), size)]
