r"""Inner products of counts of substructures, for strings, graphs and other objects.

.. math:: k(x, x') = \sum_s c_s(x)\,c_s(x')

with :math:`c_s(x)` how often the substructure s occurs in x. They have no bounded variance, so
privacy needs them inside :class:`~dpgp.kernels.normalized.NormalizedKernel`.

A kernel remembers nothing of what it was called with, for it travels with a published model: there
is no table of the substructures seen, and the counts of a graph are kept on that graph alone. Sums
are of integers, so a value is exact and the same whatever else is in the call.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import GenericKernelMixin, Kernel

from dpgp.types import Array

Counts = Mapping[Hashable, int]


class CountKernel(GenericKernelMixin, Kernel):  # type: ignore[misc]
    r"""The inner product of counts, :math:`k(x, x') = \sum_s c_s(x)\,c_s(x')`.

    A subclass says what is counted.
    """

    def __init__(self) -> None:  # scikit-learn reads a kernel's parameters from its signature
        pass

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({arguments})"

    @abstractmethod
    def counts(self, x: Any) -> Counts:
        """Return how often each substructure occurs in ``x``."""

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Array:
        """Return the matrix of inner products between the elements of ``X`` and those of ``Y``."""
        rows = [self.counts(x) for x in X]
        columns = rows if Y is None else [self.counts(y) for y in Y]
        values = [[_inner_product(a, b) for b in columns] for a in rows]
        return np.array(values, dtype=np.float64).reshape(len(rows), len(columns))

    def diag(self, X: Sequence[Any]) -> Array:
        """Return the squared norms of the counts of the elements of ``X``."""
        return np.array([_squared_norm(self.counts(x)) for x in X], dtype=np.float64)

    def is_stationary(self) -> bool:
        """Return False: there are no distances between strings or graphs to depend on."""
        return False


def _inner_product(first: Counts, second: Counts) -> int:
    return sum(count * second.get(s, 0) for s, count in first.items())


def _squared_norm(counts: Counts) -> int:
    return sum(count * count for count in counts.values())


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"`{name}` must be a whole number of at least {least}, got {value!r}.")
