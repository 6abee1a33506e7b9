"""What a forecast starts from: public numbers, what is told of the target, too few rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpgp.options import Options
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.privacy.arguments import as_finite_positive, as_probability
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp.study.errors import RefusedError
from dpgp.types import Array


@dataclass(frozen=True)
class Setting:
    """Rows, inputs, budget, units and outcome of a fit."""

    n: float
    columns: int
    mu: float
    neighbours: Neighbours = Neighbours.REPLACE
    rows_per_unit: int = 1
    targets: int = 1
    outcome: OutcomeKind = NUMBER

    @property
    def signal(self) -> float:
        """nμ over the rows of a unit: how many rows stand out of the noise of a count."""
        return self.n * self.mu / self.rows_per_unit

    @classmethod
    def of(cls, options: Options, n: float, mu: float) -> Setting:
        """Return the setting of a fit of ``n`` rows with these options and a budget μ."""
        return cls(
            n,
            options.columns,
            mu,
            options.neighbours,
            options.max_rows_per_unit,
            options.bounded_targets,
            options.outcome,
        )


@dataclass(frozen=True)
class Assumption:
    """At most one of: noise of an observation, share of variance explained, prevalence of yes.

    ``noise_std`` is in units of the target, ``half_width`` half of its range.
    """

    half_width: float
    outcome: OutcomeKind = NUMBER
    noise_std: float | None = None
    r2: float | None = None
    prevalence: float | None = None

    @classmethod
    def of(
        cls,
        half_width: float,
        outcome: OutcomeKind,
        noise_std: float | None,
        r2: float | None,
        prevalence: float | None,
    ) -> Assumption:
        """Check what was said; an error that names the argument where it cannot be meant."""
        said = {"noise_std": noise_std, "r2": r2, "prevalence": prevalence}
        given = [name for name, value in said.items() if value is not None]
        if len(given) > 1:
            raise ValueError(
                f"`{given[0]}` and `{given[1]}` both say how large the noise is; give one."
            )
        for name in given:
            if name in outcome.cannot_be_told:
                raise ValueError(outcome.cannot_be_told[name])
        return cls(
            half_width,
            outcome,
            None if noise_std is None else as_finite_positive("noise_std", noise_std),
            None if r2 is None else as_probability("r2", r2),
            None if prevalence is None else as_probability("prevalence", prevalence),
        )

    @property
    def variance(self) -> float | None:
        """Variance of observations in squared half-widths, where the kind of outcome tells it."""
        return self.outcome.variance(self.prevalence)

    def noise_variances(self, spreads: Callable[[], Array], expected: Array) -> Array:
        """Return σ² for functions of variance ``spreads``; ``expected`` where nothing was said."""
        if self.r2 is not None:
            # R² = spread/(spread + σ²)
            return np.asarray(np.maximum(spreads(), LEAST_SPREAD) * (1.0 - self.r2) / self.r2)
        total = self.variance
        if total is not None:
            # of all the variance, what f does not explain
            low, high = self.outcome.explainable
            return np.asarray(total - np.clip(spreads(), low * total, high * total))
        if self.noise_std is not None:
            return np.full_like(expected, (self.noise_std / self.half_width) ** 2)
        return expected

    def in_words(self, noises: Array) -> str:
        """Say what the forecast takes for granted, with the noise that it means."""
        low, high = self.half_width * np.quantile(np.sqrt(noises), (0.1, 0.9))
        if self.variance is not None and self.r2 is None:
            return f"assumed: {self.outcome.assumed(self.prevalence)}"
        if self.r2 is not None:
            return (
                f"assumed: the inputs explain {self.r2:.0%} of the variance, so that observations "
                f"have a noise of {low:.2g} to {high:.2g}"
            )
        if self.noise_std is not None:
            return f"assumed: observations have a noise of {self.noise_std:g} (sd), as you said"
        return (
            f"assumed: observations have a noise of {low:.2g} to {high:.2g} (sd), as bounds tell "
            "no more; say `noise_std` or `r2` where you know"
        )


LEAST_SPREAD = math.ldexp(1.0, -40)
"""Of the variance of a function that is constant, so that its noise is not zero."""


DOCUMENT = "docs/choosing-epsilon.md"
FEWEST = 14.0
"""n·μ below which plans of one to three inputs find nothing better than the mean, at any ε."""


class FewRowsWarning(UserWarning):
    """Noise will hide all that so few rows can show."""


def are_few(rows: int, epsilon: float, delta: float) -> bool:
    """Return whether nothing but the mean of the target can be learned."""
    return rows * mu_of_guarantee(epsilon, delta) < FEWEST


def nothing_better(rows: int, epsilon: float) -> RefusedError:
    """Return the error that says so, with the remedy."""
    return RefusedError(
        f"with n = {rows:,} and epsilon = {epsilon:g} no choice beats predicting the mean",
        "raise `epsilon`, collect more rows or tighten the bounds",
        DOCUMENT,
        code="few-rows",
    )
