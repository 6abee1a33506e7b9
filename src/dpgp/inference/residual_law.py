r"""What clipping does to residuals of a law, as tables over the clip :math:`a = R/\tau`.

For residuals :math:`r = \tau z` of sd τ, clipping at R keeps the slope :math:`g = P(|z| < a)` of
the signal. The location that it estimates is off the mean by :math:`\tau b(a)`,

.. math:: b = \frac{E(z - a)_+ - E(-z - a)_+}{g}, \quad u = \frac{E(z - a)_+ + E(-z - a)_+}{g}

if the law is the same at every x, and by up to :math:`\tau u(a)` if skewness changes with x. The
law is Gaussian until a histogram has told it. docs/method.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpgp.arithmetic import TINY
from dpgp.inference import clipping
from dpgp.inference.noisy_law import LawBelief, few_at_once
from dpgp.inference.residual_families import GRID, Kind, both_sides, kinds
from dpgp.types import Array

LAW_EDGES = both_sides(np.array([0, 0.4, 0.8, 1.2, 1.7, 2.4, 3.4, 4.6, 6.0, 9.0, 14.0, np.inf]))
"""Edges of the histogram, in present sds of the residuals: far ones for far atoms and tails."""

SMALLEST_SHARE, LARGEST_SHARE = 0.01, 0.03  # of μ²; by hand, as the error that is paid for
BIN_ERROR = 0.015
"""Noise of a bin, as a share of all rows, that is paid for within these shares of μ². By hand:
what a wrong clip costs against noise in the stages."""

CLIPS = np.concatenate([np.linspace(0.0, 6.0, 121), np.geomspace(6.4, 60.0, 24)])
"""Clips of the tables, in sds: steps of a twentieth up to 6, then of a tenth of themselves."""

BIAS_SIZE = 2.0
"""Prior sd of the bias where no law is known, in units of that of exponential noise. By hand."""

FAR_DOUBT = 2.0
"""Sd that a law which is no bell may have, in units of that which its counts tell: noise hides the
few far values that cause most of a bias. By hand."""

TAIL_FROM = 2.0
"""Sds beyond which values say on which side the tail is: there counts still tell. By hand."""

BLUR = 0.05
"""Least share of a Gaussian of the same sd in a measured law: f − f₀ blurs gaps and peaks, and
where counts do not tell a bell from others all of it is Gaussian. By hand."""

LEAST_SLOPE = 0.02
"""Slope below which nothing is learned from a clip; by hand: it is divided by."""

_MIDDLES = (GRID[1:] + GRID[:-1]) / 2


@dataclass(frozen=True)
class ResidualLaw:
    """A law of unit sd, by tables over ``CLIPS``.

    ``moments`` has the rows g, m₂, m₄ and E[z²; |z| < a], ``doubts`` the sd of what is believed of
    m₂, ``biases`` the rows E[b], E[b²] and E[u²], ``beyond`` the mean squares of E(−z − a)₊ and
    E(z − a)₊, what lies beyond a clip below and above. ``log_sd`` is what was found of the
    logarithm of the sd in the histogram's unit, ``log_sd_error`` how well, and ``odds`` the
    probability that the law is no bell, a half before it is measured. No value is beyond the
    ``largest``, and ``tail_odds`` is the probability of a tail, which two values have not.
    """

    moments: Array
    doubts: Array
    biases: Array
    beyond: Array
    log_sd: float = 0.0
    log_sd_error: float = math.inf
    odds: float = 0.5
    largest: float = math.inf
    tail_odds: float = 0.5

    @property
    def clarity(self) -> float:
        """How much the histogram said for or against a bell: 0 nothing, 1 all."""
        return abs(2.0 * self.odds - 1.0)

    @property
    def suspicion(self) -> float:
        """How much it said against a bell."""
        return max(2.0 * self.odds - 1.0, 0.0)

    def slope(self, R: Any, tau: Any) -> Any:
        """Share g of the signal that survives."""
        return np.interp(R / tau, CLIPS, self.moments[0])

    def second_moment(self, R: Any, tau: Any) -> Any:
        """m₂ = E[clip(r, R)²]."""
        return tau**2 * np.interp(R / tau, CLIPS, self.moments[1])

    def fourth_moment(self, R: Any, tau: Any) -> Any:
        """m₄ = E[clip(r, R)⁴]."""
        return tau**4 * np.interp(R / tau, CLIPS, self.moments[2])

    def second_moment_slope(self, R: Any, tau: Any) -> Any:
        """dm₂/dτ² = E[z²; |z| < a]."""
        return np.interp(R / tau, CLIPS, self.moments[3])

    def doubt(self, R: Any, tau: Any) -> Any:
        """Standard deviation of what is believed of m₂."""
        return tau**2 * np.interp(R / tau, CLIPS, self.doubts)

    def distortion(self, R: float, tau: float) -> float:
        r"""Variance :math:`\sigma_R^2 = m_2/g^2 - \tau^2` that clipping adds."""
        return max(float(self.second_moment(R, tau) / self.slope(R, tau) ** 2 - tau**2), 0.0)

    def bias_at(self, a: float) -> tuple[float, float, float]:
        """Return mean and sd of the bias b, and the size u of an uneven one, in sds.

        To the variance of b that of far values is added which none has seen.
        """
        mean, square, uneven = (float(np.interp(a, CLIPS, row)) for row in self.biases)
        unseen = float(self.unseen(np.array(a))) / float(self.slope(a, 1.0)) ** 2
        return mean, math.sqrt(max(square - mean**2, 0.0) + unseen), math.sqrt(uneven)

    def expected_bias(self, a: Array) -> Array:
        """Return the mean of the bias b at clips, in sds."""
        return np.asarray(np.interp(a, CLIPS, self.biases[0]))

    @property
    def doubted_beyond(self) -> Array:
        """Mean squares of what lies beyond clips below and above, with what none has seen.

        That is on the side where the tail is.
        """
        seen = self.beyond[:, np.searchsorted(CLIPS, TAIL_FROM)]
        return np.asarray(self.beyond + np.outer(seen / max(seen.sum(), TINY), self.unseen(CLIPS)))

    def unseen(self, a: Array) -> Array:
        r"""Mean square of what far values that none has seen may add beyond a clip.

        Of the most that a law of the sd D can have, :math:`(\sqrt{D^2 + a^2} - a)/2` (Scarf 1958),
        as much as it is probable that the law has a tail.
        """
        most = self.tail_odds * (np.hypot(FAR_DOUBT, a) - a) / 2
        return np.where(a >= self.largest, 0.0, most**2)


class GaussianLaw(ResidualLaw):
    """The same for a Gaussian, by formulas: :mod:`dpgp.inference.clipping`."""

    def slope(self, R: Any, tau: Any) -> Any:
        """Share g of the signal that survives."""
        return clipping.slope(R, tau)

    def second_moment(self, R: Any, tau: Any) -> Any:
        """m₂ = E[clip(r, R)²]."""
        return clipping.second_moment(R, tau)

    def fourth_moment(self, R: Any, tau: Any) -> Any:
        """m₄ = E[clip(r, R)⁴]."""
        return clipping.fourth_moment(R, tau)

    def second_moment_slope(self, R: Any, tau: Any) -> Any:
        """dm₂/dτ² = E[z²; |z| < a]."""
        return clipping.second_moment_slope(R, tau)


def law_share(signal: float) -> float:
    r"""Share w of μ² for the histogram, from public numbers: a bin is known to 1.5 % of the rows.

    :math:`\sqrt2/(n\mu\sqrt w) = 0.015` where that is between one and three hundredths.
    """
    return float(np.clip(2.0 / (BIN_ERROR * signal) ** 2, SMALLEST_SHARE, LARGEST_SHARE))


@lru_cache(maxsize=1)
def gaussian_law() -> GaussianLaw:
    """Gaussian residuals, suspected of the bias of exponential ones."""
    moments = np.diff(ndtr(GRID)) @ _moments(_MIDDLES)
    suspected = np.array([(BIAS_SIZE * clipping.huber_bias(a)) ** 2 for a in CLIPS])
    nothing = np.zeros_like(suspected)
    biases = np.array([nothing, suspected, suspected])
    return GaussianLaw(_usable(moments), nothing, biases, np.array([suspected, suspected]))


def measured_law(belief: LawBelief, largest: float) -> ResidualLaw:
    """Return the law that noisy counts tell; no residual is beyond ``largest`` units.

    Shapes are averaged, every candidate in units of its own sd; biases in units of the typical sd,
    since far values make both sd and bias large.
    """
    found = kinds()[belief.is_likely]
    suspect = found != Kind.BELL
    belief, z = belief.likely(), np.clip(_MIDDLES, -largest, largest)
    weights, masses = belief.weights, np.maximum(np.diff(belief.bent, axis=1), 0.0)
    masses /= masses.sum(axis=1, keepdims=True)
    log_sds = np.log(masses @ z**2) / 2
    tables, sds = masses @ _moments(z), np.exp(log_sds)
    shapes = _rescaled(tables, sds, POWERS)
    odds = float(weights @ suspect)
    blur = max(BLUR, 1.0 - abs(2.0 * odds - 1.0))
    moments = (1 - blur) * np.einsum("k,mka->ma", weights, shapes) + blur * gaussian_law().moments
    log_sd, error = _mean_and_sd(weights, log_sds)
    parts = few_at_once(len(weights))
    raw = np.sum([_biases(belief.only(part), z, suspect[part]) for part in parts], axis=0)
    sd = float(np.exp(log_sd))
    scaled = _rescaled(raw[:, None], np.array([sd]), (1, 2, 2, 2, 2))[:, 0]
    biases, beyond = scaled[:3], scaled[3:]
    return ResidualLaw(
        _usable(moments),
        (1 - blur) * _mean_and_sd(weights, shapes[1])[1],
        biases / _usable(moments)[0] ** np.array([[1], [2], [2]]),
        beyond,
        float(log_sd),
        float(error),
        odds,
        largest / sd,
        float(weights @ (suspect & (found != Kind.TWO_VALUES))),
    )


def _biases(belief: LawBelief, z: Array, suspect: NDArray[np.bool_]) -> Array:
    """Return E[gb], E[(gb)²] and E[(gu)²], and mean squares beyond clips below and above.

    Over candidates and masses of bins. No bell is suspected of a skewness that changes with x.
    """
    below, above = (
        belief.functionals(np.maximum(side * z[:, None] - CLIPS, 0.0)) for side in (-1.0, 1.0)
    )
    m, M = belief.mean(below), belief.mean(above)
    v, V = belief.covariance(below, below), belief.covariance(above, above)
    twice, weights = 2.0 * belief.covariance(below, above), belief.weights

    def mean_square(mean: Array, variance: Array, weights: Array) -> Array:
        return np.asarray(weights @ (mean**2 + np.maximum(variance, 0.0)))

    return np.array(
        [
            weights @ (M - m),
            mean_square(M - m, V + v - twice, weights),
            mean_square(M + m, V + v + twice, suspect * weights),
            mean_square(m, v, weights),
            mean_square(M, V, weights),
        ]
    )


def _usable(moments: Array) -> Array:
    """Keep the slope away from zero: it divides."""
    return np.vstack([np.maximum(moments[0], LEAST_SLOPE), moments[1:]])


def _mean_and_sd(weights: Array, values: Array) -> tuple[Array, Array]:
    mean = weights @ values
    return mean, np.sqrt(weights @ (values - mean) ** 2)


def _rescaled(tables: Array, sds: Array, powers: Sequence[int]) -> Array:
    """Return tables, (tables, sds, raw clips), over clips in sds and in powers of the sd."""
    clips = sds[:, None] * CLIPS
    left = np.minimum(np.searchsorted(CLIPS, clips, side="right"), len(CLIPS) - 1) - 1
    share = np.minimum((clips - CLIPS[left]) / np.diff(CLIPS)[left], 1.0)
    near, far = (np.take_along_axis(tables, k[None], axis=2) for k in (left, left + 1))
    return np.asarray(
        (near + share * (far - near)) / sds[:, None] ** np.array(powers)[:, None, None]
    )


POWERS = (0, 2, 4, 2)
"""Of the sd, in the moments of clipped values."""


def _moments(z: Array) -> Array:
    """Return 1(|z| < a), min(|z|, a)², min(|z|, a)⁴ and z²1(|z| < a), (4, values, clips)."""
    size = np.abs(z)[:, None]
    within, cut = (size < CLIPS).astype(np.float64), np.minimum(size, CLIPS)
    return np.array([within, cut**2, cut**4, size**2 * within])
