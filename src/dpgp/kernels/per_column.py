"""A product of one-dimensional kernels, one for each input."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import CompoundKernel

from dpgp.arithmetic import Library
from dpgp.checked_values import ModelFileError, as_fields, as_items
from dpgp.kernels.base import Box, KernelRule, Tree
from dpgp.kernels.bounds import envelope, inverse_scales, is_gaussian_mixture, variance_bound
from dpgp.kernels.envelopes import BoxCells, Envelope
from dpgp.kernels.files import kernel_to_json, kernel_within
from dpgp.kernels.formula import diagonal, gram, specify
from dpgp.kernels.parameters import Learned
from dpgp.kernels.registry import rule_of

Array = NDArray[np.float64]


class ProductKernel(CompoundKernel):  # type: ignore[misc]
    r"""A product of one-dimensional kernels, one per column.

    .. math:: k(x, x') = \prod_n k_n(x_n, x'_n)

    On a grid of inducing points it costs :math:`\sum_n m_n` kernel values a row, not
    :math:`\prod_n m_n`.
    """

    @property
    def theta(self) -> Array:
        """The hyperparameters of all columns, first to last."""
        return np.hstack([kernel.theta for kernel in self.kernels])

    @theta.setter
    def theta(self, theta: Array) -> None:  # scikit-learn's asks for columns of equal length
        for kernel, part in zip(self.kernels, _split(theta, self.kernels), strict=True):
            kernel.theta = part

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of covariances between the rows of ``X`` and those of ``Y``."""
        pairs = zip(self.kernels, _columns(X), _columns(X if Y is None else Y), strict=True)
        if Y is None:
            return np.asarray(np.prod([kernel(x) for kernel, x, _ in pairs], axis=0))
        return np.asarray(np.prod([kernel(x, y) for kernel, x, y in pairs], axis=0))

    def diag(self, X: Any) -> Array:
        """Return the variances at the rows of ``X``."""
        pairs = zip(self.kernels, _columns(X), strict=True)
        return np.asarray(np.prod([kernel.diag(x) for kernel, x in pairs], axis=0))


class ProductKernelRule(KernelRule):
    r"""One kernel an input, :math:`k(x, y) = \prod_n k_n(x_n, y_n)`."""

    name = "ProductKernel"
    part = "product over inputs"
    javascript = """{
    gram: (tree, Z) => {
      const parts = tree.parts.map((part, n) => gram(part, Z.map((z) => [z[n]])));
      return (x) => parts.map((k, n) => k(x.subarray(n, n + 1))).reduce(multiplied);
    },
    diagonal: (tree) => {
      const parts = tree.parts.map(diagonal);
      return (x) => parts.map((k, n) => k(x.subarray(n, n + 1))).reduce(multiplied);
    },
  }"""

    def specify(self, kernel: Any, thetas: Array) -> Tree:
        """Return the trees of all columns."""
        pairs = zip(kernel.kernels, _split(thetas, kernel.kernels), strict=True)
        parts = [specify(k, part) for k, part in pairs]
        return {"type": self.name, "parts": parts}

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return the product over columns."""
        pairs = zip(tree["parts"], _slices(X, tree), _slices(Y, tree), strict=True)
        return math.prod(gram(part, x, y, library) for part, x, y in pairs)

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return the product over columns."""
        pairs = zip(tree["parts"], _slices(X, tree), strict=True)
        return math.prod(diagonal(part, x, library) for part, x in pairs)

    def as_sklearn(self, kernel: Any) -> Any:
        """Return the same of scikit-learn's kernels."""
        return ProductKernel([rule_of(k).as_sklearn(k) for k in kernel.kernels])

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return the product of the bounds, each over the side of the box."""
        boxes = [None] * len(kernel.kernels) if box is None else _sides(box)
        return math.prod(variance_bound(k, b) for k, b in zip(kernel.kernels, boxes, strict=True))

    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return those of every column, a kernel on one input."""
        return [prior for k in kernel.kernels for prior in rule_of(k).log_priors(k, 1)]

    def learned(self, kernel: Any, prefix: str = "", scaled: str | None = None) -> list[Learned]:
        """Return those of every column."""
        return [
            Learned(found.name, found.words, found.measure, n)
            for n, k in enumerate(kernel.kernels)
            for found in rule_of(k).learned(k, f"{prefix}{n}__")
        ]

    def to_json(self, kernel: Any) -> Tree:
        """Return the kernels of all columns."""
        return {"kernels": [kernel_to_json(inner) for inner in kernel.kernels]}

    def from_json(self, value: Any, where: str, columns: int, depth: int) -> Any:
        """Return the product of one kernel a column."""
        kernels = as_items(as_fields(value, where, ("type", "kernels"))["kernels"], where)
        if len(kernels) != columns:
            raise ModelFileError(f"`{where}` must have one kernel for each of {columns} inputs.")
        return ProductKernel([kernel_within(inner, where, 1, depth - 1) for inner in kernels])

    def factors(self, kernel: Any, columns: int) -> list[Any] | None:
        """Return the kernels of the columns."""
        return list(kernel.kernels) if len(kernel.kernels) == columns else None

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return the product of the columns' envelopes."""
        columns = cells.points.shape[1]
        return reduce(
            lambda first, second: first * second,
            (envelope(k, cells.column(n)).along(n, columns) for n, k in enumerate(kernel.kernels)),
        )

    def is_gaussian_mixture(self, kernel: Any) -> bool:
        """Return whether all are."""
        return all(is_gaussian_mixture(factor) for factor in kernel.kernels)

    def inverse_scales(self, kernel: Any, columns: int) -> Array:
        """Return those of each column, 0 along the others."""
        pairs = zip(kernel.kernels, np.eye(columns), strict=True)
        return np.vstack([inverse_scales(k, 1) * column for k, column in pairs])


def _columns(X: Any) -> list[Array]:
    return [column[:, None] for column in np.atleast_2d(np.asarray(X, dtype=np.float64)).T]


def _split(thetas: Array, kernels: Sequence[Any]) -> list[Array]:
    ends = np.cumsum([kernel.n_dims for kernel in kernels])[:-1]
    return np.split(thetas, ends, axis=-1)


def _slices(X: Any, tree: Tree) -> Iterator[Any]:
    return (X[:, n : n + 1] for n in range(len(tree["parts"])))


def _sides(box: Box) -> list[Box | None]:
    return [([low], [high]) for low, high in zip(*box, strict=True)]


RULE = ProductKernelRule()
