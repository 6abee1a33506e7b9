"""The private model of the inputs: densities, marginals, and rows that stand for it.

A density of all inputs where one was released, else histograms of single inputs, else the box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpgp.inference.posterior import DIGITS
from dpgp.inference.warp import MIX
from dpgp.point_sets import low_discrepancy_points, normal_points
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.model.fitted import FittedModel


ROWS = 512
"""Rows that stand for the private model of the inputs, at most."""

MOST_POSITIONS = 200  # a grid of atoms has 121 at most
BINS = 32  # of 512 synthetic inputs: sixteen in a bin, about


@dataclass(frozen=True)
class InputDensity:
    """About how many rows lie near each point of the box."""

    points: Array
    weights: Array

    def atoms(self, column: int) -> Nodes:
        """Return the values of one input and how likely each of them is."""
        values, index = np.unique(self.points[:, column], return_inverse=True)
        mass = np.bincount(index.ravel(), weights=self.weights)
        return Nodes(values, mass / mass.sum())


class Nodes(NamedTuple):
    """Values of an input and their probabilities."""

    values: Array
    shares: Array


class Density(NamedTuple):
    """A density of one input, constant between edges."""

    edges: Array
    heights: Array

    def quantiles(self, levels: Array | float) -> Array:
        """Return the values that these shares of the rows lie below."""
        cdf = np.append(0.0, np.cumsum(self.heights * np.diff(self.edges)))
        return np.asarray(np.interp(levels, cdf / cdf[-1], self.edges))


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
    levels = [np.arange(high + 1.0) for high in box.high]
    return [
        Density(e, h) if numeric else _level_shares(all_of, np.ones(len(all_of)), all_of[-1])
        for e, h, all_of, numeric in zip(edges, heights, levels, box.is_numeric, strict=True)
    ]


def _level_shares(x: Array, weights: Array, last: float) -> Density:
    """Return the weight of every level, over a stretch of length one around its number."""
    edges = np.arange(-0.5, last + 1.0)
    return Density(edges, np.histogram(x, edges, weights=weights)[0])


def _marginal(x: Array, weights: Array, low: float, high: float) -> Density:
    """Spread the weight at every position evenly over the stretch nearest to it.

    Synthetic inputs have too many positions for that, and are counted in equal bins.
    """
    if len(np.unique(x)) > MOST_POSITIONS:
        mass, edges = np.histogram(x, BINS, (low, high), weights=weights)
        return Density(edges, mass / np.diff(edges))
    shares, index = np.unique(np.round((x - low) / (high - low), 12), return_inverse=True)
    positions = low + shares * (high - low)
    mass = np.bincount(index.ravel(), weights=weights)
    edges = np.concatenate([[low], (positions[1:] + positions[:-1]) / 2, [high]])
    return Density(edges, mass / np.diff(edges))


def typical_inputs(model: FittedModel) -> Array:
    """Return the private median of each input, of a category the level that is most frequent.

    Where there is no density these are the centre of the box, and first levels.
    """
    box, known = model.inputs.box, densities(model)
    if known is None:
        return np.where(box.is_numeric, box.centre, 0.0)
    return np.array(
        [
            float(density.quantiles(0.5) if numeric else np.argmax(density.heights))
            for density, numeric in zip(known, box.is_numeric, strict=True)
        ]
    )


def even_rows(box: Box, count: int) -> Array:
    """Return rows that fill the box evenly."""
    return box.with_whole_levels(low_discrepancy_points(box.low, box.high, count))


def representative_rows(model: FittedModel, count: int = ROWS) -> Array:
    """Return at most ``count`` equally likely rows of the private model of the inputs.

    Rows of its density by systematic resampling. Where only histograms of single inputs were
    released, inputs are independent; where nothing was, they are uniform over the box.
    """
    density = model.density
    if density is None:
        return independent_rows(model, count)
    shares = density.weights / density.weights.sum()
    count = min(count, len(shares))
    return np.asarray(density.points[_places(shares, (np.arange(count) + 0.5) / count)])


def weighted_rows(model: FittedModel) -> tuple[Array, Array]:
    """Return places of the private model of the inputs, and the share of the rows at each."""
    if model.density is None:
        rows = representative_rows(model)
        return rows, np.full(len(rows), 1.0 / len(rows))
    return model.density.points, model.density.weights / model.density.weights.sum()


def sample_size(model: FittedModel) -> float:
    """Return how many draws know the private model of the inputs: synthetic rows, or the rows."""
    if model.options.learns_metric and model.density is not None:
        return float(len(model.density.points))
    return max(float(model.stages[0][0].n), 1.0)


def independent_rows(model: FittedModel, count: int) -> Array:
    """Return draws of independent inputs from their private marginals, as even as a lattice."""
    levels = ndtr(normal_points(model.options.columns, count))
    return np.column_stack([quantiles(model, n, u) for n, u in enumerate(levels.T)])


def quantiles(model: FittedModel, column: int, levels: Array) -> Array:
    """Return quantiles of the private marginal of an input; an atom is returned as it is."""
    if model.density is not None:
        atoms = model.density.atoms(column)
        return np.asarray(atoms.values[_places(atoms.shares, levels)])
    box, known = model.options.box, densities(model)
    if known is None:
        return np.asarray(box.low[column] + levels * 2.0 * box.half_width[column])
    return known[column].quantiles(levels)


def nodes_of(model: FittedModel, column: int, most: int) -> Nodes:
    """Return the atoms of a private marginal where they are few, else equally likely quantiles."""
    if model.density is not None:
        atoms = model.density.atoms(column)
        if len(atoms.values) <= most:
            return atoms
    levels = (np.arange(most) + 0.5) / most
    return Nodes(quantiles(model, column, levels), np.full(most, 1.0 / most))


def _places(shares: Array, levels: Array) -> NDArray[np.intp]:
    """Return where levels lie among cumulative shares."""
    # rounded, levels and steps that are equal meet exactly on every processor
    steps = np.round(np.cumsum(shares), DIGITS)
    return np.minimum(np.searchsorted(steps, np.round(levels, DIGITS)), len(shares) - 1)
