r"""How large residuals are by stage and guard, as one more count of the law of scaled residuals.

A stage released :math:`\sum\mathrm{clip}(y - f_0(x), R)^2`. Where an observation is
:math:`y = m(x) + ts(x)` with t of one law, its mean over n rows is a functional of that law,

.. math:: E\,h(t), \qquad h(t) = E_x\,\mathrm{clip}(ts(x) + m(x) - f_0(x), R)^2,

linear in it as the count of a bin is. The last stage clips near one sd and tells how wide the core
is, the guard of the mean clips far out and tells how much lies in the tails, where a bin has more
noise than rows. docs/method.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpgp.inference.frame import InputModel
from dpgp.inference.noisy_law import Measured
from dpgp.inference.predictive import Predictive
from dpgp.inference.residual_families import GRID
from dpgp.inference.stage import StageRelease
from dpgp.types import Array

PLACES = 512
"""Places that stand for all: m and s at each take time."""

MOVE_DOUBT = 0.2
"""Relative error of E(m − f₀)² over the places; by hand, as in moving a record."""

SIZE_DOUBT = 0.03
"""Relative error of a mean square by what s(x) and places leave out. By hand."""

_MIDDLES = (GRID[1:] + GRID[:-1]) / 2


class ClippedSquare(NamedTuple):
    """Squares of clipped residuals as they were released, and f₀ at the places of the inputs."""

    release: StageRelease
    centre: Array

    def of_law(self, inputs: InputModel, law: Predictive) -> Measured:
        """Return what it says of the law of t, given m and s of the predictive at places."""
        places = inputs.thinned(PLACES)
        mean, std = law.at(places.places)
        weights, clip = places.weights / places.weights.sum(), self.release.clip
        moved = np.clip(mean, -1.0, 1.0) - self.centre[: len(mean)]
        residuals = _MIDDLES[:, None] * std + moved - self.release.middle
        n, found = self.release.n, self.release.c / self.release.n
        doubts = (MOVE_DOUBT * float(weights @ moved**2), SIZE_DOUBT * found)
        error = math.hypot(self.release.sigma_c / n, *doubts)
        return Measured(np.clip(residuals, -clip, clip) ** 2 @ weights, found, error, n)
