"""Lower bounds on what releases give away, from many of them: Clopper–Pearson, and a fit of μ."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import ndtri
from scipy.stats import beta, binom

from dpgp.privacy.calibration import epsilon_of_mu
from dpgp.types import Array

CONFIDENCE = 0.95
SURE = 1.0 - 1e-7
"""Confidence at which an attack raises an alarm: bounds at 95 % are above the truth now and then.
"""
ATTACKED_DELTA = 0.01
"""δ at which ε is attacked: a μ promises an ε at every δ, and this one can be measured."""


@dataclass(frozen=True)
class LowerBounds:
    """Lower bounds at 95 % on ε at a δ and on μ, beside what is claimed.

    ``holds`` is whether the claim survives, decided at a confidence that cries wolf almost never.
    """

    epsilon: float
    claimed_epsilon: float
    mu: float
    claimed_mu: float
    holds: bool


def clopper_pearson(hits: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact two-sided interval of a probability: quantiles of beta distributions."""
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, trials - hits + 1))
    high = 1.0 if hits == trials else float(beta.ppf(1.0 - tail, hits + 1, trials - hits))
    return low, high


def lower_bounds(without: Array, within: Array, claimed_mu: float) -> LowerBounds:
    """Bound ε and μ from scores of two neighbours that are N(0, 1) and N(μ, 1) if all is well."""
    epsilon = epsilon_of_mu(claimed_mu, ATTACKED_DELTA)
    best, middle = epsilon / claimed_mu + claimed_mu / 2.0, claimed_mu / 2.0

    def found(confidence: float) -> tuple[float, float]:
        return (
            _lower_epsilon(*_rates(without, within, best, confidence)),
            _lower_mu(*_rates(without, within, middle, confidence)),
        )

    sure_epsilon, sure_mu = found(SURE)
    holds = sure_epsilon <= epsilon and sure_mu <= claimed_mu
    return LowerBounds(found(CONFIDENCE)[0], epsilon, found(CONFIDENCE)[1], claimed_mu, holds)


def _lower_epsilon(seen: float, mistaken: float) -> float:
    """log((P(S) − δ)/Q(S)): what (ε, δ) must at least be for such a set S."""
    above = seen - ATTACKED_DELTA
    return max(math.log(above / mistaken), 0.0) if above > 0.0 else 0.0


def _lower_mu(seen: float, mistaken: float) -> float:
    """Φ⁻¹(P) − Φ⁻¹(Q): the μ of the Gaussian trade-off curve through the point."""
    return max(float(ndtri(seen) - ndtri(mistaken)), 0.0)


def _rates(
    without: Array, within: Array, threshold: float, confidence: float
) -> tuple[float, float]:
    """Return the least rate of true alarms and the largest of false ones, jointly at confidence."""
    each = (1.0 + confidence) / 2.0  # one end of each of two intervals is used: half the rest each
    seen, _ = clopper_pearson(int((within > threshold).sum()), len(within), each)
    _, mistaken = clopper_pearson(int((without > threshold).sum()), len(without), each)
    return seen, mistaken


def epsilon_of_guesses(
    correct: int, guesses: int, delta: float, confidence: float = CONFIDENCE
) -> float:
    """Lower bound on ε from one run: so many of the canaries' coins were guessed.

    P(W ≥ v) ≤ P(Bin(m, e^ε/(1 + e^ε)) ≥ v) + 2mδ. Steinke, Nasr & Jagielski (2023), theorem 5.2,
    with α ≤ 1.
    """
    allowed = 1.0 - confidence - 2.0 * guesses * delta
    if allowed <= 0.0:
        return 0.0
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2.0
        chance = float(binom.sf(correct - 1, guesses, 1.0 / (1.0 + math.exp(-middle))))
        low, high = (middle, high) if chance < allowed else (low, middle)
    return low


def repeated_draws(draw: Callable[[int], list[int]], count: int = 64) -> int:
    """Return how many draws a forked process repeats: all of them where the state is copied."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, " ".join(map(str, draw(count))).encode())
        finally:
            os._exit(0)
    os.close(writer)
    own = set(draw(count))
    with os.fdopen(reader, "rb") as pipe:
        theirs = [int(part) for part in pipe.read().split()]
    os.waitpid(child, 0)
    if len(theirs) != count:
        raise RuntimeError("a forked process could not draw noise.")
    return len(own & set(theirs)) + (count - len(own))
