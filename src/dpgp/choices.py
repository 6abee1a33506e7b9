"""Small choices of a user, a word each."""

from __future__ import annotations

from enum import StrEnum


class Missing(StrEnum):
    """What happens to rows that are incomplete: they stop a fit, or contribute nothing.

    Or they count with what they have, averaged over what they may have where they lack inputs.
    """

    ERROR = "error"
    IGNORE = "ignore"
    MODEL = "model"


class Passes(StrEnum):
    """How often a fit of many inputs goes through all rows.

    A few times, where parts of the rows are enough for some steps; or in every step.
    """

    FEW = "few"
    ALL = "all"


class DecimalMark(StrEnum):
    """The mark before the decimals of numbers that are written as text."""

    POINT = "."
    COMMA = ","


class RowsOfUnit(StrEnum):
    """Which rows of a unit count: some that are drawn at random, or the first of the table."""

    RANDOM = "random"
    FIRST = "first"

    @property
    def words(self) -> str:
        """Which rows counted, as a sentence."""
        if self is RowsOfUnit.FIRST:
            return "Those that came first in the table counted."
        return "Those that counted were drawn at random."

    def counted(self, most: int) -> str:
        """Return how many rows count, and which, as the end of a sentence."""
        if self is RowsOfUnit.FIRST:
            return "the first row counts" if most == 1 else f"the first {most} rows count"
        drawn = "one row counts" if most == 1 else f"at most {most} rows count"
        return f"{drawn}, drawn at random"
