r"""DP-SGD, shared by the networks of the comparison (Abadi et al. 2016).

One step takes every row with probability q (Poisson sampling), clips every row's gradient to norm
C, adds the gradients up and adds :math:`N(0, (zC)^2)` to every coordinate. The noise here comes
from a seeded generator: these are methods to compare with, not to publish data with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from dp_accounting import NeighboringRelation
from dp_accounting.pld import privacy_loss_distribution
from scipy.stats import binom

from dpgp.cli.output import DataError
from dpgp.privacy.neighbours import Neighbours

RELATIONS = {
    Neighbours.REPLACE: NeighboringRelation.REPLACE_ONE,
    Neighbours.ADD_REMOVE: NeighboringRelation.ADD_OR_REMOVE_ONE,
}
PRECISION = 1e-3  # a tenth of a per cent of noise too much is not seen in any error
OVERFLOW = 1e-12  # chance that a batch is cut short: no training meets it


def load_torch() -> Any:
    """Import torch, or say how to get it."""
    try:
        import torch
    except ModuleNotFoundError:
        raise DataError(
            "the networks need torch, which is not installed; "
            'run: pip install "./experiments[baselines]" in a checkout.'
        ) from None
    return torch


@lru_cache(maxsize=256)
def noise_multiplier(
    epsilon: float,
    delta: float,
    steps: int,
    rate: float,
    neighbours: Neighbours = Neighbours.REPLACE,
    beside: float = 0.0,
) -> float:
    r"""Return z, the noise in units of the clipping norm, that makes all steps (ε, δ)-DP together.

    ``beside`` is the μ of Gaussian releases that are made with the same budget.

    Where one row is replaced, a step is dominated by
    :math:`(1-q)N(0, z^2) + qN(1, z^2)` against :math:`(1-q)N(0, z^2) + qN(-1, z^2)`: with q = 1 a
    Gaussian of sensitivity 2. Privacy loss distributions with pessimistic rounding (Koskela et al.
    2020; Doroshenko et al. 2022) compose it; bisection ends on the private side, at most
    ``PRECISION`` above the smallest z.
    """
    if math.isinf(epsilon):
        return 0.0

    def is_private(z: float) -> bool:
        return total_delta(z, epsilon, steps, rate, neighbours, beside) <= delta

    # begin with too much noise: little of it makes long privacy loss distributions
    return _smallest(is_private, 8.0 * math.sqrt(steps) * rate / epsilon)


def total_delta(
    z: float,
    epsilon: float,
    steps: int,
    rate: float,
    neighbours: Neighbours = Neighbours.REPLACE,
    beside: float = 0.0,
) -> float:
    """Return an upper bound of δ at ε: training with noise z, and releases of μ = ``beside``."""
    grid = {"value_discretization_interval": min(1e-4 * epsilon, 1e-3)}  # fine beside ε, rounded up
    one_step = privacy_loss_distribution.from_gaussian_mechanism(
        z, sampling_prob=rate, neighboring_relation=RELATIONS[neighbours], **grid
    )
    losses = one_step.self_compose(steps)
    if beside > 0.0:
        # μ-GDP is N(0, 1) against N(μ, 1), whatever the neighbours: they are in its sensitivity
        releases = privacy_loss_distribution.from_gaussian_mechanism(1.0 / beside, **grid)
        losses = losses.compose(releases)
    return float(losses.get_delta_for_epsilon(epsilon))


def _smallest(accepts: Callable[[float], bool], guess: float) -> float:
    """Return a number that is accepted, within a factor 1 + PRECISION of the smallest one."""
    high = guess
    while not accepts(high):
        high *= 2.0
    low = high / 2.0
    while accepts(low):
        low, high = low / 2.0, low
    while high > (1.0 + PRECISION) * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if accepts(middle) else (middle, high)
    return high


def batch_width(rows: int, rate: float) -> int:
    """Return a width that a Poisson sample exceeds with probability at most ``OVERFLOW``."""
    return int(min(rows, binom.isf(OVERFLOW, rows, rate)))


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch on one thread, the fastest for networks as small as these."""
    torch = load_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def seeded(rng: np.random.Generator) -> Any:
    """Return a torch generator whose seed is drawn from ``rng``."""
    return load_torch().Generator().manual_seed(int(rng.integers(2**63)))


def poisson_batches(rows: int, rate: float, shape: tuple[int, ...], generator: Any) -> Any:
    """Draw batches in which every row is with probability ``rate``; one batch along the last axis.

    Gaps between chosen rows are geometric. Places that are left over hold the number ``rows``.
    """
    torch = load_torch()
    width = batch_width(rows, rate)
    if rate >= 1.0:
        return torch.arange(rows).expand(*shape, rows)
    u = torch.rand((*shape, width), generator=generator, dtype=torch.float64)
    gaps = 1 + torch.floor(torch.log1p(-u) / math.log1p(-rate))
    return (gaps.cumsum(-1) - 1).clamp_(max=rows).long()


def clip_weights(squared_norms: Any, clip: Any) -> Any:
    """Return the factor min(1, C/‖g‖) of every row's gradient."""
    # a gradient of zero stays zero whatever its factor
    return (clip * squared_norms.clamp_min(1e-30).rsqrt()).clamp_max_(1.0)


def adam_step(gradient: Any, moments: Any, number: int, decay: float = 0.999) -> Any:
    """Return the direction of Kingma & Ba (2015) at a step and update both moments."""
    first, second = moments
    first.mul_(0.9).add_(gradient, alpha=0.1)
    second.mul_(decay).addcmul_(gradient, gradient, value=1.0 - decay)
    # rates 0.9 and 1e-8 as in the paper
    scale = (second / (1.0 - decay**number)).sqrt() + 1e-8
    return first / (1.0 - 0.9**number) / scale
