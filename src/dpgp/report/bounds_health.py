"""Whether columns lie where their public bounds say, from the histograms that were released: free.

A unit that is wrong, bounds that are far too wide, and codes such as −99 all show in the first bin
or the last one, as cells outside their bounds count as at the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgp.steps import InputHistograms, TargetHistograms
from dpgp.types import Array

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel

# Thresholds are set by hand: a false alarm must be rare, and wrong units must not pass
NEARLY_ALL, TOO_NOISY = 0.95, 0.05
"""Share of the rows in one bin that speaks of a wrong unit, and noise above which nothing does."""

THINNEST = 1 / 16
"""Part of the bounds that is so small that nearly all rows within it need a word."""

CLEARLY_THERE = 4.0
"""Sds of the noise from which on an end has rows."""

LEAST_LONE, MOST_LONE = 0.01, 0.5
"""Shares of the rows that may be codes of something else."""

LEAST_GAP = 1 / 16
"""Part of the bounds that must be empty between a code and all other values."""

OTHER_GAPS = 1.5
"""How much wider it must be than any gap among them: whole numbers have gaps everywhere."""

FEWEST_BINS = 3
"""Bins that the other values fill at least: fewer are levels."""

LEFT_IN_GAP = 0.3
"""Part of the rows of a code that may lie in the gap."""

PILE, BESIDE = 5.0, 3
"""How many times the average of so many bins beside it an end holds where bounds cut."""

THIN = 0.25
"""Part of its densest stretch below which a target is rare beside a bound."""

DECLARE_CODES = (
    "look for codes such as −99 for missing values, and declare them (`missing_codes`, "
    "--missing-code)"
)
"""What to do where cells seem to be codes, in Python and on the command line."""

CODES_OF_TARGETS = f"can it take that value? If not, {DECLARE_CODES}"
"""The same of a target, which may have zeros apart or a ceiling."""


@dataclass(frozen=True)
class ReleasedShares:
    """Noisy shares of the rows in equal bins of a column, from its lower to its upper bound.

    Its bounds are as people know them: numbers or dates.
    """

    name: str
    low: str
    high: str
    shares: Array
    noise: float
    is_target: bool = False

    @property
    def bins(self) -> int:
        """How many there are."""
        return len(self.shares)

    @property
    def remedy(self) -> str:
        """What to do where cells at a bound seem to be codes."""
        return CODES_OF_TARGETS if self.is_target else DECLARE_CODES

    def backwards(self) -> Array:
        """Return the shares from the upper bound on."""
        return self.shares[::-1]


def wrong_bounds(model: FittedModel) -> Iterator[str]:
    """Say which inputs do not fill their bounds, or pile up at one of them, a sentence each."""
    for column in released_shares(model):
        if (sentence := one_place(column) or far_end(column) or pile(column)) is not None:
            yield sentence


def released_shares(model: FittedModel) -> Iterator[ReleasedShares]:
    """Yield what was released of every column of numbers; nothing of models of earlier versions."""
    found, box = model.findings.get(InputHistograms.label), model.options.box
    if found is None or len(found["shares"]) != len(box.low):
        return
    for k, (name, shares) in enumerate(zip(model.input_names, found["shares"], strict=True)):
        if shares and found["noise"] < TOO_NOISY:
            ends = box.extent_in_words(k)
            yield ReleasedShares(name, *ends, np.array(shares), found["noise"])


def target_at_bound(model: FittedModel, number: int) -> str | None:
    """Ask about rows of a target at a bound, many more than beside it, where that was released.

    Where a ceiling cuts many rows, those beside it are many too: nothing is told of it.
    """
    found, box = model.findings.get(TargetHistograms.label), model.options.target_box
    if found is None or "shares" not in found[number] or found[number]["noise"] >= TOO_NOISY:
        return None
    shares, noise = np.array(found[number]["shares"]), found[number]["noise"]
    ends = box.extent_in_words(number)
    return pile(ReleasedShares(model.target_names[number], *ends, shares, noise, is_target=True))


def one_place(column: ReleasedShares) -> str | None:
    """Nearly all rows are in a bin, or neighbours as thin: beyond a bound, or in a corner."""
    for together in range(1, max(int(column.bins * THINNEST), 1) + 1):
        within = np.convolve(column.shares, np.ones(together), mode="valid")
        place = int(np.argmax(within))
        if within[place] > NEARLY_ALL:
            rare = _is_rare_yes(column, place)
            return None if rare else _in_one_place(column, place, together)
    return None


def _is_rare_yes(column: ReleasedShares, place: int) -> bool:
    """Return whether a column from 0 to 1 may be yes and no of which one is rare."""
    others = column.shares[-1 if place == 0 else 0]
    is_there = others > max(LEAST_LONE, CLEARLY_THERE * column.noise)
    return (column.low, column.high) == ("0", "1") and bool(place == 0 or is_there)


def _in_one_place(column: ReleasedShares, place: int, together: int) -> str | None:
    at_end = {0: f"lower bound {column.low}", column.bins - together: f"upper bound {column.high}"}
    part = f"one part in {column.bins // together} of its bounds"
    if place in at_end:
        return (
            f"Nearly all rows have {column.name} at its {at_end[place]}, beyond it, or in the "
            f"{part} that is next to it: check that both have the same unit, and that bounds are "
            "as wide as values are."
        )
    if together / column.bins > THINNEST:
        return None
    return (
        f"Nearly all rows have {column.name} in {part}: check that both have the same unit, or "
        "tighten the bounds."
    )


def far_end(column: ReleasedShares) -> str | None:
    """Rows lie at a bound, far from all others: codes of missing values, as −99, count there."""
    ends = {f"lower bound {column.low}": column.shares}
    ends[f"upper bound {column.high}"] = column.backwards()
    for end, shares in ends.items():
        if _is_lone(shares, column.noise):
            return (
                f"About {shares[0]:.0%} of the rows have {column.name} at its {end} or beyond it, "
                f"far from all others: {DECLARE_CODES}."
            )
    return None


def _is_lone(shares: Array, noise: float) -> bool:
    if not max(LEAST_LONE, CLEARLY_THERE * noise) < shares[0] < MOST_LONE:
        return False
    gap = _gap(shares, noise)
    left = shares[1 : 1 + gap].sum() + 2.0 * noise * np.sqrt(gap)
    return bool(gap and left < LEFT_IN_GAP * shares[0])


def _gap(shares: Array, noise: float) -> int:
    """Return how many bins from the end on hardly hold rows, 0 where others lie as far apart."""
    occupied = np.flatnonzero(shares > max(LEAST_LONE / 10, CLEARLY_THERE * noise))
    others = occupied[occupied > 0]
    if len(others) < FEWEST_BINS:
        return 0
    gap, among = int(others[0]) - 1, np.diff(others).max() - 1
    return gap if gap >= LEAST_GAP * len(shares) and gap > OTHER_GAPS * among else 0


def pile(column: ReleasedShares) -> str | None:
    """Many more rows are at a bound than beside it: it cuts them, or they are codes.

    Beside it are some rows, so that it is no level of few, or a gap as no others have. Zeros are as
    they are: a lower bound of 0 is told nothing of.
    """
    ends = {f"upper bound {column.high}": column.backwards()}
    if column.low != "0":
        ends[f"lower bound {column.low}"] = column.shares
    for end, shares in ends.items():
        gap = _gap(shares, column.noise)
        bins = max(BESIDE, gap // 2)
        beside = float(shares[1 : 1 + bins].mean())
        noise = column.noise * np.sqrt(1.0 + PILE**2 / bins)
        there = gap > 0 or beside > CLEARLY_THERE * column.noise / np.sqrt(bins)
        piled = shares[0] - PILE * beside > max(LEAST_LONE, CLEARLY_THERE * noise)
        may_be = not column.is_target or _is_thin(shares, beside, column.noise)
        if there and piled and may_be:
            first = column.remedy if shares[0] < MOST_LONE else "check that both have the same unit"
            return (
                f"About {shares[0]:.0%} of the rows have {column.name} at its {end} or beyond it, "
                f"many more than beside it: {first}, and widen the bounds if they cut."
            )
    return None


def _is_thin(shares: Array, beside: float, noise: float) -> bool:
    """Return whether rows are rare beside an end, but not within: no ceiling cuts many of them."""
    unclear = 2.0 * noise / np.sqrt(BESIDE)
    dense = np.convolve(shares[1:-1], np.ones(BESIDE) / BESIDE, mode="valid").max()
    return bool(shares[0] < MOST_LONE and beside + unclear < THIN * (dense - unclear))
