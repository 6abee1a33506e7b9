r"""Inner products of counts of substructures, for strings, graphs and other objects.

.. math:: k(x, x') = \sum_s c_s(x)\,c_s(x')

with :math:`c_s(x)` how often the substructure s occurs in x. They have no bounded variance, so
privacy needs them inside :class:`~dpgp.kernels.given.NormalizedKernel`.

A kernel remembers nothing of what it was called with, for it travels with a published model: there
is no table of the substructures seen, and the counts of a graph are kept on that graph alone. Sums
are of integers, so a value is exact and the same whatever else is in the call.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
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


class SpectrumKernel(CountKernel):
    r"""Strings by the substrings of one length that they share.

    .. math:: k(x, x') = \sum_{s \in \Sigma^\ell} c_s(x)\,c_s(x')

    where :math:`c_s(x)` counts the places at which x reads s, overlaps included. Strings shorter
    than :math:`\ell` have variance 0. Reference: Leslie, Eskin & Noble (2002), "The spectrum
    kernel: a string kernel for SVM protein classification".
    """

    def __init__(self, length: int = 3) -> None:
        self.length = length

    def counts(self, x: str) -> Counts:
        """Return how often each substring of the kernel's length occurs in ``x``."""
        check_whole("length", self.length, least=1)
        if not isinstance(x, str):
            raise TypeError(f"SpectrumKernel takes strings, got {type(x).__name__}.")
        return Counter(x[i : i + self.length] for i in range(len(x) - self.length + 1))


@dataclass(frozen=True)
class Graph:
    """An undirected graph: the labels of its nodes, and its edges as pairs of node numbers.

    Node i carries ``labels[i]``; any hashable labels do. An edge given twice counts once.
    """

    labels: tuple[Hashable, ...]
    edges: tuple[tuple[int, int], ...] = ()
    _histograms: dict[int, Counts] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "edges", tuple(tuple(map(index, e)) for e in self.edges))
        nodes = set(range(len(self.labels)))
        if not all(len(edge) == 2 and nodes.issuperset(edge) for edge in self.edges):
            raise ValueError("`edges` must be pairs of node numbers, counted from 0 in `labels`.")

    def neighbours(self) -> list[set[int]]:
        """Return the neighbours of every node."""
        adjacent: list[set[int]] = [set() for _ in self.labels]
        for first, second in self.edges:
            adjacent[first].add(second)
            adjacent[second].add(first)
        return adjacent

    def subtree_counts(self, iterations: int) -> Counts:
        """Return the Weisfeiler–Lehman labels of rounds 0 to ``iterations``, counted.

        Computed once and kept with the graph, for as long as the graph itself is kept.
        """
        if iterations not in self._histograms:
            self._histograms[iterations] = _weisfeiler_lehman(self, iterations)
        return self._histograms[iterations]


class WeisfeilerLehmanKernel(CountKernel):
    r"""Graphs by the rooted subtrees that they share, up to a depth.

    .. math:: k(G, G') = \sum_{i=0}^{h} \sum_{s} c_{i,s}(G)\,c_{i,s}(G')

    where :math:`c_{i,s}(G)` counts the nodes whose label is s after i rounds, and a round appends
    to every node's label the multiset of its neighbours' labels. Graphs without nodes have
    variance 0. Reference: Shervashidze et al. (2011), "Weisfeiler-Lehman graph kernels", JMLR 12.

    Labels are the subtrees themselves and not numbers from a table, so equal labels are equal
    subtrees; their size grows with the depth, for which 1 to 4 is usual.
    """

    def __init__(self, iterations: int = 2) -> None:
        self.iterations = iterations

    def counts(self, x: Graph) -> Counts:
        """Return how often each subtree of each depth occurs in ``x``."""
        check_whole("iterations", self.iterations, least=0)
        if not isinstance(x, Graph):
            raise TypeError(f"WeisfeilerLehmanKernel takes Graph objects, got {type(x).__name__}.")
        return x.subtree_counts(self.iterations)


def _weisfeiler_lehman(graph: Graph, iterations: int) -> Counts:
    adjacent, labels = graph.neighbours(), list(graph.labels)
    counts: Counter[Hashable] = Counter((0, label) for label in labels)
    for i in range(1, iterations + 1):
        labels = [
            (label, _multiset(labels[neighbour] for neighbour in adjacent[node]))
            for node, label in enumerate(labels)
        ]
        counts.update((i, label) for label in labels)
    return counts


def _multiset(elements: Any) -> frozenset[tuple[Hashable, int]]:
    return frozenset(Counter(elements).items())
