r"""Private gradient boosting of random trees.

The splits of a tree are drawn without a look at the rows, so that only its leaves cost budget: this
is what spends least among the ways to grow private trees (Maddock et al. 2022, "Federated boosted
decision trees with differential privacy"). Every tree releases, leaf by leaf, the count of its rows
and the sum of their clipped residuals; all releases are Gaussian and their :math:`\mu^2` add up.
Columns are standardised before.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgp.privacy.calibration import gaussian_sigma
from dpgp.types import Array
from dpgp_experiments.baselines.interface import Prediction, Problem
from dpgp_experiments.baselines.standardise import standardised

# found on simulated data, the same for every task
TREES = 300
DEPTH = 3
STEP = 1 / 15  # part of a leaf's value that is added
CLIP = 1.5  # of residuals, in standard deviations of the target
SPREAD = 0.8  # of cuts, in standard deviations of an input
PRIOR_VARIANCE, NOISE_VARIANCE = 0.1, 0.3  # of a leaf's value and of its rows, in units of CLIP

LEAF_SENSITIVITY = 2.0
r"""Largest change of (counts, sums of r/CLIP) of all leaves when one row is replaced.

A row adds :math:`(1, \rho)` to one leaf, :math:`|\rho| \le 1`. If both rows are in one leaf the
change is :math:`|\rho - \rho'| \le 2`; if not, :math:`\sqrt{2 + \rho^2 + \rho'^2} \le 2`. So counts
come free.
"""


class Tree(NamedTuple):
    """A split for every level, the same for all nodes of the level."""

    columns: NDArray[np.int64]
    cuts: Array

    @classmethod
    def draw(cls, inputs: int, rng: np.random.Generator) -> Tree:
        """Draw columns and cuts."""
        return cls(rng.integers(inputs, size=DEPTH), SPREAD * rng.standard_normal(DEPTH))

    def leaves(self, Z: Array) -> NDArray[np.int64]:
        """Return the number of every row's leaf."""
        return np.asarray((Z[:, self.columns] > self.cuts) @ (2 ** np.arange(DEPTH)))


def fit_predict(problem: Problem, X_test: Array, rng: np.random.Generator) -> Prediction:
    """Predict by a sum of random trees with private leaves; no distribution."""
    data = standardised(problem, X_test, rng)
    noise = gaussian_sigma(LEAF_SENSITIVITY, data.left / sqrt(TREES))
    fitted, output = np.zeros(len(data.X)), np.zeros(len(X_test))
    for _ in range(TREES):
        tree = Tree.draw(data.X.shape[1], rng)
        leaves = tree.leaves(data.X)
        sums = leaf_sums(leaves, (data.y - fitted) / CLIP)
        counts, totals = sums + noise * rng.standard_normal(sums.shape)
        values = STEP * CLIP * leaf_values(counts, totals, noise)
        fitted += values[leaves]
        output += values[tree.leaves(data.X_test)]
    return data.prediction(problem, output)


def leaf_sums(leaves: NDArray[np.int64], residuals: Array) -> Array:
    """Return the count of rows and the sum of residuals, cut to [−1, 1], of every leaf."""
    counts = np.bincount(leaves, minlength=2**DEPTH)
    return np.array([counts, np.bincount(leaves, np.clip(residuals, -1.0, 1.0), 2**DEPTH)])


def leaf_values(counts: Array, totals: Array, noise: float) -> Array:
    r"""Return posterior means of the leaves' values :math:`\theta`.

    :math:`\theta \sim N(0, v)` and a total of :math:`N(c\theta, cs^2 + \sigma^2)` give
    :math:`vct/(vc^2 + cs^2 + \sigma^2)`; a count below zero is none.
    """
    c, v = np.maximum(counts, 0.0), PRIOR_VARIANCE
    # an empty leaf without noise has the prior's mean
    return np.asarray(v * c * totals / np.maximum(v * c**2 + NOISE_VARIANCE * c + noise**2, 1e-12))
