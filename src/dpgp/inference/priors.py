"""Default kernel and weak priors of its hyperparameters, in units of the public bounds.

Inputs and targets are scaled to [−1, 1] by their public bounds; every prior is Gaussian on the
logarithm.

| parameter | median | one sd is a factor of |
|---|---|---|
| length scale, periodicity | 0.5·√D | 2.2 |
| ``constant_value``, a variance | 0.3² | 4 |
| noise standard deviation | 0.07 | 3.3 |
| anything else | its value in the given kernel | 2.7 |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import kernels as sk

Array = NDArray[np.float64]

LOG_NOISE_MEAN, LOG_NOISE_SD = math.log(0.07), 1.2


def default_kernel(columns: int) -> Any:
    """A smooth function around a line around a constant: v·RBF + 0.5² + v'·⟨x, x'⟩."""
    smooth = sk.ConstantKernel(0.09) * sk.RBF(np.full(columns, 0.5))
    line = sk.ConstantKernel(0.09) * sk.DotProduct(0.0, sigma_0_bounds="fixed")
    return smooth + sk.ConstantKernel(0.25, "fixed") + line


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


def hyper_prior(kernel: Any, columns: int) -> HyperPrior:
    """Return the weak prior of the table above, for any scikit-learn kernel and the noise."""
    means, sds = [], []
    for hyperparameter in kernel.hyperparameters:
        if hyperparameter.fixed:
            continue
        median, sd = _log_normal(hyperparameter.name.split("__")[-1], columns)
        for value in np.atleast_1d(kernel.get_params()[hyperparameter.name]):
            means.append(math.log(value) if median is None else median)
            sds.append(sd)
    return HyperPrior(np.array([*means, LOG_NOISE_MEAN]), np.array([*sds, LOG_NOISE_SD]))


def _log_normal(name: str, columns: int) -> tuple[float | None, float]:
    if name in ("length_scale", "periodicity"):
        return math.log(0.5 * math.sqrt(columns)), 0.8
    if name == "constant_value":
        return 2 * math.log(0.3), 1.4
    return None, 1.0
