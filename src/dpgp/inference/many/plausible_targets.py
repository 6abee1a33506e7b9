"""Plausible laws of a target within its public bounds, as masses of the bins of a histogram.

Bells, skewed and even laws of any centre and width; two values at the bounds; a spike anywhere with
the rest spread over the bounds; a spike at a bound with a tail, as costs have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]

CENTRE_SD = 0.4
SCALE, LOG_SD_OF_SCALE = 0.25, 0.6
"""Prior of mean and sd of the laws that have any centre and width, in half-widths of the bounds."""

SHARES_OF_YES = (0.05, 0.1, 0.2, 0.35, 0.5)
RESTS = (0.02, 0.05, 0.1, 0.2)
"""Shares of the values beside a spike."""

SHARES_OF_COSTS, MEAN_COSTS = (0.2, 0.4, 0.6), (0.1, 0.2, 0.4)

PRIOR_OF_SHAPES = {"bell": 0.5, "up": 0.15, "down": 0.15, "even": 0.1}
PRIOR_OF_YES_NO, PRIOR_OF_SPIKE, PRIOR_OF_COSTS = 0.05, 0.025, 0.025
"""Prior probabilities of the kinds. By hand."""


@lru_cache(maxsize=8)
def plausible_targets(bins: int) -> tuple[Array, Array]:
    """Return the masses of equal bins of [−1, 1], a row a law, and the laws' log priors."""
    edges = np.linspace(-1.0, 1.0, bins + 1)
    kinds = [*_shapes(edges), *_spikes(edges)]
    masses = np.vstack([masses for masses, _ in kinds])
    return masses, np.concatenate([log_prior for _, log_prior in kinds])


def _shapes(edges: Array) -> Iterator[tuple[Array, Array]]:
    """Laws of mean 0 and sd 1, moved and stretched; what would lie beyond the bounds is at them."""
    grids = np.meshgrid(np.linspace(-0.9, 0.9, 73), np.geomspace(0.03, 0.6, 20))
    means, sds = (grid.ravel()[:, None] for grid in grids)
    log_prior = -0.5 * ((means / CENTRE_SD) ** 2 + (np.log(sds / SCALE) / LOG_SD_OF_SCALE) ** 2)
    log_prior = log_prior[:, 0] - np.log(np.exp(log_prior).sum())
    for name, probability in PRIOR_OF_SHAPES.items():
        below = SHAPES[name]((edges - means) / sds)
        below[:, 0], below[:, -1] = 0.0, 1.0
        yield np.diff(below, axis=1), log_prior + np.log(probability)


def _exponential(z: Array) -> Array:
    return np.asarray(-np.expm1(-np.maximum(z + 1.0, 0.0)))


SHAPES: dict[str, Callable[[Array], Array]] = {
    "bell": lambda z: np.asarray(ndtr(z)),
    "up": _exponential,
    "down": lambda z: 1.0 - _exponential(-z),
    "even": lambda z: np.clip(z / np.sqrt(12.0) + 0.5, 0.0, 1.0),
}
"""Distribution functions of mean 0 and sd 1."""


def _spikes(edges: Array) -> Iterator[tuple[Array, Array]]:
    bins = len(edges) - 1
    first, last = np.eye(bins)[[0, -1]]
    yes_no = [(1 - p) * a + p * b for p in SHARES_OF_YES for a, b in ((first, last), (last, first))]
    yield _equally_likely(yes_no, PRIOR_OF_YES_NO)
    anywhere = [(1 - rest) * spike + rest / bins for rest in RESTS for spike in np.eye(bins)]
    yield _equally_likely(anywhere, PRIOR_OF_SPIKE)
    tails = [_costs(edges, *choice) for choice in product(SHARES_OF_COSTS, MEAN_COSTS)]
    yield _equally_likely([*tails, *(tail[::-1] for tail in tails)], PRIOR_OF_COSTS)


def _costs(edges: Array, share: float, mean: float) -> Array:
    """Zeros at the lower bound, and exponential values cut at the upper one."""
    below = -np.expm1(-(edges + 1.0) / mean)
    below[-1] = 1.0
    masses = share * np.diff(below)
    masses[0] += 1.0 - share
    return masses


def _equally_likely(laws: list[Array], probability: float) -> tuple[Array, Array]:
    return np.array(laws), np.full(len(laws), np.log(probability / len(laws)))
