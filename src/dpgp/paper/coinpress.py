r"""CoinPress: a private mean whose clipping interval tightens step by step (Biswas et al. 2020).

One step from an interval :math:`c \pm r` that holds the mean of n values of variance at most one:

.. math:: \gamma = \sqrt{1 + 2\sqrt{\ln(1/\beta)} + 2\ln(1/\beta)}, \qquad
          c' = \tfrac1n\sum_i \mathrm{clip}(v_i, c \pm (r+\gamma)) + N(0, s^2), \qquad
          r' = \gamma\sqrt{1/n + s^2}

with :math:`s = 2(r+\gamma)/(n\mu_i)`. Proof: docs/proofs/coinpress.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpgp.privacy.books import GaussianBooks
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import NoiseSource
from dpgp.privacy.sensitivity import bounded_sum_sensitivity
from dpgp.private.wall import release_sum
from dpgp.types import Array

# Steps and shares as in HM21, where it scores hyperparameters
STEPS = 12
LAST_SHARE = 0.75
TAIL_PROBABILITY = 0.01  # β


@dataclass(frozen=True)
class Interval:
    """Where the mean is believed to lie, in units of the values' public scale."""

    centre: float
    radius: float


def coinpress_mean(
    values: Array,
    *,
    centre: float,
    radius: float,
    scale: float,
    mu: float,
    books: GaussianBooks,
    source: NoiseSource,
    label: str = "CoinPress mean",
) -> float:
    """Return a private mean of values whose mean lies in ``centre`` ± ``radius``.

    Privacy holds whatever the values are; accuracy needs a standard deviation of at most ``scale``.
    """
    if books.neighbours is not Neighbours.REPLACE:
        raise ValueError(
            "CoinPress divides by the number of rows, which only replace neighbours make public; "
            'pass neighbours="replace" or a public prior mean.'
        )
    standardised = (np.asarray(values, dtype=np.float64) - centre) / scale
    interval = proposed = Interval(0.0, radius / scale)
    for step, step_mu in enumerate(step_mus(mu), start=1):
        proposed = _step(standardised, interval, step_mu, f"{label}, step {step}", books, source)
        # Differs from CoinPress: too small a budget must not widen the interval, step by step
        interval = min(interval, proposed, key=lambda candidate: candidate.radius)
    return centre + scale * proposed.centre


def step_mus(mu: float) -> list[float]:
    """Return the μ of every step: ρ = μ²/2 is what adds up."""
    return [mu * math.sqrt(share) for share in step_shares(STEPS)]


def step_shares(steps: int) -> list[float]:
    """Split the budget: three quarters for the last step, the rest evenly over those before."""
    if steps == 1:
        return [1.0]
    return [(1.0 - LAST_SHARE) / (steps - 1)] * (steps - 1) + [LAST_SHARE]


def tail_width() -> float:
    r"""Return :math:`\gamma = \sqrt{1 + 2\sqrt{\ln(1/\beta)} + 2\ln(1/\beta)}`."""
    log = math.log(1.0 / TAIL_PROBABILITY)
    return math.sqrt(1.0 + 2.0 * math.sqrt(log) + 2.0 * log)


def _step(
    values: Array,
    interval: Interval,
    mu: float,
    label: str,
    books: GaussianBooks,
    source: NoiseSource,
) -> Interval:
    n, gamma = len(values), tail_width()
    half_width = interval.radius + gamma
    offsets = np.clip((values - interval.centre) / half_width, -1.0, 1.0)
    total = release_sum(offsets, mu, label=label, books=books, source=source)
    noise_std = half_width * bounded_sum_sensitivity(1.0, books.neighbours) / mu / n
    return Interval(
        centre=interval.centre + half_width * total / n,
        radius=gamma * math.sqrt(1.0 / n + noise_std**2),
    )
