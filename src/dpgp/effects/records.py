"""Answers: small records that print as tables and turn into columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgp.markup import card, paragraph, table
from dpgp.types import Array

TextRows = tuple[list[str], list[list[str]]]

MOST_ROWS = 30
"""Rows of a table that are printed."""

NOTABLE = 0.01
"""Pairs of inputs are printed where the interval of their share reaches that far."""


class AnswerTable(ABC):
    """A table with a title and a note, for people, notebooks and data frames."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What the table is about."""

    @property
    @abstractmethod
    def note(self) -> str:
        """What must be known to read it."""

    @abstractmethod
    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table, as ``pandas.DataFrame`` takes them."""

    @abstractmethod
    def text_table(self) -> TextRows:
        """Return headings and cells to read."""

    def __repr__(self) -> str:
        headings, cells = self.text_table()
        rows = [headings, *cells[:MOST_ROWS]] if cells else []
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.rjust, row, widths)) for row in rows]
        return "\n".join([self.title, *lines, *_left_out(cells), self.note])

    def _repr_html_(self) -> str:
        headings, cells = self.text_table()
        words = map(paragraph, [*_left_out(cells), self.note])
        return card(self.title, [*([table(headings, cells[:MOST_ROWS])] if cells else []), *words])


def _left_out(cells: list[list[str]]) -> list[str]:
    left = len(cells) - MOST_ROWS
    return [f"… and {left} more rows; .to_dict() has all."] if left > 0 else []


@dataclass(frozen=True, repr=False, eq=False)
class Effect(AnswerTable):
    """Means of f, or differences of them, with their standard deviations and intervals.

    ``at`` has the inputs that were set, an array each: numbers, dates, or levels of a category.
    """

    words: str
    coverage: float
    at: Mapping[str, NDArray[Any]]
    mean: Array
    std: Array
    lower: Array
    upper: Array

    @property
    def title(self) -> str:
        """What was asked."""
        return self.words

    @property
    def note(self) -> str:
        """What the interval holds."""
        return (
            f"Intervals of {100 * self.coverage:g} % each, for the function before it is cut to "
            "the bounds of the target."
        )

    def to_dict(self) -> dict[str, list[Any]]:
        """Return inputs that were set, mean, std, lower and upper."""
        where = {
            name: np.broadcast_to(values, len(self.mean)).tolist()
            for name, values in self.at.items()
        }
        found = {name: getattr(self, name).tolist() for name in ("mean", "std", "lower", "upper")}
        return {**where, **found}

    def text_table(self) -> TextRows:
        """Return the same with four digits."""
        columns = self.to_dict()
        rows = zip(*columns.values(), strict=True)
        return list(columns), [[_cell(value) for value in row] for row in rows]


def _cell(value: float | str | date) -> str:
    return str(value) if isinstance(value, str | date) else f"{value:.4g}"


@dataclass(frozen=True)
class Range:
    """A number with an interval of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Share(Range):
    """A share of a variance, with an interval of 95 %."""

    def __str__(self) -> str:
        return f"{self.percent} ({self.interval})"

    @property
    def percent(self) -> str:
        """The share to read."""
        return percent(self.value)

    @property
    def interval(self) -> str:
        """Its interval to read."""
        return f"{percent(self.low).removesuffix(' %')} to {percent(self.high)}"


@dataclass(frozen=True, repr=False, eq=False)
class Reliability(AnswerTable):
    """Shares of yes that were observed among rows of alike predictions, and how both are ordered.

    ``probability`` is what a bin was predicted, on average, ``observed`` the share of yes in it,
    from ``lower`` to ``upper``. ``auc`` is the probability that a yes is predicted higher than a
    no. All by counts with noise of the rows that were fitted.
    """

    words: str
    probability: Array
    observed: Array
    lower: Array
    upper: Array
    auc: Range

    @property
    def title(self) -> str:
        """What the shares are of."""
        return f"Reliability of {self.words}: AUC {self.auc_in_words}"

    @property
    def auc_in_words(self) -> str:
        """The AUC with its interval, to read."""
        return f"{self.auc.value:.2f} ({self.auc.low:.2f} to {self.auc.high:.2f})"

    @property
    def note(self) -> str:
        """What the intervals hold, and of whom all of it is."""
        return (
            "Shares of yes among rows with about this probability, and AUC, the probability that a "
            "yes is predicted higher than a no, with 95 % intervals: the noise of the counts and "
            "the chance of so many people are in them. The rows are those that were fitted; on new "
            "ones a model is a little worse."
        )

    def to_dict(self) -> dict[str, list[Any]]:
        """Return probability, observed, lower and upper."""
        names = ("probability", "observed", "lower", "upper")
        return {name: getattr(self, name).tolist() for name in names}

    def text_table(self) -> TextRows:
        """Return the same with three digits."""
        columns = self.to_dict()
        rows = zip(*columns.values(), strict=True)
        return list(columns), [[f"{value:.3f}" for value in row] for row in rows]


@dataclass(frozen=True, repr=False)
class Importance(AnswerTable):
    """Sobol indices of every input, the most important one first.

    ``std`` is the standard deviation of f, whose square the indices are shares of. Where it may be
    zero, no shares are shown: they would be of noise.
    """

    target: str
    std: Range
    inputs: Sequence[str]
    total: Sequence[Share]
    first: Sequence[Share]

    @property
    def title(self) -> str:
        """What the shares are of."""
        if self.may_be_constant:
            return f"Importance for {self.target}: the function may be constant"
        return f"Importance for {self.target}: shares of the variance of the function"

    @property
    def may_be_constant(self) -> bool:
        """Whether the 95 % interval of the standard deviation of f reaches to zero."""
        return self.std.low <= 0.0

    @property
    def note(self) -> str:
        """What total and first are."""
        if self.may_be_constant:
            return self.to_be_explained
        return (
            "total: what an input has a part in; alone: what it does on its own. Inputs are drawn "
            "independently from their private marginals. All with 95 % intervals. "
            f"{self.to_be_explained}"
        )

    @property
    def to_be_explained(self) -> str:
        """How much the function varies at all."""
        std = self.std
        words = f"a standard deviation of {std.value:.3g} ({std.low:.3g} to {std.high:.3g})."
        if self.may_be_constant:
            return (
                f"The function of {self.target} may be constant: it has {words} What was released "
                "does not tell that any input matters, and shares of its variance would be of "
                "noise."
            )
        return f"The function has {words}"

    def to_dict(self) -> dict[str, list[Any]]:
        """Return names, total and first indices with the ends of their intervals."""
        return {
            "input": list(self.inputs),
            **_columns("total", self.total),
            **_columns("first", self.first),
        }

    def text_table(self) -> TextRows:
        """Return names, shares in per cent and intervals; none of a function of noise."""
        headings = ["input", "total", "interval", "alone", "interval"]
        if self.may_be_constant:
            return headings, []
        rows = zip(self.inputs, self.total, self.first, strict=True)
        return headings, [[n, t.percent, t.interval, f.percent, f.interval] for n, t, f in rows]


@dataclass(frozen=True, repr=False)
class Interactions(AnswerTable):
    """Shares that pairs of inputs have together, the largest first."""

    target: str
    pairs: Sequence[tuple[str, str]]
    shares: Sequence[Share]
    may_be_constant: bool = False

    @property
    def title(self) -> str:
        """What the shares are of."""
        return f"Interactions for {self.target}: shares of the variance of the function"

    @property
    def note(self) -> str:
        """What a share is, and which pairs are there."""
        if self.may_be_constant:
            return "The function may be constant: shares of its variance would be of noise."
        if all(share.high < NOTABLE for share in self.shares):
            return f"No two of the most important inputs have {percent(NOTABLE)} together."
        return (
            "share: every part of the function that changes with both inputs together, with 95 % "
            f"intervals. Other pairs of important inputs have less than {percent(NOTABLE)}."
        )

    def to_dict(self) -> dict[str, list[Any]]:
        """Return both names, the share and the ends of its interval."""
        return {
            "input": [first for first, _ in self.pairs],
            "with": [second for _, second in self.pairs],
            **_columns("share", self.shares),
        }

    def text_table(self) -> TextRows:
        """Return pairs that may be notable, shares in per cent and intervals."""
        found = zip(self.pairs, self.shares, strict=True)
        rows = [[*pair, s.percent, s.interval] for pair, s in found if s.high >= NOTABLE]
        return ["input", "with", "share", "interval"], [] if self.may_be_constant else rows


def _columns(name: str, shares: Sequence[Share]) -> dict[str, list[Any]]:
    return {
        name: [share.value for share in shares],
        f"{name}_low": [share.low for share in shares],
        f"{name}_high": [share.high for share in shares],
    }


def percent(share: float) -> str:
    """Return a share in per cent, without a decimal from ten on."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"
