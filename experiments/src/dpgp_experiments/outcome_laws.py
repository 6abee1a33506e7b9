"""Laws of an outcome given one input in [−1, 1], with their means within public bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri

from dpgp.types import Array


@dataclass(frozen=True)
class Law:
    """Public bounds, the mean given x, and draws given x."""

    bounds: tuple[float, float]
    mean: Callable[[Array], Array]
    draw: Callable[[Array, np.random.Generator], Array]


def gaussian(std: float) -> Law:
    """sinc(8x) with Gaussian noise."""
    return Law(
        (-1.5, 1.5),
        lambda x: np.sinc(8 * x / np.pi),
        lambda x, rng: np.sinc(8 * x / np.pi) + std * rng.standard_normal(len(x)),
    )


def yes_no(share: Callable[[Array], Array]) -> Law:
    """One with this probability, else zero."""
    return Law((0.0, 1.0), share, lambda x, rng: np.where(rng.random(len(x)) < share(x), 1.0, 0.0))


def exponential(scale: Callable[[Array], Array], top: float) -> Law:
    """Exponential with this mean, cut at the upper bound: E = m(1 − e^(−top/m))."""
    return Law(
        (0.0, top),
        lambda x: np.asarray(-scale(x) * np.expm1(-top / scale(x))),
        lambda x, rng: np.minimum(scale(x) * rng.standard_exponential(len(x)), top),
    )


def lognormal(centre: Callable[[Array], Array], width: float, top: float, share: float) -> Law:
    """Lognormal with probability ``share``, cut at the upper bound, else zero."""

    def mean(x: Array) -> Array:
        m, cut = centre(x), np.log(top)
        below = np.exp(m + width**2 / 2) * ndtr((cut - m) / width - width)
        return np.asarray(share * (below + top * ndtr((m - cut) / width)))

    def draw(x: Array, rng: np.random.Generator) -> Array:
        costs = np.exp(centre(x) + width * rng.standard_normal(len(x)))
        return np.asarray(np.minimum(costs, top) * (rng.random(len(x)) < share))

    return Law((0.0, top), mean, draw)


SCALE_LOGITS = np.array([0.0, -1.0, -1.6, -2.2, -2.5])


def five_points() -> Law:
    """Answers 1 to 5, most of them 1, fewer with larger x."""

    def shares(x: Array) -> Array:
        weights = np.exp(SCALE_LOGITS + 0.2 * x[:, None] * np.arange(5))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def draw(x: Array, rng: np.random.Generator) -> Array:
        below = np.cumsum(shares(x), axis=1)[:, :-1]
        return np.asarray(1.0 + (rng.random((len(x), 1)) > below).sum(axis=1))

    return Law((1.0, 5.0), lambda x: shares(x) @ np.arange(1.0, 6.0), draw)


def rounded(law: Law, step: float) -> Law:
    """Another law's values, rounded; the mean is that of 2,000 even quantiles of Gaussian noise."""
    noise = NOISE_STD * ndtri((np.arange(2000) + 0.5) / 2000)

    def mean(x: Array) -> Array:
        return np.asarray((np.round((law.mean(x)[:, None] + noise) / step) * step).mean(axis=1))

    return Law(law.bounds, mean, lambda x, rng: np.round(law.draw(x, rng) / step) * step)


NOISE_STD = 0.1
LAWS = {
    "Gaussian": gaussian(NOISE_STD),
    "Gaussian, rounded": rounded(gaussian(NOISE_STD), 0.25),
    "yes/no, 5 %": yes_no(lambda x: np.full_like(x, 0.05)),
    "yes/no, 10 %": yes_no(lambda x: np.full_like(x, 0.1)),
    "yes/no, 20 %": yes_no(lambda x: np.full_like(x, 0.2)),
    "yes/no, 50 %": yes_no(lambda x: np.full_like(x, 0.5)),
    "logistic": yes_no(lambda x: expit(4 * x - 1)),
    "logistic, even": yes_no(lambda x: expit(3 * x)),
    "exponential": exponential(lambda x: 10 * np.exp(0.4 * x), 100.0),
    "lognormal": lognormal(lambda x: 2.0 + 0.4 * x, 0.8, 100.0, 1.0),
    "costs": lognormal(lambda x: 2.5 + 0.4 * x, 0.8, 100.0, 0.3),
    "five points": five_points(),
}
