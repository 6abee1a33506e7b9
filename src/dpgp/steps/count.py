"""The number of usable rows, where it is private: the first step, the design depends on it.

Where rows with cells that are no levels contribute nothing, it is asked for every category and the
classes how many cells are one of them. Of rows with weights it is the sum of these, and that of
their squares beside it. Where hardly a row can be used, the fit ends here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from dpgp.choices import Missing
from dpgp.planning.setting import FEWEST
from dpgp.planning.unusable import CountedLevels, UnusableRowsError, are_unusable
from dpgp.privacy.mechanism import CountNoise, noise_of_counts
from dpgp.row_weights import ReleasedWeights
from dpgp.steps.base import CountQuery, Purpose

if TYPE_CHECKING:
    from dpgp.categories import Category
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known

SHARE = 0.02  # √0.02 = 0.14 of μ: a count has sensitivity one, and one per cent of n is enough


def counted_columns(options: Options) -> tuple[tuple[str, Category], ...]:
    """Return names and levels of the columns whose readable cells are counted.

    None where any other cell ends a fit: then rows are unusable by their class alone.
    """
    return options.level_columns if options.missing is not Missing.ERROR else ()


@dataclass(frozen=True)
class Count:
    """Release how many rows can be used, and how many cells of categories and classes are read."""

    share: float
    part: ClassVar[None] = None
    purpose: ClassVar[Purpose] = Purpose.COUNT
    label: ClassVar[str] = "number of rows"
    activity: ClassVar[str] = "counting rows"
    effort: ClassVar[float] = 0.02  # of a stage's time: 30,000 rows of six inputs

    @classmethod
    def planned(cls, purse: Purse) -> tuple[Count, ...]:
        """Return the step where the number is not public."""
        if purse.public_rows is not None:
            return ()
        return (cls(1.0 if purse.is_unlimited else SHARE),)

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of every count."""
        return list(self._noise(options, mu).stds)

    def query(self, known: Known) -> CountQuery:
        """Ask for the number of usable rows, of weighted ones the squares, and of cells."""
        return _query(known.options)

    def learn(self, known: Known, release: Any) -> None:
        """Take the noisy number, at least two; end the fit where hardly a row can be used."""
        usable, *levels = release.tolist()
        options = known.options
        noise = self._noise(options, known.mu_of(self.share))
        known.n, known.n_std = max(usable, 2.0), noise.sigma
        weights = None
        if options.are_weighted:
            weights = ReleasedWeights(usable, levels.pop(0), noise.sigma, noise.levels_std)
            known.findings[self.label] = weights.finding()
        if options.rows_may_be_unusable or weights is not None:
            if known.told is not None and weights is None:
                known.findings[self.label] = {
                    "told": float(known.told),
                    "usable": usable,
                    "noise": noise.sigma,
                    "cells": levels,
                    "noise of cells": noise.levels_std,
                }
            needed = FEWEST * options.max_rows_per_unit / known.mu
            told = None if weights is not None else known.told  # how many rows, not what they weigh
            if are_unusable(usable, noise.sigma, told, needed):
                columns = zip(counted_columns(options), levels, strict=True)
                counted = [
                    CountedLevels(name, category.words, count, noise.levels_std)
                    for (name, category), count in columns
                ]
                classes = () if counted else options.target_box.level_columns("target")
                raise UnusableRowsError.of(
                    usable, noise.sigma, told, counted, classes, options.weight_bound
                )
        if weights is not None:
            known.weigh(weights.per_row)

    def _noise(self, options: Options, mu: float) -> CountNoise:
        return noise_of_counts(mu, _query(options).numbers - 1, options.max_rows_per_unit)

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take n as known."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[Count]) -> str:
        """Say what the number of rows costs."""
        if not planned:
            return "the number of rows is public: neighbours have the same"
        return f"the number of rows is private: {planned[0].share:.0%} of the budget"


def _query(options: Options) -> CountQuery:
    return CountQuery(len(counted_columns(options)), squares=options.are_weighted)
