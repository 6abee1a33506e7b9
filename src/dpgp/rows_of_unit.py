"""Which rows of a unit count, where it has more than may."""

from __future__ import annotations

from enum import StrEnum


class RowsOfUnit(StrEnum):
    """Which rows of a unit count: some that are drawn at random, or the first of the table."""

    RANDOM = "random"
    FIRST = "first"

    @classmethod
    def parse(cls, value: str) -> RowsOfUnit:
        """Return the rule called ``value``."""
        try:
            return cls(value)
        except ValueError:
            names = " or ".join(repr(rule.value) for rule in cls)
            raise ValueError(f"`rows_of_unit` must be {names}, got {value!r}.") from None

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
