"""Kernels of kernels: sums, products, powers, correlations, a product over inputs."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from dpgp.arithmetic import Library
from dpgp.checked_values import as_number
from dpgp.kernels.base import Box, Compound, Kernel, Tree, formula_of
from dpgp.kernels.linear import ConstantKernel
from dpgp.kernels.parameters import Constant, Learned, Part
from dpgp.types import Array

EXPONENT = Constant(lambda value, where, _: as_number(value, where))

SMALLEST = 1e-150
"""Below this variance, a kernel in another library's arithmetic fades to 0."""


@dataclass(frozen=True, repr=False, eq=False)
class Pair(Compound):
    """A sum or a product: numbers, matrices and bounds of both kernels are combined alike."""

    sign: ClassVar[str]
    combine: ClassVar[np.ufunc]
    operation: ClassVar[Callable[[Any, Any], Any]]  # the same, of any library's arrays

    k1: Annotated[Kernel, Part()]
    k2: Annotated[Kernel, Part()]

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return both combined."""
        first, second = (formula_of(part).gram(part, X, Y, library) for part in tree["parts"])
        return cls.operation(first, second)

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return both combined."""
        first, second = (formula_of(part).diagonal(part, X, library) for part in tree["parts"])
        return cls.operation(first, second)

    def values(self, X: Array, Y: Array) -> Array | float:
        """Return both combined, in the memory of one."""
        left, right = self.k1.values(X, Y), self.k2.values(X, Y)
        out = next((part for part in (left, right) if isinstance(part, np.ndarray)), None)
        combined = self.combine(left, right, out=out)
        return combined if out is not None else float(combined)

    def variance_bound(self, box: Box | None) -> float:
        """Return both combined: variances are not negative."""
        bounds = (part.variance_bound(box) for part in (self.k1, self.k2))
        return float(self.combine(*bounds))

    def __repr__(self) -> str:
        return f"{self.k1} {self.sign} {self.k2}"


@dataclass(frozen=True, repr=False, eq=False)
class Sum(Pair):
    r"""Two functions on top of each other, :math:`k(x, y) = k_1(x, y) + k_2(x, y)`."""

    name, part, sign, combine, operation = "Sum", "sum", "+", np.add, operator.add

    def values(self, X: Array, Y: Array) -> Array | float:
        """Return the sum; all terms with factors take one matrix product."""
        total: Any = 0.0
        left, right = [], []
        for term in self._terms():
            factors = term.factor(X), term.factor(Y)
            if factors[0] is None or factors[1] is None:
                total = _added(total, term.values(X, Y))
            else:
                left.append(factors[0])
                right.append(factors[1])
        if left:
            total = _added(total, np.hstack(left) @ np.hstack(right).T)
        return total if isinstance(total, np.ndarray) else float(total)

    def factor(self, X: Array) -> Array | None:
        """Return both, side by side."""
        first, second = self.k1.factor(X), self.k2.factor(X)
        return None if first is None or second is None else np.hstack([first, second])

    def _terms(self) -> Iterator[Kernel]:
        for part in (self.k1, self.k2):
            yield from part._terms() if isinstance(part, Sum) else (part,)

    @classmethod
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return the sum of both."""
        first, second = (
            formula_of(part).weighted_gram(part, weights, X, Y) for part in tree["parts"]
        )
        return first + second


def split(kernel: Kernel, X: Array) -> tuple[Kernel | None, Kernel | None]:
    """Return the sum of all terms with factors, and of the others, on points like ``X``."""
    terms = list(kernel._terms()) if isinstance(kernel, Sum) else [kernel]
    thin = [term.factor(X) is not None for term in terms]
    sums = (
        [t for t, is_thin in zip(terms, thin, strict=True) if is_thin is kind]
        for kind in (True, False)
    )
    first, second = (reduce(Sum, chosen) if chosen else None for chosen in sums)
    return first, second


def _added(total: Any, other: Any) -> Any:
    """Return the sum of arrays or numbers, in the memory of an array."""
    if isinstance(total, np.ndarray):
        total += other
        return total
    if isinstance(other, np.ndarray):
        other += total
        return other
    return total + other


@dataclass(frozen=True, repr=False, eq=False)
class Product(Pair):
    r"""Alike where both find it so, :math:`k(x, y) = k_1(x, y)\,k_2(x, y)`."""

    name, part, sign, combine, operation = "Product", "product", "*", np.multiply, operator.mul

    @classmethod
    def weighted_gram(cls, tree: Tree, weights: Array, X: Array, Y: Array) -> Array:
        """Return the other kernel's where one is a constant, which joins the weights."""
        first, second = tree["parts"]
        for factor, other in ((first, second), (second, first)):
            if factor["type"] == ConstantKernel.name:
                joint = weights * factor["constant_value"][:, 0]
                return formula_of(other).weighted_gram(other, joint, X, Y)
        return super().weighted_gram(tree, weights, X, Y)

    def factor(self, X: Array) -> Array | None:
        """Return that of the other kernel where one is a constant."""
        for size, other in ((self.k1, self.k2), (self.k2, self.k1)):
            if isinstance(size, ConstantKernel):
                factor = other.factor(X)
                return None if factor is None else math.sqrt(size.constant_value) * factor
        return None

    def scaled_by(self, name: str) -> str | None:
        """Say that a size is the size of the other kernel."""
        return (self.k2 if name == "k1" else self.k1).part


@dataclass(frozen=True, repr=False, eq=False)
class Exponentiation(Compound):
    r"""A kernel times itself, :math:`\tilde k(x, y) = k(x, y)^p`."""

    name, part = "Exponentiation", "power"

    kernel: Annotated[Kernel, Part()]
    exponent: Annotated[float, EXPONENT]

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the tree of the kernel within, and p."""
        return {**super().tree(thetas), "exponent": float(self.exponent)}

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return k(x, y)^p."""
        (part,) = tree["parts"]
        return formula_of(part).gram(part, X, Y, library) ** tree["exponent"]

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return k(x, x)^p."""
        (part,) = tree["parts"]
        return formula_of(part).diagonal(part, X, library) ** tree["exponent"]

    def variance_bound(self, box: Box | None) -> float:
        """Return the bound to the power of p."""
        return float(self.kernel.variance_bound(box) ** self.exponent)

    def __repr__(self) -> str:
        return f"{self.kernel} ** {self.exponent}"


@dataclass(frozen=True, repr=False, eq=False)
class Normalized(Compound):
    r"""Correlations, :math:`\tilde k(x, y) = k(x, y)/\sqrt{k(x, x)\,k(y, y)}`, and 0 for 0/0."""

    name, part = "NormalizedKernel", "normalised part"

    kernel: Annotated[Kernel, Part()]

    def parts(self) -> dict[str, Kernel]:
        """Return none: nothing within is learned."""
        return {}

    def tree(self, thetas: Array | None = None) -> Tree:
        """Return the tree of the kernel within, the same for all θ."""
        same = None if thetas is None else np.tile(self.kernel.theta, (len(thetas), 1))
        return {"type": self.name, "parts": [self.kernel.tree(same)]}

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return k(x, y) k(x, x)^−½ k(y, y)^−½."""
        (part,) = tree["parts"]
        of_x, of_y = (_inverse_sd(part, U, library) for U in (X, Y))
        return formula_of(part).gram(part, X, Y, library) * of_x[:, :, None] * of_y[:, None, :]

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return 1 where k(x, x) > 0."""
        (part,) = tree["parts"]
        variance = formula_of(part).diagonal(part, X, library)
        return variance / library.clip(variance, SMALLEST, np.inf)

    def variance_bound(self, box: Box | None) -> float:
        """Return 1."""
        return 1.0

    def __repr__(self) -> str:
        return f"NormalizedKernel({self.kernel!r})"


def _inverse_sd(part: Tree, X: Any, library: Library) -> Any:
    """Return k(x, x)^−½, or 0 for 0."""
    variance = formula_of(part).diagonal(part, X, library)
    return variance * library.clip(variance, SMALLEST, np.inf) ** -1.5


@dataclass(frozen=True, repr=False, eq=False)
class PerColumn(Compound):
    r"""One kernel an input, :math:`k(x, y) = \prod_n k_n(x_n, y_n)`."""

    name, part = "ProductKernel", "product over inputs"

    kernels: Annotated[tuple[Kernel, ...], Part(per_input=True)]

    def parts(self) -> dict[str, Kernel]:
        """Return the kernels of all columns."""
        return {f"{n}": kernel for n, kernel in enumerate(self.kernels)}

    def with_parts(self, parts: Iterable[Kernel]) -> Self:
        """Return the product of other kernels."""
        return replace(self, kernels=tuple(parts))

    @classmethod
    def gram(cls, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return the product over columns."""
        return math.prod(
            formula_of(part).gram(part, X[:, n : n + 1], Y[:, n : n + 1], library)
            for n, part in enumerate(tree["parts"])
        )

    @classmethod
    def diagonal(cls, tree: Tree, X: Any, library: Library) -> Any:
        """Return the product over columns."""
        return math.prod(
            formula_of(part).diagonal(part, X[:, n : n + 1], library)
            for n, part in enumerate(tree["parts"])
        )

    def variance_bound(self, box: Box | None) -> float:
        """Return the product of the bounds, each over the side of the box."""
        if box is None:
            return math.prod(kernel.variance_bound(None) for kernel in self.kernels)
        sides = zip(self.kernels, *box, strict=True)
        return math.prod(kernel.variance_bound(([low], [high])) for kernel, low, high in sides)

    def log_priors(self, columns: int) -> list[tuple[float, float]]:
        """Return those of every column, a kernel on one input."""
        return super().log_priors(1)

    def learned(self, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return those of every column."""
        return [
            replace(found, column=n)
            for n, kernel in enumerate(self.kernels)
            for found in kernel.learned(f"{prefix}{n}__")
        ]

    def __repr__(self) -> str:
        return f"ProductKernel({list(self.kernels)!r})"
