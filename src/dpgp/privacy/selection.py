r"""Selecting the best of many runs of a private mechanism, at the price of a few.

A mechanism is run K times and only the best run is returned. K is random, *and a secret*: the
guarantee holds only while nobody learns it. It is never logged, shown, returned or booked, and one
event is charged whatever it was. How long a selection takes reveals it; time is outside the threat
model (docs/threat-model.md). Proof: docs/proofs/selection.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from dpgp.privacy.arguments import as_finite_positive, as_non_negative, as_positive, as_probability
from dpgp.privacy.noise import NoiseSource

Array = NDArray[np.float64]
Result = TypeVar("Result")

COUNT_ERROR = 1e-6  # |log P(K = k) − log of its computed value|, for every k: about 1e-8 in truth


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
    mechanism: Callable[[], tuple[float, Result]], budget: SelectionBudget, source: NoiseSource
) -> tuple[float, Result] | None:
    """Run a private mechanism a secret number of times; return the run with the highest score.

    ``mechanism`` returns a score and what it belongs to, both under the privacy that ``budget``
    was calibrated for. None where the number of runs came out as zero, which only a Poisson number
    can. Ties go to the earlier run.
    """
    best: tuple[float, Result] | None = None
    for _ in range(budget.number_of_draws(source)):
        run = mechanism()
        if best is None or run[0] > best[0]:
            best = run
    return best


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
        # √(2δ) = (δ_tot − e^{−γT})/T
        root = (delta - math.exp(-gamma * max_draws)) / max_draws * (1.0 - 1e-12)
        run_epsilon = (epsilon / 3.0 - root) * (1.0 - 1e-15)
        if run_epsilon <= 0.0 or root <= 0.0:
            raise ValueError(
                f"`epsilon` = {epsilon} and `delta` = {delta} are too small for a selection at "
                f"`gamma` = {gamma}; ask for more, or raise `gamma`."
            )
        return cls(run_epsilon, root**2 / 2.0, gamma, max_draws, (epsilon, delta))

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
        while draws < self.max_draws and source.uniform() >= self.stop_probability:
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
        as_finite_positive("epsilon", epsilon)
        as_probability("delta", delta)
        as_non_negative("shape", shape)
        if as_finite_positive("mean_draws", mean) <= 1.0:
            raise ValueError(f"`mean_draws` must be greater than 1, got {mean}.")
        if epsilon > 100.0 or delta < 1e-250:
            raise ValueError(
                "`epsilon` must be at most 100 and `delta` at least 1e-250 for this accounting, "
                f"got {epsilon} and {delta}."
            )
        run_epsilon = epsilon - 2.0 * COUNT_ERROR

        def excess(log_multiplier: float) -> float:
            return selection_epsilon(math.exp(log_multiplier), delta, mean, shape) - run_epsilon

        high = 0.0
        while excess(high) > 0.0:
            high += 1.0
            if high > _LARGEST_LOG_MULTIPLIER:
                raise ValueError(
                    f"`epsilon` = {epsilon} is too small for a selection with {mean} draws "
                    "expected; ask for more, or for fewer draws."
                )
        multiplier = math.exp(brentq(excess, high - _WIDEST_BRACKET, high, xtol=1e-13))
        while selection_epsilon(multiplier, delta, mean, shape) > run_epsilon:
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
            if source.uniform() < hazard:
                break
            draws += 1
        return draws

    @cached_property
    def _hazards(self) -> tuple[int, Array]:
        """The smallest K that can happen, and P(K = k | K ≥ k) from there on.

        The last k has a probability below 1e-300 and a hazard of one.
        """
        first, log_first, log_ratios = self._law()
        log_p = log_first + np.concatenate([[0.0], np.cumsum(log_ratios)])
        p = np.exp(log_p[log_p > -700.0])
        return first, p / np.cumsum(p[::-1])[::-1]

    def _law(self) -> tuple[int, float, Array]:
        """The smallest K, the log of its probability, and log P(K = k + 1)/P(K = k) from there."""
        if self.shape == math.inf:
            k = np.arange(0.0, 2.0 * self.mean_draws + 1000.0)
            return 0, -self.mean_draws, math.log(self.mean_draws) - np.log(k + 1.0)
        gamma, k = self._gamma, np.arange(1.0, 720.0 / self._gamma)
        log_ratios = math.log1p(-gamma) + np.log((k + self.shape) / (k + 1.0))
        if self.shape == 0.0:
            return 1, math.log((1.0 - gamma) / -math.log(gamma)), log_ratios
        normaliser = math.expm1(-self.shape * math.log(gamma))
        return 1, math.log((1.0 - gamma) * self.shape / normaliser), log_ratios

    @cached_property
    def _gamma(self) -> float:
        """The γ at which the truncated negative binomial has the wanted mean."""

        def excess(log_gamma: float) -> float:
            return _tnb_mean(math.exp(log_gamma), self.shape) - self.mean_draws

        return math.exp(brentq(excess, -60.0, -1e-9))


def _tnb_mean(gamma: float, shape: float) -> float:
    if shape == 0.0:
        return (1.0 / gamma - 1.0) / -math.log(gamma)
    return shape * (1.0 - gamma) / (gamma * -math.expm1(shape * math.log(gamma)))


_ORDERS = 1.0 + np.logspace(-2.0, 4.0, 150)
_LARGEST_LOG_MULTIPLIER = 12.0
_WIDEST_BRACKET = 8.0


def selection_epsilon(noise_multiplier: float, delta: float, mean: float, shape: float) -> float:
    """Return the ε of a selection among runs of the Gaussian mechanism, by dp-accounting."""
    from dp_accounting import GaussianDpEvent
    from dp_accounting.dp_event import RepeatAndSelectDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders=_ORDERS)
    accountant.compose(RepeatAndSelectDpEvent(GaussianDpEvent(noise_multiplier), mean, shape))
    return float(accountant.get_epsilon(delta))
