"""The private model of the inputs, as rows to average over and marginals to draw from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpgp.inference.posterior import DIGITS
from dpgp.model.marginals import densities
from dpgp.point_sets import normal_points
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.density import InputDensity
    from dpgp.model.fitted import FittedModel


ROWS = 512
"""Rows that stand for the private model of the inputs, at most."""


class Nodes(NamedTuple):
    """Values of an input and their probabilities."""

    values: Array
    shares: Array


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
    if model.density is None:
        return _histogram_quantiles(model, column, levels)
    atoms = _atoms(model.density, column)
    return np.asarray(atoms.values[_places(atoms.shares, levels)])


def _histogram_quantiles(model: FittedModel, column: int, levels: Array) -> Array:
    box, known = model.options.box, densities(model)
    if known is None:
        return np.asarray(box.low[column] + levels * 2.0 * box.half_width[column])
    edges, heights = (np.asarray(known[column][name]) for name in ("edges", "heights"))
    cdf = np.append(0.0, np.cumsum(heights * np.diff(edges)))
    return np.asarray(np.interp(levels, cdf / cdf[-1], edges))


def nodes_of(model: FittedModel, column: int, most: int) -> Nodes:
    """Return the atoms of a private marginal where they are few, else equally likely quantiles."""
    if model.density is not None:
        atoms = _atoms(model.density, column)
        if len(atoms.values) <= most:
            return atoms
    levels = (np.arange(most) + 0.5) / most
    return Nodes(quantiles(model, column, levels), np.full(most, 1.0 / most))


def _atoms(density: InputDensity, column: int) -> Nodes:
    values, index = np.unique(density.points[:, column], return_inverse=True)
    mass = np.bincount(index.ravel(), weights=density.weights)
    return Nodes(values, mass / mass.sum())


def _places(shares: Array, levels: Array) -> NDArray[np.intp]:
    """Return where levels lie among cumulative shares."""
    # rounded, levels and steps that are equal meet exactly on every processor
    steps = np.round(np.cumsum(shares), DIGITS)
    return np.minimum(np.searchsorted(steps, np.round(levels, DIGITS)), len(shares) - 1)
