"""Where the rows are, as every report shows it: private densities of single inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from dpgp.inference.warp import MIX
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


MOST_POSITIONS = 200  # a grid of atoms has 121 at most
BINS = 32  # of 512 synthetic inputs: sixteen in a bin, about


class Density(TypedDict):
    """A density of one input, constant between edges."""

    edges: Array
    heights: Array


def densities(model: FittedModel) -> list[Density] | None:
    """Return a private density of each input, constant between edges; None where none was released.

    From the density of all inputs where there is one, else from the histograms of the warp.
    """
    box = model.inputs.box
    if model.density is not None:
        points, weights = model.density.points, model.density.weights
        columns = zip(points.T, box.low, box.high, box.is_numeric, strict=True)
        return [
            _marginal(x, weights, low, high) if numeric else _level_shares(x, weights, high)
            for x, low, high, numeric in columns
        ]
    warp: Any = model.inputs.warp
    if warp is None:
        return None
    # g' = (1 - m) + m·density
    heights = np.maximum((warp.slopes() - (1 - MIX)) / MIX, 0.0)
    edges = box.centre[:, None] + box.half_width[:, None] * warp.edges
    return [
        {"edges": e, "heights": h} if numeric else _even_shares(high)
        for e, h, high, numeric in zip(edges, heights, box.high, box.is_numeric, strict=True)
    ]


def _even_shares(last: float) -> Density:
    levels = np.arange(last + 1.0)
    return _level_shares(levels, np.ones(len(levels)), last)


def _level_shares(x: Array, weights: Array, last: float) -> Density:
    """Return the weight of every level, over a stretch of length one around its number."""
    edges = np.arange(-0.5, last + 1.0)
    return {"edges": edges, "heights": np.histogram(x, edges, weights=weights)[0]}


def _marginal(x: Array, weights: Array, low: float, high: float) -> Density:
    """Spread the weight at every position evenly over the stretch nearest to it.

    Synthetic inputs have too many positions for that, and are counted in equal bins.
    """
    if len(np.unique(x)) > MOST_POSITIONS:
        mass, edges = np.histogram(x, BINS, (low, high), weights=weights)
        return {"edges": edges, "heights": mass / np.diff(edges)}
    shares, index = np.unique(np.round((x - low) / (high - low), 12), return_inverse=True)
    positions = low + shares * (high - low)
    mass = np.bincount(index.ravel(), weights=weights)
    edges = np.concatenate([[low], (positions[1:] + positions[:-1]) / 2, [high]])
    return {"edges": edges, "heights": mass / np.diff(edges)}
