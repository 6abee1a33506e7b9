"""Columns with public bounds, as they are written on the command line: NAME:LOW:HIGH."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dpgp.cli.failures import UsageError
from dpgp.plain_text import NAME_RULE, is_name

WHY_PUBLIC = "bounds are public knowledge and never read from the data"


class Column(NamedTuple):
    """A column and its public bounds."""

    name: str
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.name}, from {self.low:g} to {self.high:g}"

    @property
    def bounds(self) -> tuple[float, float]:
        """The pair (low, high)."""
        return self.low, self.high


def read_columns(option: str, texts: Sequence[str] | None) -> tuple[Column, ...] | None:
    """Read the columns of ``--feature`` or ``--target``; None where there are none."""
    return tuple(_read_column(option, text) for text in texts) if texts else None


def checked_column(name: str, low: float, high: float) -> Column:
    """Return a column under its name in one spelling; a UsageError where it cannot be meant."""
    from dpgp.private.tables import clean_name

    if not clean_name(name):
        raise UsageError("a column has no name; write one before its bounds.")
    if not is_name(clean_name(name)):
        raise UsageError(f"a column's name {NAME_RULE}.")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError(
            f"the bounds of '{name}' must be finite, the lower one first, got {low:g} and {high:g}."
        )
    return Column(clean_name(name), low, high)


def check_distinct(columns: Sequence[Column]) -> None:
    """Raise where a column is named twice, as a feature or a target."""
    names = [column.name for column in columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"column '{twice[0]}' is named twice; name it once, as input or target.")


def _read_column(option: str, text: str) -> Column:
    # names may hold colons: the bounds are what follows the last two
    name, *ends = text.rsplit(":", 2)
    try:
        low, high = (float(end) for end in ends)
    except ValueError:
        raise UsageError(
            f"{option} '{text}' must end in public bounds, as in 'age:2:18'; {WHY_PUBLIC}."
        ) from None
    return checked_column(name, low, high)
