r"""Fits of a target that is yes or no: t is 1 or −1, its law is known, and nothing is clipped.

With :math:`f(x) = 2P(\text{yes} \mid x) - 1` the noise is :math:`E[(t - f)^2] = 1 - f(x)^2`, and no
residual from :math:`f_0` is beyond :math:`1 + \max|f_0|`. docs/how-to/yes-no.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpgp.inference.priors import HyperPrior
from dpgp.inference.stage import LARGEST_RESIDUAL
from dpgp.inference.stages import Model, TargetFit

Array = NDArray[np.float64]

LOG_NOISE_MEAN, LOG_NOISE_SD = math.log(0.8), 0.2
"""Of the root mean square of the noise: 0.8 is that of a prevalence of one in five, and two
standard deviations reach from one in fourteen to one half."""


@dataclass(frozen=True)
class YesNoModel(Model):
    """The same choices, and a noise that is nearly known."""

    @cached_property
    def prior(self) -> HyperPrior:
        """The prior of the hyperparameters."""
        prior = super().prior
        mean, sd = prior.mean.copy(), prior.sd.copy()
        mean[-1], sd[-1] = LOG_NOISE_MEAN, LOG_NOISE_SD
        return replace(prior, mean=mean, sd=sd)


class YesNoFit(TargetFit):
    """The fit of a target that is yes or no."""

    model_kind = YesNoModel

    @property
    def clip(self) -> float:
        """The largest residual that the next stage can see."""
        if self.state is None:
            return 1.0
        values = self._public_features @ self.weights
        return min(LARGEST_RESIDUAL, 1.0 + float(np.abs(values).max()))

    @property
    def _public_features(self) -> Array:
        """Features of public positions that fill the box, one a row."""
        model = self.models[0]
        atoms = model.atoms
        return model.features.evaluate(model.features.anchors).T if atoms is None else atoms
