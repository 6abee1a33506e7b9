r"""Yes or no: one of two public classes, 0 and 1, scaled to t = −1 and 1. docs/how-to/yes-no.md.

With :math:`f(x) = 2P(\text{yes} \mid x) - 1` the noise is :math:`E[(t - f)^2] = 1 - f(x)^2`, and no
residual from :math:`f_0` is beyond :math:`1 + \max|f_0|`: the law is known and nothing is clipped.
What a posterior that does not know their bounds believes of probabilities :math:`p(x)` is
:math:`N(m, s^2)`, and that they lie in [0, 1]: the truncated normal law. Its mean is never 0 nor 1,
so that no outcome is called impossible. Log odds are stretched and shifted, so that probabilities
add up over the private model of the inputs and lose least (dpgp.outcomes.log_odds).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import ndtr

from dpgp.categories import Category, Level
from dpgp.outcomes.base import Ends, Location, OutcomeKind
from dpgp.outcomes.chances import (
    SMALLEST_ERROR,
    chance,
    chance_std,
    interval_std,
)
from dpgp.outcomes.labels import WHY_PUBLIC
from dpgp.outcomes.log_odds import AS_BELIEVED, LogOdds, fitted_log_odds
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.domain import Box
    from dpgp.inference.conformal import Calibration


USUAL_NOISE = 0.8
"""Standard deviation of yes and no in half-widths: that of a prevalence of one in five."""

FEWEST_EVENTS = 25.0
"""n·q·μ of the rarer class, of prevalence q, below which a fit is often no better than a constant.
Of 124 simulated tables with a signal, one to ten inputs, log loss was below the constant's on all
90 with more, on 18 of 20 from 12 to 25, and on 8 of 14 below: one trial."""

RAREST_ASSUMED = 1.0 / 14.0
"""Prevalence that two sds of ``log_noise`` reach to: where none is told, rarer ones are not
expected."""


@dataclass(frozen=True)
class ChanceLaw:
    """The law of new outcomes, 0 or 1, whose ``mean`` is the probability of 1."""

    mean: Array

    @property
    def std(self) -> Array:
        """The root of Var(y) = p(1 − p)."""
        return np.sqrt(self.mean * (1.0 - self.mean))

    def quantile(self, level: float) -> Array:
        """Return the smaller outcome that is not exceeded with this probability."""
        return np.asarray(level > 1.0 - self.mean, dtype=np.float64)

    def ends(self, coverage: float) -> tuple[Array, Array]:
        """Return the outcomes that are not rarer than an interval may miss."""
        return np.asarray(self.mean >= coverage, dtype=np.float64), self.quantile(coverage)

    def draw(self, normal: Array) -> Array:
        """Return outcomes with the given normal scores as columns."""
        return np.column_stack([self.quantile(level) for level in ndtr(normal).T])


@dataclass(frozen=True)
class YesNo(OutcomeKind):
    """One of two classes: what is predicted is the probability of the second one."""

    category: Category

    estimated: ClassVar[str] = "probability"
    scale_of_errors: ClassVar[str] = "from 0 to 1"
    unreadable_is_error: ClassVar[bool] = False
    """A label that is none of both makes a row unusable."""

    is_clipped: ClassVar[bool] = False
    location: ClassVar[Location | None] = Location(0.0, 1.0, has_two_values=True)
    law_is_known: ClassVar[bool] = True
    """t² = 1: Σ(t − f₀)² follows from Σφt."""

    log_noise: ClassVar[tuple[float, float]] = math.log(USUAL_NOISE), 0.2
    """Of the root mean square: two standard deviations reach from a prevalence of one in fourteen
    to one half."""

    function_is_bounded: ClassVar[bool] = True
    link_is_fitted: ClassVar[bool] = True
    shows_observations: ClassVar[bool] = False
    explainable: ClassVar[tuple[float, float]] = 0.02, 0.4
    """Far less than of numbers: most of the variance of yes and no is that of one draw. By hand."""

    cannot_be_told: ClassVar[Mapping[str, str]] = {
        "noise_std": (
            "`noise_std` of two `classes` follows from how frequent they are; give `prevalence`."
        )
    }
    why_no_export: ClassVar[str | None] = (
        "libraries of Gaussian processes would not keep the probabilities of two classes within 0 "
        "and 1; use `to_onnx`, or predict with `dpgp.load`."
    )
    in_browser: ClassVar[Mapping[str, str | bool]] = {"link": "chance", "whole": False}

    title: ClassVar[str] = "A model of a probability under differential privacy"
    mean_word: ClassVar[str] = "probability"
    prediction_columns: ClassVar[tuple[str, ...]] = ("probability", "lower", "upper")
    how_to_predict: ClassVar[tuple[str, ...]] = (
        "probability = model.predict_proba(new)[:, 1]",
        "lower, upper = model.predict_proba_interval(new, coverage=0.95)",
    )
    about_intervals: ClassVar[str] = (
        "Intervals are for the probability itself, by the model's own account. Far from the data "
        "they are wide, and they should be: the plots are pale there."
    )

    @classmethod
    def is_asked(cls, target_box: Box, wishes: Mapping[str, bool]) -> bool:
        """Return whether the target has two classes instead of bounds."""
        return [len(category.levels) for category in target_box.categories if category] == [2]

    @classmethod
    def of(cls, target_box: Box) -> Self:
        """Return the outcome of a target with these classes."""
        category = target_box.category(0)
        if category is None:
            raise ValueError(f"a target of yes and no needs `classes`: {WHY_PUBLIC}.")
        return cls(category)

    @property
    def labels(self) -> tuple[Level, ...]:
        """The two labels, the one that counts as yes last."""
        return self.category.levels

    def variance(self, prevalence: float | None) -> float:
        """Return 4q(1 − q) of a prevalence q, or what is usual."""
        return USUAL_NOISE**2 if prevalence is None else 4.0 * prevalence * (1.0 - prevalence)

    def few_events(self, rows: float, mu: float, prevalence: float | None) -> str:
        """Say where n·q·μ of the rarer class is below ``FEWEST_EVENTS``."""
        least = FEWEST_EVENTS / (rows * mu) if mu > 0.0 else math.inf
        remedy = "raise epsilon, collect more rows, or ask for an outcome that is less rare"
        vain = "a fit is often no better than one probability for all"
        if prevalence is None:
            if least <= RAREST_ASSUMED:
                return ""
            return (
                f"events are too few where less than {least:.2g} of all are yes: {vain}; {remedy}"
            )
        rarer = min(prevalence, 1.0 - prevalence)
        if rarer >= least:
            return ""
        return (
            f"events are too few: about {rows * rarer:,.0f} of the rarer class are expected, and "
            f"with fewer than {rows * least:,.0f} {vain}; {remedy}"
        )

    def located(self, average: float, error: float) -> Location:
        """Return 2q − 1 and 4q(1 − q) of the prevalence q that a noisy average tells.

        dp/dη = q(1 − q): functions whose log odds η vary as much as others are likely then.
        """
        m, s = (1.0 + average) / 2.0, max(error / 2.0, SMALLEST_ERROR)
        q = float(chance(np.array([m]), np.array([s]))[0])
        return Location(2.0 * q - 1.0, 4.0 * q * (1.0 - q), has_two_values=True)

    def assumed(self, prevalence: float | None) -> str:
        """Say how frequent yes is."""
        if prevalence is None:
            frequent = (
                "about one in five is yes, since nothing was said; say `prevalence` if you know"
            )
        else:
            frequent = f"{prevalence:.3g} of all are yes"
        return f"{frequent}, and a probability that varies smoothly"

    def link(
        self, mean: Array, std: Array, latent: bool, odds: LogOdds = AS_BELIEVED
    ) -> tuple[Array, Array]:
        """Return the probability, and the spread of what is believed of it or of an outcome."""
        p = odds.probability(mean, std)
        return p, chance_std(mean, std, odds.shift) if latent else ChanceLaw(p).std

    def log_odds(self, mean: Array, std: Array, shares: Array, covariance: Array) -> LogOdds:
        """Return the link whose average is that of f, and whose expected log loss is least."""
        return fitted_log_odds(mean, std, shares, covariance)

    def observations(self, mean: Array, std: Array, law: Calibration, bounds: Ends) -> ChanceLaw:
        """Return the law of 0 and 1."""
        return ChanceLaw(mean)

    def function_interval(
        self,
        mean: Array,
        half_width: Array,
        coverage: float,
        bounds: Ends,
        odds: LogOdds = AS_BELIEVED,
    ) -> tuple[Array, Array]:
        """Return the interval of N(m, s²) given [0, 1], shifted, with the probability in it."""
        return odds.interval(mean, interval_std(half_width, coverage), coverage)

    def log_density(self, y: Any, mean: Array, std: Array) -> Array:
        """Return the log probability of every label; of one that is neither class it is −∞."""
        numbers = self.category.numbers(list(y))
        chances = np.select([numbers == 1.0, numbers == 0.0], [mean, 1.0 - mean], 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(chances))

    def mean_of(self, name: str) -> str:
        """Return what the probability is of."""
        return f"P({name} = {self.category.labels[1]})"

    def decimals(self, noise: float) -> int:
        """Return so many that no probability that rows could show becomes 0."""
        return 6

    def little_known(self, noise: float) -> float:
        """Return a tenth."""
        return 0.1
