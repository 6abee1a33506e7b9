r"""The average of f as the first stages saw it, with hardly a residual clipped.

Stages that clip hard draw the mean to where most values are. Where the law of the residuals is no
bell, what was believed of :math:`m = a^\top w`, a the average features of the rows, before the
hard clips is one more measurement of the guarded weights, with the variance

.. math:: d = (a^\top V_0a + \beta_0^2)/s^2

for the bias :math:`\beta_0` of the early clip and the suspicion s against a bell. Early and late
stages saw the same rows: their errors share the sampling variance :math:`\sigma^2/n` of an average.
docs/method.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpgp.inference.gram_estimate import GramEstimate
from dpgp.inference.guard import CONSTANT_SHARE, BiasPrior
from dpgp.inference.moments import Moments
from dpgp.inference.pull_back import positive_part
from dpgp.types import Array


@dataclass(frozen=True)
class EarlyMean:
    """Beliefs before the law of the residuals was known, where the last stage clipped, and n."""

    moments: Moments
    clip: float
    n: float

    def correct(
        self, guarded: Moments, gram: GramEstimate, L: Array, bias: BiasPrior, suspicion: float
    ) -> Moments:
        """Condition the guarded weights on the early average; ``bias`` is that of its clip."""
        if suspicion == 0.0:
            return guarded
        # φ_s has √share as its constant, so that BL e₀ ≈ √share Σφ
        a = gram.B @ L[:, 0]
        a = a * (math.sqrt(CONSTANT_SHARE) / float(L[:, 0] @ a))
        early, late = float(a @ self.moments.V @ a), float(a @ guarded.V @ a)
        shared = min(guarded.noise**2 / self.n, early, late)
        doubt = (early + bias.size**2) / suspicion**2
        # Cov(w, m₀ − aᵀŵ) = Va(1 − shared/aᵀVa),  Var(m₀ − aᵀŵ) = aᵀVa + d − 2·shared
        c = guarded.V @ a * (1.0 - shared / late)
        gain = c / (late + doubt - 2.0 * shared)
        w = guarded.w + gain * (a @ (self.moments.w - guarded.w))
        return Moments(w, positive_part(guarded.V - np.outer(gain, c)), guarded.noise)
