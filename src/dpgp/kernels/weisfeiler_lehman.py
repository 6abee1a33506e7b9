"""Graphs by the rooted subtrees that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from operator import index
from typing import Any

from dpgp.kernels.counts import CountKernel, Counts, check_whole


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
