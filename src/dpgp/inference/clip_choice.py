"""Where to clip residuals of a law: least sampling error, privacy noise and squared bias."""

from __future__ import annotations

import math

import numpy as np

from dpgp.inference.clipping import huber_bias
from dpgp.inference.residual_law import CLIPS, ResidualLaw

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


def guard_kappa(law: ResidualLaw, n: float, mu: float) -> float:
    """Return where the guard clips: the least of its noise 2κ/nμ and of the bias beyond κ."""
    _, even, uneven = law.biases
    cost = (2 * CLIPS / (mu * n)) ** 2 + even + uneven
    return float(CLIPS[np.argmin(np.where(CLIPS >= SMALLEST_CLIP, cost, np.inf))])
