"""Where to clip residuals of a law: least sampling error, privacy noise and squared bias."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpgp.inference.clipping import huber_bias
from dpgp.inference.residual_law import CLIPS, ResidualLaw
from dpgp.types import Array

DIRECTIONS = {1: 8.0, 2: 15.0}
"""How many directions of the weights a fit learns, about, by the number of inputs; by hand."""

EVEN_WEIGHT = 0.25
"""Of the squared bias that is the same at every x: the guard of the mean takes most of it away."""

UNEVEN_WEIGHT = 0.5
"""Of the squared bias of a skewness that changes with x, which noise of any law may be suspected
of. By hand: Gaussian residuals shall not pay for it."""

SMALLEST_CLIP = 1.0
"""In sds: signal over noise, g/R, is 0.68 here and nowhere above √(2/π) = 0.80."""


def best_kappa(law: ResidualLaw, n: float, mu: float, directions: float) -> float:
    r"""Return where to clip, in residual sds.

    Minimises :math:`\frac dn\frac{m_2}{g^2} + (\frac{2d\kappa}{g\mu n})^2 + w_bb^2 + w_uu^2`, in
    residual variances, where d directions are learned. As far as nothing is known of the law, b is
    that of exponential noise, as in the plan.
    """
    if math.isinf(mu):
        return math.inf
    g, m2 = law.moments[:2]
    privacy = (2 * directions * CLIPS / (g * mu * n)) ** 2
    sampling = directions / n * m2 / g**2
    _, even, uneven = law.biases
    measured = EVEN_WEIGHT * even + UNEVEN_WEIGHT * uneven
    usual = EVEN_WEIGHT * np.array([huber_bias(a) for a in CLIPS]) ** 2
    bias = law.clarity * measured + (1.0 - law.clarity) * usual
    cost = np.where(CLIPS >= SMALLEST_CLIP, sampling + privacy + bias, np.inf)
    return float(CLIPS[np.argmin(cost)])


ROUNDING = 1e-9
"""Of an end that is kept as middle and half-width: it is where residuals end none the less."""


class ClipInterval(NamedTuple):
    """Where residuals are clipped to, from −below to above."""

    below: float
    above: float

    @property
    def half_width(self) -> float:
        """Half of its length, by which noise grows."""
        return (self.above + self.below) / 2

    @property
    def middle(self) -> float:
        """Its middle."""
        return (self.above - self.below) / 2


def guard_interval(
    law: ResidualLaw, sd: float, n: float, mu: float, widest: ClipInterval
) -> ClipInterval:
    r"""Return where a guard clips: the least of its noise and of what lies beyond.

    Minimises :math:`(2h/n\mu)^2 + E[B^2] + E[A^2]` for the half-width h and what may lie below and
    above, so that a tail on one side moves the middle. Nothing lies beyond the ``widest``.
    """
    down, up = (np.clip(CLIPS * sd, min(SMALLEST_CLIP * sd, most), most) for most in widest)
    noise = (down[:, None] + up) / (n * mu)
    beyond = _squares(law, sd, 0, down, widest)[:, None] + _squares(law, sd, 1, up, widest)
    below, above = np.unravel_index(np.argmin(noise**2 + beyond), noise.shape)
    return ClipInterval(float(down[below]), float(up[above]))


def beyond_interval(
    law: ResidualLaw, sd: float, interval: ClipInterval, widest: ClipInterval
) -> float:
    """Return the root mean square of what an interval cuts off the mean of residuals."""
    squares = (_squares(law, sd, k, np.array(end), widest) for k, end in enumerate(interval))
    return math.sqrt(float(sum(squares)))


def _squares(law: ResidualLaw, sd: float, side: int, ends: Array, widest: ClipInterval) -> Array:
    """Mean squares of what lies beyond ends on one side: nothing where residuals end."""
    squares = sd**2 * np.interp(ends / sd, CLIPS, law.doubted_beyond[side])
    return np.where(ends >= widest[side] * (1.0 - ROUNDING), 0.0, squares)
