"""The periodic kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpgp.arithmetic import SMALLEST_SQUARE, Library
from dpgp.kernels.base import Box, Tree
from dpgp.kernels.envelopes import BoxCells, Envelope
from dpgp.kernels.leaf import Leaf
from dpgp.kernels.parameters import LOG_LENGTH_SD, Measure, Parameter, half_ranges


class ExpSineSquaredRule(Leaf):
    r"""Functions that repeat, :math:`k(x, y) = \exp(-2 \sin^2(\pi\|x - y\|/p)/\ell^2)`.

    A covariance of one input alone: with two, distances have no circle to go round on. Reference:
    MacKay (1998), "Introduction to Gaussian processes", section 5.2.
    """

    name = "ExpSineSquared"
    part = "periodic part"
    parameters = (
        Parameter("length_scale", "smoothness", Measure.NUMBER, half_ranges, LOG_LENGTH_SD),
        Parameter("periodicity", "period", Measure.LENGTH, half_ranges, LOG_LENGTH_SD),
    )
    javascript = """{
    gram: (tree, Z) => {
      const buffer = new Float64Array(draws(tree) * Z.length);
      return (x) => {
        const distances = Z.map((z) => Math.hypot(...z.map((value, d) => x[d] - value)));
        tree.periodicity.forEach(([p], t) => distances.forEach((r, j) => {
          const sine = Math.sin(Math.PI * r / p) / tree.length_scale[t][0];
          buffer[t * Z.length + j] = Math.exp(-2 * sine * sine);
        }));
        return buffer;
      };
    },
    diagonal: (tree) => rowsFrom(tree.periodicity.map(() => [1]), 1),
  }"""

    def gram(self, tree: Tree, X: Any, Y: Any, library: Library) -> Any:
        """Return exp(−2 (sin(πr/p)/ℓ)²), r = ‖x − y‖."""
        squares = library.einsum("nmd->nm", (X[:, None, :] - Y[None, :, :]) ** 2)
        r = library.sqrt(squares + SMALLEST_SQUARE)
        turns = r[None, :, :] * (math.pi / tree["periodicity"])[:, :, None]
        return library.exp(-2.0 * (library.sin(turns) / tree["length_scale"][:, :, None]) ** 2)

    def diagonal(self, tree: Tree, X: Any, library: Library) -> Any:
        """Return 1."""
        return 1.0 + 0.0 * tree["periodicity"]

    def variance_bound(self, kernel: Any, box: Box | None) -> float:
        """Return 1."""
        return 1.0

    def log_priors(self, kernel: Any, columns: int) -> list[tuple[float, float]]:
        """Return the parameters' priors; refuse several inputs, on which it is no covariance."""
        if columns > 1:
            raise ValueError(
                "`kernel`: ExpSineSquared is a covariance of one input alone; with several, give "
                "dpgp.ProductKernel one kernel for each input."
            )
        return super().log_priors(kernel, columns)

    def envelope(self, kernel: Any, cells: BoxCells) -> Envelope:
        """Return the range of sin²(πt): 0 at every integer t, 1 half-way between."""
        turns = [
            np.linalg.norm(d, axis=-1) / kernel.periodicity for d in (cells.nearest, cells.farthest)
        ]
        ends = np.sin(np.pi * np.stack(turns)) ** 2
        bottom = np.where(np.ceil(turns[0]) <= turns[1], 0.0, ends.min(axis=0))
        top = np.where(np.ceil(turns[0] - 0.5) <= turns[1] - 0.5, 1.0, ends.max(axis=0))
        low, high = (np.exp(-2.0 * s / kernel.length_scale**2) for s in (top, bottom))
        return Envelope.flat(low, high, cells.points.shape[1])


RULE = ExpSineSquaredRule()
