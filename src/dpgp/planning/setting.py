"""What a forecast starts from: public numbers, what is told of the target, and too few rows.

That hardly a row can be used is told by the first release of a fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from dpgp.options import Options
from dpgp.outcomes import NUMBER, OutcomeKind
from dpgp.privacy.arguments import as_finite_positive, as_probability
from dpgp.privacy.books import mu_of_guarantee
from dpgp.privacy.neighbours import Neighbours
from dpgp.study.errors import RefusedError, Words
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.categories import Category


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
            options.n_targets,
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


FAR_FEWER = 0.2
"""Part of a table's rows below which hardly one can be used. By hand: who knows that four in five
are incomplete leaves them out, and a wrong spelling takes nearly all."""

CERTAIN = 3.0
"""Standard deviations of the noise by which the released number must be below it: one complete
table in 700 is refused at most, however few its rows."""


class CountedLevels(NamedTuple):
    """A column of levels, and the released number of its cells that are one of them."""

    name: str
    levels: str
    cells: float
    noise_std: float

    def __str__(self) -> str:
        return (
            f"{_about(self.cells, self.noise_std)} cells of column '{self.name}' are one of its "
            f"declared levels ({self.levels})"
        )


class UnusableRowsError(RefusedError):
    """Hardly a row can be used: a fit ends after its first release, which is all it spent."""

    code = "unusable-rows"

    @classmethod
    def of(
        cls,
        usable: float,
        noise_std: float,
        told: int | None,
        counted: Sequence[CountedLevels],
        classes: Sequence[tuple[str, Category]] = (),
    ) -> Self:
        """Say how many rows can be used, and which columns have other cells than was declared.

        All numbers are public or released. Where ``classes`` are given, rows are unusable by them
        alone.
        """
        about = _about(usable, noise_std)
        rows = f"{about} rows" if told is None else f"of {told:,} rows {about}"
        found = [f"{rows} can be used"]
        found += map(str, sorted(counted, key=lambda column: column.cells))
        found += [
            f"all others have none of the declared levels ({category.words}) in column '{name}'"
            for name, category in classes
        ]
        rule = "; ".join(found) + ": the fit ended before it asked or spent anything else"
        return cls(rule, _SPELLING if counted or classes else _EMPTY)


_SPELLING = Words(
    "give `categories` and `classes` in the spelling of the cells, upper and lower case included, "
    "and leave out columns that are mostly empty",
    command="give --category and --classes in the spelling of the cells, upper and lower case "
    "included, and leave out columns that are mostly empty",
    page="write levels and classes in the spelling of the cells, upper and lower case included, "
    "and leave out columns that are mostly empty",
)
_EMPTY = "all others are incomplete: leave out columns that are mostly empty"


def are_unusable(usable: float, noise_std: float, told: int | None, needed: float) -> bool:
    """Return whether a released number of usable rows is far below what was told, or needed.

    ``told`` is the public number of all rows, if there is one; ``needed`` what any model needs.
    """
    is_vain = usable < max(needed, 2.0)
    if told is None:
        return is_vain
    most = usable + CERTAIN * noise_std
    return most < FAR_FEWER * told or (is_vain and most < told)


def _about(count: float, noise_std: float) -> str:
    return f"about {max(count, 0.0):,.0f} (± {2.0 * noise_std:,.0f})"
