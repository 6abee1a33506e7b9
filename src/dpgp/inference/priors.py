"""Default kernel, and the prior of hyperparameters and noise, in units of the public bounds.

Priors of kernels' parameters are theirs, :mod:`dpgp.kernels.parameters`, and that of the noise is
the outcome's, :mod:`dpgp.outcomes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgp.kernels.known import as_kernel
from dpgp.kernels.linear import constant, straight
from dpgp.kernels.parameters import MEDIAN_DEVIATION, MEDIAN_LENGTH
from dpgp.kernels.stationary import RBF
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.types import Array

LEVEL_SD = 0.5
"""Sd of the constant, in half-widths: within bounds at two of them. Not learned, from one value."""


def default_kernel(columns: int) -> Any:
    """A smooth function around a line around a constant: v·RBF + 0.5² + v'·⟨x, x'⟩."""
    smooth = constant(MEDIAN_DEVIATION**2) * RBF(np.full(columns, MEDIAN_LENGTH))
    line = constant(MEDIAN_DEVIATION**2) * straight()
    return smooth + constant(LEVEL_SD**2, fixed=True) + line


@dataclass(frozen=True)
class HyperPrior:
    """Independent Gaussians on θ = (kernel.theta, log σ)."""

    mean: Array
    sd: Array

    def log_density(self, thetas: Array) -> Array:
        """Return the log density of every row of ``thetas``."""
        z = (thetas - self.mean) / self.sd
        normaliser = 0.5 * len(self.sd) * math.log(2 * math.pi) + np.sum(np.log(self.sd))
        return np.asarray(-0.5 * np.sum(z * z, axis=1) - normaliser)


def hyper_prior(kernel: Any, columns: int, outcome: OutcomeKind = NUMBER) -> HyperPrior:
    """Return the weak prior of a kernel's hyperparameters and of the noise."""
    priors = [*as_kernel(kernel).log_priors(columns), outcome.log_noise]
    means, sds = zip(*priors, strict=True)
    return HyperPrior(np.array(means), np.array(sds))
