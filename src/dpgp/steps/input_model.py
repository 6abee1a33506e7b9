"""Where the inputs are: a histogram of each, and of many inputs counts of cells.

Between the two comes the linear stage, whose Gram matrix holds the correlations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpgp.domain import Box
from dpgp.features.inputs import UnitInputs
from dpgp.inference.many.marginals import estimate_marginals
from dpgp.inference.many.mixed import level_masses
from dpgp.inference.many.plan import (
    CELL_SHARE,
    FEWEST_CELLS,
    INPUT_SHARE,
    bins_of_inputs,
    buys_input_model,
    number_of_cells,
)
from dpgp.inference.many.synthetic import VoronoiCells, reweighted, spread_cells
from dpgp.inference.warp import fit_warp, warp_bins, warp_share
from dpgp.privacy.books import share_of_mu
from dpgp.steps.base import SHARE_DIGITS, HistogramQuery, Purpose, count_noise
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.options import Options
    from dpgp.steps.base import AnyOutlook, Purse
    from dpgp.steps.known import Known

FEWEST_THERE = 0.05
"""Least share of rows that an input is taken to be known of; by hand: noise is divided by it."""


@dataclass(frozen=True)
class InputHistograms:
    """Release a histogram of every input over its public bounds, or its levels."""

    share: float
    part: ClassVar[None] = None
    purpose: ClassVar[Purpose] = Purpose.PLACES
    label: ClassVar[str] = "input histograms"
    activity: ClassVar[str] = "looking where the inputs are"
    effort: ClassVar[float] = 0.02  # of a stage's time: 30,000 rows of six inputs

    @classmethod
    def planned(cls, purse: Purse) -> tuple[InputHistograms, ...]:
        """Return the step where it is wanted and histograms are not mostly noise."""
        share = _share(purse) if purse.options.warp else 0.0
        return (cls(share),) if share > 0.0 else ()

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of a bin."""
        return [count_noise(options, options.columns, mu)]

    def query(self, known: Known) -> HistogramQuery:
        """Ask for counts in equal bins of every input, and of every level of a category."""
        box, bins = known.options.box, _bins(known)
        plain, numeric = UnitInputs(box), box.is_numeric[:, None]

        def positions(inputs: Array, targets: Array) -> Array:
            places = np.minimum((plain.scaled(inputs).T + 1.0) * (bins / 2), bins - 0.5)
            return np.where(numeric, places, inputs.T + 0.5)

        most = max([bins, *(len(category.levels) for category in box.categories if category)])
        return HistogramQuery(positions, known.columns, np.arange(1.0, most), plain.filler)

    def learn(self, known: Known, release: Any) -> None:
        """Warp the inputs by the noisy counts; of many inputs, keep the marginals too."""
        box, counts, noise = known.options.box, release.counts, release.noise_std
        bins = _bins(known)
        known.shares_there = _shares_there(known, counts)
        rows = known.n * known.shares_there
        known.findings[self.label] = {
            "noise": float(noise / known.n),
            "shares": [
                np.round(row[:bins] / n, SHARE_DIGITS).tolist() if numeric else None
                for row, n, numeric in zip(counts, rows, box.is_numeric, strict=True)
            ],
        }
        if not known.options.learns_metric:
            known.inputs = UnitInputs(box, fit_warp(counts, noise, known.n))
            return
        numeric = box.is_numeric
        known.marginals = estimate_marginals(
            counts[numeric, :bins],
            noise,
            rows[numeric],
            Box(box.low[numeric], box.high[numeric]),
        )
        known.levels = tuple(
            level_masses(counts[k, : len(category.levels)], noise, rows[k])
            for k, category in enumerate(box.categories)
            if category is not None
        )
        known.inputs = UnitInputs(box, known.marginals.warp_among(numeric))

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take inputs to be spread evenly."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[InputHistograms]) -> str:
        """Say what the histograms cost, or why there are none."""
        if not planned:
            return "no histograms of the inputs: they would be mostly noise, or were declined"
        share = planned[0].share
        return f"histograms of the inputs, by which they are warped: {share:.1%} of the budget"


def _share(purse: Purse) -> float:
    """Return the share of the histograms; none where they would be mostly noise."""
    if purse.options.learns_metric:
        share = 1.0 if purse.is_unlimited else INPUT_SHARE
        return share if buys_input_model(purse.signal, purse.columns) else 0.0
    return 0.0 if purse.is_unlimited else warp_share(purse.rows, purse.columns, purse.mu)


def _shares_there(known: Known, counts: Array) -> Array:
    """Return which share of the rows has each input: others are in none of its bins."""
    if not known.has_gaps:
        return np.ones(len(counts))
    return np.asarray(np.clip(counts.sum(axis=1) / known.n, FEWEST_THERE, 1.0))


def _bins(known: Known) -> int:
    if known.options.learns_metric:
        return bins_of_inputs(known.signal, known.columns)
    return warp_bins(known.n, known.columns, known.mu)


@dataclass(frozen=True)
class CellCounts:
    """Release how many rows fall into cells around synthetic inputs."""

    share: float
    part: ClassVar[None] = None
    purpose: ClassVar[Purpose] = Purpose.PLACES
    label: ClassVar[str] = "cells of the inputs"
    activity: ClassVar[str] = "counting rows in cells of the inputs"
    effort: ClassVar[float] = 0.05  # of a stage's time: 30,000 rows of six inputs

    @classmethod
    def planned(cls, purse: Purse) -> tuple[CellCounts, ...]:
        """Return the step where there are synthetic inputs to improve, and cells to do it."""
        if not InputHistograms.planned(purse):
            return ()
        if purse.is_unlimited:
            return (cls(1.0),)
        noise_std = count_noise(purse.options, 1, share_of_mu(purse.mu, CELL_SHARE))
        has_cells = number_of_cells(purse.rows, noise_std) >= FEWEST_CELLS
        return (cls(CELL_SHARE),) if has_cells else ()

    def noise_stds(self, options: Options, mu: float) -> list[float]:
        """Return the noise of a cell."""
        return [count_noise(options, 1, mu)]

    def query(self, known: Known) -> HistogramQuery:
        """Ask for the number of rows in every cell."""
        cells = self._cells(known)

        def numbers(inputs: Array, targets: Array) -> Array:
            return cells.of(known.inputs.one_of(inputs))[None].astype(np.float64)

        inner = np.asarray(np.arange(len(cells.centres) - 1) + 0.5, dtype=np.float64)
        return HistogramQuery(numbers, 1, inner, known.inputs.filler)

    def learn(self, known: Known, release: Any) -> None:
        """Draw the synthetic inputs anew, so that cells hold what was counted."""
        cells, rows = self._cells(known), known.synthetic
        known.draw(reweighted(rows, cells, release.counts[0], release.noise_std, known.n))

    def forecast(self, outlook: AnyOutlook) -> AnyOutlook:
        """Return the outlook as it is: forecasts take inputs to be spread evenly."""
        return outlook

    @classmethod
    def why(cls, planned: Sequence[CellCounts]) -> str:
        """Say what the cells cost."""
        if not planned:
            return "no counts of cells of the inputs"
        return f"private model of the inputs, cells: {planned[0].share:.1%} of the budget"

    def _cells(self, known: Known) -> VoronoiCells:
        (noise_std,) = self.noise_stds(known.options, known.mu_of(self.share))
        return spread_cells(known.synthetic, number_of_cells(known.n, noise_std))
