r"""Selecting the best of many runs of a private mechanism, at the price of a few.

A mechanism is run K times and only the best run is returned. K is random, *and a secret*: the
guarantee holds only while nobody learns it. It is never logged, shown, returned or booked, and one
event is charged whatever it was. How long a selection takes reveals it; time is outside the threat
model (docs/threat-model.md). Proof: docs/proofs/selection.md.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from dpgp.privacy.arguments import as_finite_positive, as_non_negative, as_positive, as_probability
from dpgp.privacy.noise import NoiseSource, SecureNoise
from dpgp.types import Array

Result = TypeVar("Result")

COUNT_ERROR = 1e-6  # |log P(K = k) − log of its computed value|, for every k that can be drawn
SMALLEST_LOG_PROBABILITY = -700.0  # a K rarer than this is never drawn


class SelectionBudget(Protocol):
    """What a selection costs in all, and how the number of its draws is distributed."""

    @property
    def total(self) -> tuple[float, float]:
        """The (ε, δ) of the whole selection."""
        ...

    @property
    def statement(self) -> str:
        """One line for the certificate."""
        ...

    def number_of_draws(self, source: NoiseSource) -> int:
        """Draw K, the secret number of runs."""
        ...


def select(
    mechanism: Callable[[], tuple[float, Result]],
    budget: SelectionBudget,
    source: NoiseSource | None = None,
) -> tuple[float, Result] | None:
    """Run a private mechanism a secret number of times; return the run with the highest score.

    ``mechanism`` returns a score and what it belongs to, both under the privacy that ``budget``
    was calibrated for. None where the number of runs came out as zero, which only a Poisson number
    can. A score that is not a number ranks below every other, and ties go to the earlier run.
    Warnings of the runs are dropped: they could be counted.
    """
    best: tuple[float, Result] | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(budget.number_of_draws(source or SecureNoise())):
            run = mechanism()
            rank = _rank(run[0])  # of every run, so that a bad score fails whatever K is
            if best is None or rank > _rank(best[0]):
                best = run
    return best


def _rank(score: float) -> tuple[bool, float]:
    """Order scores with NaN below −∞: with a plain > a first NaN would never be replaced."""
    return not math.isnan(score), score


def happens(probability: float, source: NoiseSource) -> bool:
    """Return True with exactly this probability, however small: digit by digit of base 2^53."""
    while probability > 0.0:
        scaled = probability * _DIGIT
        wanted, drawn = math.floor(scaled), math.floor(source.uniform() * _DIGIT)
        if drawn != wanted:
            return drawn < wanted
        probability = scaled - wanted
    return False


_DIGIT = 2.0**53  # what a uniform double resolves


@dataclass(frozen=True)
class LiuTalwarBudget:
    r"""A geometric number of draws, at most T, of an (ε, δ)-DP mechanism (HM21 Algorithm 2).

    .. math:: \epsilon_{tot} = 3\epsilon + 3\sqrt{2\delta}, \qquad
              \delta_{tot} = \sqrt{2\delta}\,T + \delta_2, \qquad \delta_2 = e^{-\gamma T}

    (Liu & Talwar 2019, theorem 3.4).
    """

    epsilon: float
    delta: float
    stop_probability: float
    max_draws: int
    total: tuple[float, float]

    @classmethod
    def for_total(cls, epsilon: float, delta: float, gamma: float) -> LiuTalwarBudget:
        """Calibrate a run so that the whole selection is (``epsilon``, ``delta``)-DP.

        Differs from HM21: T is a whole number, so δ is solved for with it; rounding the printed T
        up would overshoot the total.
        """
        as_finite_positive("epsilon", epsilon)
        as_probability("delta", delta)
        if not 0.0 < as_positive("gamma", gamma) <= 1.0:
            raise ValueError(f"`gamma` must be at most 1, got {gamma}.")
        # t(1 − log t) = δ_tot,  T = log(1/t)/γ
        t = brentq(lambda log_t: math.exp(log_t) * (1.0 - log_t) - delta, -800.0, 0.0, xtol=1e-14)
        max_draws = math.ceil(-t / gamma)
        # √(2δ) = (δ_tot − e^{−γT})/T, rounded down by more than exp and log may err
        root = (delta - math.exp(-gamma * max_draws)) / max_draws * (1.0 - 1e-12)
        run_epsilon, run_delta = epsilon / 3.0 * (1.0 - 1e-15) - root, root**2 / 2.0
        if run_epsilon <= 0.0 or root <= 0.0 or run_delta < 1e-300:
            raise ValueError(
                f"`epsilon` = {epsilon} and `delta` = {delta} are too small for a selection at "
                f"`gamma` = {gamma}; ask for more, or raise `gamma`."
            )
        return cls(run_epsilon, run_delta, gamma, max_draws, (epsilon, delta))

    @property
    def statement(self) -> str:
        """One line for the certificate."""
        return (
            f"best of a secret number of runs, each ({self.epsilon:.6g}, {self.delta:.6g})-DP, "
            "after Liu & Talwar (2019)"
        )

    def number_of_draws(self, source: NoiseSource) -> int:
        """Draw K: after every run the selection stops with probability γ, and after T anyway."""
        draws = 1
        while draws < self.max_draws and not happens(self.stop_probability, source):
            draws += 1
        return draws


@dataclass(frozen=True)
class RenyiBudget:
    r"""A truncated negative binomial or Poisson number of draws of a Gaussian-like mechanism.

    A run has Rényi divergence at most :math:`\alpha\mu^2/2` at every order α, as every composition
    of Gaussian mechanisms worth μ has. ``shape`` 0 is the logarithmic distribution, 1 the geometric
    one, infinity Poisson (Papernot & Steinke 2022, theorems 2 and 6).
    """

    mu: float
    mean_draws: float
    shape: float
    total: tuple[float, float]

    @classmethod
    def for_total(cls, epsilon: float, delta: float, mean: float, shape: float) -> RenyiBudget:
        """Calibrate a run so that the whole selection is (``epsilon``, ``delta``)-DP."""
        _check_renyi(epsilon, delta, mean, shape)
        # the computed law of K is exp(±COUNT_ERROR) away from the one that is accounted for
        run_epsilon, run_delta = epsilon - 2.0 * COUNT_ERROR, delta * (1.0 - 2.0 * COUNT_ERROR)

        def excess(log_multiplier: float) -> float:
            return selection_epsilon(math.exp(log_multiplier), run_delta, mean, shape) - run_epsilon

        high = 0.0
        while excess(high) > 0.0:
            high += 1.0
            if high > _LARGEST_LOG_MULTIPLIER:
                raise ValueError(
                    f"`epsilon` = {epsilon} is too small for a selection with {mean} draws "
                    "expected; ask for more, or for fewer draws."
                )
        multiplier = math.exp(brentq(excess, high - _WIDEST_BRACKET, high, xtol=1e-13))
        while selection_epsilon(multiplier, run_delta, mean, shape) > run_epsilon:
            multiplier *= 1.0 + 1e-12
        return cls(math.nextafter(1.0 / multiplier, 0.0), mean, shape, (epsilon, delta))

    @property
    def statement(self) -> str:
        """One line for the certificate."""
        return (
            f"best of a secret number of runs, {self.mean_draws:g} expected, each mu = "
            f"{self.mu:.6g}, after Papernot & Steinke (2022)"
        )

    def number_of_draws(self, source: NoiseSource) -> int:
        """Draw K: after every run the selection stops with the hazard P(K = k | K ≥ k)."""
        draws, hazards = self._hazards
        for hazard in hazards:
            if happens(hazard, source):
                break
            draws += 1
        return draws

    @cached_property
    def _hazards(self) -> tuple[int, Array]:
        """The smallest K that is drawn, and P(K = k | K ≥ k) from there to the largest."""
        k = np.arange(0.0 if self.shape == math.inf else 1.0, self._beyond)
        log_p = self.log_probability(k)
        drawn = log_p > SMALLEST_LOG_PROBABILITY
        p = np.exp(log_p[drawn])
        return int(k[drawn][0]), p / np.cumsum(p[::-1])[::-1]

    def log_probability(self, k: Array) -> Array:
        r"""Return log P(K = k) for every k.

        .. math:: P(K = k) = \frac{(1-\gamma)^k}{\gamma^{-\eta} - 1}\binom{k + \eta - 1}{k},
                  \qquad \frac{(1-\gamma)^k}{k \log(1/\gamma)} \text{ for } \eta = 0

        (Papernot & Steinke 2022, definition 1), or Poisson.
        """
        if self.shape == math.inf:
            return np.asarray(k * math.log(self.mean_draws) - self.mean_draws - gammaln(k + 1.0))
        gamma, eta = self._gamma, self.shape
        decay = k * math.log1p(-gamma)
        if eta == 0.0:
            return np.asarray(decay - np.log(k) - math.log(-math.log(gamma)))
        x = -eta * math.log(gamma)
        log_normaliser = x + math.log(-math.expm1(-x))  # log(γ^−η − 1)
        choices = gammaln(k + eta) - gammaln(k + 1.0) - gammaln(eta)
        return np.asarray(decay + choices - log_normaliser)

    @property
    def _beyond(self) -> float:
        """A K beyond all that are drawn."""
        if self.shape == math.inf:
            return 2.0 * self.mean_draws + 1000.0
        # (1 − γ)^k < e^−700 and what the binomial adds
        return 2.0 + (720.0 + 10.0 * self.shape) / self._gamma

    @cached_property
    def _gamma(self) -> float:
        return _tnb_gamma(self.mean_draws, self.shape)


def _tnb_gamma(mean: float, shape: float) -> float:
    """Return the γ at which the truncated negative binomial has the wanted mean."""

    def excess(log_gamma: float) -> float:
        return _tnb_mean(math.exp(log_gamma), shape) - mean

    return math.exp(brentq(excess, -60.0, -1e-9, xtol=1e-14, rtol=1e-15))


def _tnb_mean(gamma: float, shape: float) -> float:
    if shape == 0.0:
        return (1.0 / gamma - 1.0) / -math.log(gamma)
    return shape * (1.0 - gamma) / (gamma * -math.expm1(shape * math.log(gamma)))


def _check_renyi(epsilon: float, delta: float, mean: float, shape: float) -> None:
    """Refuse what the accounting, or the computed law of K, was not analysed for."""
    as_finite_positive("epsilon", epsilon)
    as_probability("delta", delta)
    as_non_negative("shape", shape)
    if not 1e-5 <= epsilon <= 100.0 or delta < 1e-200:
        raise ValueError(
            "`epsilon` must be between 1e-5 and 100 and `delta` at least 1e-200 for this "
            f"accounting, got {epsilon} and {delta}."
        )
    if shape != math.inf and not (shape == 0.0 or 0.01 <= shape <= 100.0):
        raise ValueError(f"`shape` must be 0, from 0.01 to 100, or infinite, got {shape}.")
    if not 1.01 <= as_finite_positive("mean_draws", mean) <= 1e4:
        raise ValueError(f"`mean_draws` must be between 1.01 and 10000, got {mean}.")
    if shape != math.inf and _tnb_gamma(mean, shape) < _SMALLEST_GAMMA:
        raise ValueError(f"`mean_draws` = {mean} is too large for `shape` = {shape}.")


_SMALLEST_GAMMA = 1e-4  # the law of K was analysed down to it: docs/proofs/selection.md, §2
_ORDERS = 1.0 + np.logspace(-2.0, 4.0, 150)  # of Rényi DP: any set is valid, a denser one tighter
_LARGEST_LOG_MULTIPLIER = 12.0  # a noise of e¹² sensitivities: no ε that anybody asks for
_WIDEST_BRACKET = 8.0  # where the root is looked for, below the first multiplier that is enough


def selection_epsilon(noise_multiplier: float, delta: float, mean: float, shape: float) -> float:
    """Return the ε of a selection among runs of the Gaussian mechanism, by dp-accounting."""
    from dp_accounting import GaussianDpEvent
    from dp_accounting.dp_event import RepeatAndSelectDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders=_ORDERS)
    accountant.compose(RepeatAndSelectDpEvent(GaussianDpEvent(noise_multiplier), mean, shape))
    return float(accountant.get_epsilon(delta))
